// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// newOverlay reads a rendered PodTemplate. It adds annotations, including the list of the items that the field
// manager of the request adds.
func newOverlay(from *bounded.Document, request *Request) (workload.Overlay, error) {
	var content map[string]any
	if err := from.Decode(&content); err != nil {
		return workload.Overlay{}, fmt.Errorf("reading the rendered YAML: %w", err)
	}
	if err := cmp.Or(onlyAdds(content, ""), workload.CheckQuantities[corev1.PodTemplate]("", content)); err != nil {
		return workload.Overlay{}, err
	}
	var object corev1.PodTemplate
	if err := decode(from, &object); err != nil {
		return workload.Overlay{}, err
	}
	var body corev1ac.PodTemplateApplyConfiguration
	if err := from.Decode(&body); err != nil {
		return workload.Overlay{}, fmt.Errorf("reading the rendered YAML: %w", err)
	}
	overlay := workload.Overlay{Template: object.Template, Warning: object.Annotations[meta.AnnotationWarning]}
	overlay.OptionalAnnotations = listed(object.Annotations[meta.AnnotationOptional])
	overlay.OptionalWithNodeVolumes = listed(object.Annotations[meta.AnnotationOptionalWithVolumes])
	var err error
	if overlay.EnvInjections, err = tellsIn(object.Annotations[meta.AnnotationApplicationEnv]); err != nil {
		return workload.Overlay{}, err
	}
	overlay.Template.Spec.Containers, overlay.Mounts = splitMounts(object.Template.Spec.Containers)
	if err := check(&overlay, request.KubeVersion); err != nil {
		return workload.Overlay{}, err
	}
	made, err := canonical(body.Template, &object.Template)
	if err != nil {
		return workload.Overlay{}, err
	}
	spec := made.Spec
	spec.Containers = slices.DeleteFunc(spec.Containers, func(c corev1ac.ContainerApplyConfiguration) bool { return c.Image == nil })
	manager := meta.Manager(request.Sidecar.Name)
	parts := partsOf(manager, &overlay.Template.Spec)
	parts.Annotations, parts.Labels = slices.Sorted(maps.Keys(overlay.Template.Annotations)), slices.Sorted(maps.Keys(overlay.Template.Labels))
	annotate(&overlay.Template, made, map[string]string{meta.AnnotationInjectedItems(manager): parts.String()})
	return overlay.WithBody(made)
}

// splitMounts separates the containers that represent application containers. Such a container has only a name and
// mounts.
func splitMounts(containers []corev1.Container) ([]corev1.Container, []workload.Mount) {
	var ours []corev1.Container
	var mounts []workload.Mount
	for i := range containers {
		c := &containers[i]
		if !equality.Semantic.DeepEqual(*c, corev1.Container{Name: c.Name, VolumeMounts: c.VolumeMounts}) || len(c.VolumeMounts) == 0 {
			ours = append(ours, *c)
			continue
		}
		for _, mount := range c.VolumeMounts {
			mounts = append(mounts, workload.Mount{Container: c.Name, VolumeMount: mount})
		}
	}
	return ours, mounts
}

// partsOf lists the items that the overlay adds, for the pod template's annotation.
func partsOf(manager string, spec *corev1.PodSpec) meta.InjectedItems {
	parts := meta.InjectedItems{Manager: manager}
	each(spec, func(_ string, c *corev1.Container) { parts.Containers = append(parts.Containers, c.Name) })
	for i := range spec.Volumes {
		parts.Volumes = append(parts.Volumes, spec.Volumes[i].Name)
	}
	for _, secret := range spec.ImagePullSecrets {
		parts.PullSecrets = append(parts.PullSecrets, secret.Name)
	}
	return parts
}

// listed returns the items of a comma-separated string.
func listed(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

func annotate(template *corev1.PodTemplateSpec, body *corev1ac.PodTemplateSpecApplyConfiguration, annotations map[string]string) {
	if template.Annotations == nil {
		template.Annotations = map[string]string{}
	}
	maps.Copy(template.Annotations, annotations)
	body.WithAnnotations(annotations)
}

// decode reads rendered YAML as strictly as the API server. The YAML library alone would accept a number for a
// string, and format it differently.
func decode(from *bounded.Document, into any) error {
	findings, err := from.DecodeStrictly(into)
	if err := errors.Join(append(findings, err)...); err != nil {
		return fmt.Errorf("reading the rendered YAML: %w", err)
	}
	return nil
}

// mayHold lists the fields that an overlay may set, by path. All other fields of a pod are scalars or atomic lists.
// Setting such a field would take the field from its owner.
var mayHold = map[string][]string{
	"":                  {"apiVersion", "kind", "metadata", "template"},
	"template":          {"metadata", "spec"},
	"template.metadata": {"annotations", "labels"},
	"template.spec":     {"containers", "imagePullSecrets", "initContainers", "volumes"},
}

func onlyAdds(tree map[string]any, at string) error {
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		next := strings.TrimPrefix(at+"."+key, ".")
		if !slices.Contains(mayHold[at], key) {
			return fmt.Errorf("%s: a sidecar may only add %s here; this field belongs to the application", next, strings.Join(mayHold[at], ", "))
		}
		branch, isMap := tree[key].(map[string]any)
		if _, deeper := mayHold[next]; !deeper {
			continue
		}
		if !isMap && tree[key] != nil {
			return fmt.Errorf("%s: not a map", next)
		}
		if err := onlyAdds(branch, next); err != nil {
			return err
		}
	}
	return nil
}

// yamlLineError is an error of a YAML library and the line that it refers to.
type yamlLineError struct{ message, line string }

func (e *yamlLineError) Error() string {
	return fmt.Sprintf("reading the rendered YAML: %s: %.200q", e.message, e.line)
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

// yamlError adds the rendered line that a YAML error refers to, because the author of the templates never saw the
// rendered text.
func yamlError(text string, err error) error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if match := yamlLine.FindStringSubmatch(message); match != nil {
		number, _ := strconv.Atoi(match[1])
		if lines := strings.Split(text, "\n"); number >= 1 && number <= len(lines) {
			return &yamlLineError{message: message, line: lines[number-1]}
		}
	}
	return fmt.Errorf("reading the rendered YAML: %s", message)
}
