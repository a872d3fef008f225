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
func newOverlay(document *bounded.Document, request *Request) (workload.Overlay, error) {
	var content map[string]any
	if err := document.Decode(&content); err != nil {
		return workload.Overlay{}, fmt.Errorf("parsing the rendered YAML: %w", err)
	}
	if err := cmp.Or(checkOnlyAdds(content, ""), workload.CheckQuantities[corev1.PodTemplate]("", content)); err != nil {
		return workload.Overlay{}, err
	}
	var object corev1.PodTemplate
	if err := decodeStrictly(document, &object); err != nil {
		return workload.Overlay{}, err
	}
	var body corev1ac.PodTemplateApplyConfiguration
	if err := document.Decode(&body); err != nil {
		return workload.Overlay{}, fmt.Errorf("parsing the rendered YAML: %w", err)
	}
	overlay := workload.Overlay{Template: object.Template, Warning: object.Annotations[meta.AnnotationWarning]}
	overlay.OptionalAnnotations = splitCommas(object.Annotations[meta.AnnotationOptional])
	overlay.OptionalWithNodeVolumes = splitCommas(object.Annotations[meta.AnnotationOptionalWithVolumes])
	var err error
	if overlay.EnvInjections, err = parseEnvInjections(object.Annotations[meta.AnnotationApplicationEnv]); err != nil {
		return workload.Overlay{}, err
	}
	overlay.Template.Spec.Containers, overlay.Mounts = splitMounts(object.Template.Spec.Containers)
	if err := checkOverlay(&overlay, request.KubeVersion); err != nil {
		return workload.Overlay{}, err
	}
	canonicalBody, err := canonicalBody(body.Template, &object.Template)
	if err != nil {
		return workload.Overlay{}, err
	}
	spec := canonicalBody.Spec
	spec.Containers = slices.DeleteFunc(spec.Containers, func(c corev1ac.ContainerApplyConfiguration) bool { return c.Image == nil })
	manager := meta.Manager(request.Sidecar.Name)
	items := newInjectedItems(manager, &overlay.Template.Spec)
	items.Annotations, items.Labels = slices.Sorted(maps.Keys(overlay.Template.Annotations)), slices.Sorted(maps.Keys(overlay.Template.Labels))
	addAnnotations(&overlay.Template, canonicalBody, map[string]string{meta.AnnotationInjectedItems(manager): items.String()})
	return overlay.WithBody(canonicalBody)
}

// splitMounts separates the containers that represent application containers. Such a container has only a name and
// mounts.
func splitMounts(containers []corev1.Container) ([]corev1.Container, []workload.Mount) {
	var sidecarContainers []corev1.Container
	var mounts []workload.Mount
	for i := range containers {
		c := &containers[i]
		if !equality.Semantic.DeepEqual(*c, corev1.Container{Name: c.Name, VolumeMounts: c.VolumeMounts}) || len(c.VolumeMounts) == 0 {
			sidecarContainers = append(sidecarContainers, *c)
			continue
		}
		for _, mount := range c.VolumeMounts {
			mounts = append(mounts, workload.Mount{Container: c.Name, VolumeMount: mount})
		}
	}
	return sidecarContainers, mounts
}

// newInjectedItems lists the items that the overlay adds, for the pod template's annotation.
func newInjectedItems(manager string, spec *corev1.PodSpec) meta.InjectedItems {
	items := meta.InjectedItems{Manager: manager}
	visitContainers(spec, func(_ string, c *corev1.Container) { items.Containers = append(items.Containers, c.Name) })
	for i := range spec.Volumes {
		items.Volumes = append(items.Volumes, spec.Volumes[i].Name)
	}
	for _, secret := range spec.ImagePullSecrets {
		items.PullSecrets = append(items.PullSecrets, secret.Name)
	}
	return items
}

// splitCommas returns the items of a comma-separated string.
func splitCommas(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// addAnnotations adds annotations to a pod template and to its apply body.
func addAnnotations(template *corev1.PodTemplateSpec, body *corev1ac.PodTemplateSpecApplyConfiguration, annotations map[string]string) {
	if template.Annotations == nil {
		template.Annotations = map[string]string{}
	}
	maps.Copy(template.Annotations, annotations)
	body.WithAnnotations(annotations)
}

// decodeStrictly reads rendered YAML as strictly as the API server. The YAML library alone would accept a number for
// a string, and format it differently.
func decodeStrictly(document *bounded.Document, into any) error {
	findings, err := document.DecodeStrictly(into)
	if err := errors.Join(append(findings, err)...); err != nil {
		return fmt.Errorf("parsing the rendered YAML: %w", err)
	}
	return nil
}

// allowedFields lists the fields that an overlay may set, by path. All other fields of a pod are scalars or atomic lists.
// Setting such a field would take the field from its owner.
var allowedFields = map[string][]string{
	"":                  {"apiVersion", "kind", "metadata", "template"},
	"template":          {"metadata", "spec"},
	"template.metadata": {"annotations", "labels"},
	"template.spec":     {"containers", "imagePullSecrets", "initContainers", "volumes"},
}

// checkOnlyAdds returns an error for the first field in a rendered tree, in alphabetical order, that is not in
// allowedFields. The path is the path of the tree in the rendering, "" for the root.
func checkOnlyAdds(tree map[string]any, parentPath string) error {
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		fieldPath := strings.TrimPrefix(parentPath+"."+key, ".")
		if !slices.Contains(allowedFields[parentPath], key) {
			return fmt.Errorf("%s: a sidecar may only add the fields %s here; this field belongs to the application", fieldPath, strings.Join(allowedFields[parentPath], ", "))
		}
		branch, isMap := tree[key].(map[string]any)
		if _, isChecked := allowedFields[fieldPath]; !isChecked {
			continue
		}
		if !isMap && tree[key] != nil {
			return fmt.Errorf("%s: not a map", fieldPath)
		}
		if err := checkOnlyAdds(branch, fieldPath); err != nil {
			return err
		}
	}
	return nil
}

// yamlLineError is an error of a YAML library and the line that it refers to.
type yamlLineError struct{ message, line string }

func (e *yamlLineError) Error() string {
	return fmt.Sprintf("parsing the rendered YAML: %s: %.200q", e.message, e.line)
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
	return fmt.Errorf("parsing the rendered YAML: %s", message)
}
