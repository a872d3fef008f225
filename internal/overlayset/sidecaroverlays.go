// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package overlayset

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Validator checks whether the API server accepts an overlay.
type Validator interface {
	// Rejection explains why the API server rejects the pod template with an overlay in the namespace. digest
	// identifies the overlay. It returns "" if the API server accepts the template.
	Rejection(digest string, template *corev1.PodTemplateSpec) (string, error)
	// Objection explains why the API server must not inject a pod's items into workloads of a kind. It returns "" if
	// the API server may inject them.
	Objection(kind v1alpha1.WorkloadKind, pod map[string]any) (string, error)
}

// NewSidecarOverlays returns the overlays of a VectorSidecar for the OverlaySet. It calls the Validator once for each
// overlay that passes all other checks, and returns the Validator's error. skipReason explains why there are no
// offers, or is "".
func NewSidecarOverlays(sidecar *v1alpha1.VectorSidecar, offers []desired.AdmissionOverlay, skipReason string, judge Validator) (SidecarOverlays, error) {
	sidecarOverlays, kinds, requirements := SidecarOverlays{}, sidecar.Spec.Kinds(), selectorRequirements(&sidecar.Spec.Selector)
	for i := range offers {
		reason := incompatibility(offers[i].Rendered.Overlay)
		if reason != "" {
			skipReason = reason
			continue
		}
		apiOverlay := convertOverlay(sidecar.Name, &offers[i])
		apiOverlay.ID = fmt.Sprintf("%s/%d", sidecar.Name, len(sidecarOverlays.Overlays))
		apiOverlay.Requirements = requirements
		var err error
		if apiOverlay.Kinds, reason, err = kindsFor(offers[i].Rendered.Overlay, kinds, judge); err != nil {
			return SidecarOverlays{}, err
		}
		if len(apiOverlay.Kinds) == 0 {
			skipReason = reason
			continue
		}
		reason, err = judge.Rejection(apiOverlay.Digest, newTestTemplate(offers[i].Rendered.Overlay, &apiOverlay))
		if err != nil {
			return SidecarOverlays{}, err
		}
		if reason != "" {
			skipReason = "the API server rejects a pod template with the sidecar: " + reason
			continue
		}
		sidecarOverlays.Overlays = append(sidecarOverlays.Overlays, apiOverlay)
		sidecarOverlays.Items.addBody(apiOverlay.ID, offers[i].Rendered.Overlay.Body)
		sidecarOverlays.Items.ApplicationEnv = append(sidecarOverlays.Items.ApplicationEnv, convertInjections(apiOverlay.ID, offers[i].Rendered.Overlay.EnvInjections)...)
		sidecarOverlays.Items.PodAnnotations = append(sidecarOverlays.Items.PodAnnotations, overlayAnnotations(apiOverlay.ID, allPodAnnotations(sidecar.Name, &offers[i]))...)
		sidecarOverlays.Items.Annotations = append(sidecarOverlays.Items.Annotations, overlayAnnotations(apiOverlay.ID, offers[i].Rendered.Desired.Annotations(meta.Manager(sidecar.Name)))...)
	}
	if len(sidecarOverlays.Overlays) == 0 {
		sidecarOverlays.Overlays = []v1alpha1.Overlay{newSkipped(sidecar.Name, kinds, requirements, skipReason)}
	}
	for i := range sidecarOverlays.Overlays {
		sidecarOverlays.Overlays[i].SkipsOwned = sidecar.Spec.Owned() == v1alpha1.OwnedSkip
	}
	return sidecarOverlays, nil
}

// kindsFor returns the kinds that the API server may inject an overlay into, and the reason why another kind is
// excluded.
func kindsFor(overlay *workload.Overlay, kinds []v1alpha1.WorkloadKind, judge Validator) (allowed []v1alpha1.WorkloadKind, reason string, err error) {
	for _, kind := range kinds {
		objection, err := judge.Objection(kind, tree.MapAt(overlay.Body, "spec"))
		if err != nil {
			return nil, "", err
		}
		if objection != "" {
			reason = objection
			continue
		}
		allowed = append(allowed, kind)
	}
	return allowed, reason, nil
}

// podAnnotations returns the annotations of an overlay's pods, except the list of its items.
func podAnnotations(overlay *corev1.PodTemplateSpec) map[string]string {
	annotations := maps.Clone(overlay.Annotations)
	maps.DeleteFunc(annotations, func(key, _ string) bool { return meta.IsInjectedItems(key) })
	return annotations
}

// allPodAnnotations returns the annotations of an offer's pods, with the text about the sidecar. The keys of an overlay
// do not include that annotation, because workloads that were injected by an earlier release do not have it.
func allPodAnnotations(sidecar string, offer *desired.AdmissionOverlay) map[string]string {
	annotations := map[string]string{meta.AnnotationAbout(meta.Manager(sidecar)): offer.Rendered.Desired.AboutText()}
	maps.Copy(annotations, podAnnotations(&offer.Rendered.Overlay.Template))
	return annotations
}

// overlayAnnotations returns annotations of an overlay, sorted by their keys.
func overlayAnnotations(id string, annotations map[string]string) []v1alpha1.OverlayAnnotation {
	var overlayAnnotations []v1alpha1.OverlayAnnotation
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		overlayAnnotations = append(overlayAnnotations, v1alpha1.OverlayAnnotation{OverlayID: id, Key: key, Path: jsonPointer(key), Value: annotations[key]})
	}
	return overlayAnnotations
}

// newSkipped returns the overlay of a VectorSidecar with a sidecar that only the operator injects.
func newSkipped(name string, kinds []v1alpha1.WorkloadKind, requirements []v1alpha1.OverlayRequirement, reason string) v1alpha1.Overlay {
	overlay := newOverlay(name)
	overlay.ID, overlay.Kinds, overlay.Requirements, overlay.SkipReason = name, kinds, requirements, reason
	return overlay
}

// newOverlay returns an overlay without items. Its lists are empty but not nil, because expressions read them.
func newOverlay(name string) v1alpha1.Overlay {
	return v1alpha1.Overlay{
		VectorSidecar: name, InitNames: []string{}, ContainerNames: []string{}, VolumeNames: []string{}, AnnotationKeys: []string{}, Ports: []string{},
		Needs: []string{}, Secrets: []string{}, Supersedes: []string{},
	}
}

// selectorRequirements returns the requirements of a selector.
func selectorRequirements(selector *metav1.LabelSelector) []v1alpha1.OverlayRequirement {
	requirements := []v1alpha1.OverlayRequirement{}
	for key, value := range selector.MatchLabels {
		requirements = append(requirements, v1alpha1.OverlayRequirement{Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{value}})
	}
	slices.SortFunc(requirements, func(a, b v1alpha1.OverlayRequirement) int { return strings.Compare(a.Key, b.Key) })
	for _, expression := range selector.MatchExpressions {
		requirements = append(requirements, v1alpha1.OverlayRequirement{
			Key: expression.Key, Operator: expression.Operator, Values: append([]string{}, expression.Values...),
		})
	}
	return requirements
}

// convertOverlay returns the overlay of an offer: its items, and the conditions for workloads.
func convertOverlay(name string, offer *desired.AdmissionOverlay) v1alpha1.Overlay {
	overlay, manager := newOverlay(name), meta.Manager(name)
	template, sidecar := &offer.Rendered.Overlay.Template, meta.SidecarName(manager)
	overlay.Hash, overlay.InputHash = offer.Rendered.Desired.InjectedHash(), offer.Rendered.Desired.InputDigest()
	overlay.HashKey, overlay.InputHashKey = meta.AnnotationKeyFor(meta.AnnotationInjectedHash, sidecar), meta.AnnotationKeyFor(meta.AnnotationInputHash, sidecar)
	overlay.InjectedItemsKey = meta.AnnotationInjectedItems(manager)
	overlay.InjectedItemsPath, overlay.InjectedItems = jsonPointer(overlay.InjectedItemsKey), template.Annotations[overlay.InjectedItemsKey]
	overlay.AnnotationKeys = slices.AppendSeq(overlay.AnnotationKeys, slices.Values(slices.Sorted(maps.Keys(podAnnotations(template)))))
	for i := range template.Spec.InitContainers {
		overlay.InitNames = append(overlay.InitNames, template.Spec.InitContainers[i].Name)
	}
	for i := range template.Spec.Containers {
		overlay.ContainerNames = append(overlay.ContainerNames, template.Spec.Containers[i].Name)
	}
	for i := range template.Spec.Volumes {
		overlay.VolumeNames = append(overlay.VolumeNames, template.Spec.Volumes[i].Name)
	}
	for _, container := range slices.Concat(template.Spec.InitContainers, template.Spec.Containers) {
		for _, port := range container.Ports {
			protocol := port.Protocol
			if protocol == "" {
				protocol = corev1.ProtocolTCP
			}
			overlay.Ports = append(overlay.Ports, fmt.Sprintf("%d/%s", port.ContainerPort, protocol))
		}
		for _, mount := range container.VolumeMounts {
			if !slices.Contains(overlay.VolumeNames, mount.Name) && !slices.Contains(overlay.Needs, mount.Name) {
				overlay.Needs = append(overlay.Needs, mount.Name)
			}
		}
	}
	workload.EachSecret(&template.Spec, func(use workload.SecretUse) {
		if !slices.Contains(overlay.Secrets, use.Secret) {
			overlay.Secrets = append(overlay.Secrets, use.Secret)
		}
	})
	overlay.GraceSeconds, overlay.QoS = offer.Rendered.Overlay.DrainSeconds(), string(offer.Condition.QoS)
	if logs := offer.Condition.Logs; logs != nil {
		overlay.Logs = &v1alpha1.OverlayLogs{Path: logs.Path, Volume: logs.Volume, MountPath: logs.MountPath}
	}
	judged := []any{offer.Rendered.Overlay.Body, overlay.Needs}
	if injections := offer.Rendered.Overlay.EnvInjections; len(injections) > 0 {
		overlay.InjectedEnvKey = meta.AnnotationInjectedEnv(manager)
		overlay.InjectedEnvPath, judged = jsonPointer(overlay.InjectedEnvKey), append(judged, injections)
	}
	text, _ := json.Marshal(judged) // The values were made from JSON.
	overlay.Digest = meta.Digest(text, 12)
	return overlay
}

// addBody adds the containers and volumes of an overlay's body.
func (i *Items) addBody(id string, body map[string]any) {
	pod := tree.Map(body["spec"])
	for _, item := range tree.List(pod["initContainers"]) {
		list := &i.InitContainers
		if tree.Map(item)["restartPolicy"] == string(corev1.ContainerRestartPolicyAlways) {
			list = &i.Native
		}
		*list = append(*list, newItem(id, item))
	}
	for _, item := range tree.List(pod["containers"]) {
		i.Containers = append(i.Containers, newItem(id, item))
	}
	for _, item := range tree.List(pod["volumes"]) {
		i.Volumes = append(i.Volumes, newItem(id, item))
	}
}

// convertInjections returns the environment variables that an overlay injects into application containers.
func convertInjections(id string, injections []workload.EnvInjection) []v1alpha1.OverlayApplicationEnv {
	var variables []v1alpha1.OverlayApplicationEnv
	for i := range injections {
		variables = append(variables, v1alpha1.OverlayApplicationEnv{OverlayID: id, Containers: injections[i].Containers, Name: injections[i].Name, Value: injections[i].Value})
	}
	return variables
}

// jsonPointer escapes an annotation key for a JSON pointer. Annotation keys do not contain tildes.
func jsonPointer(key string) string { return strings.ReplaceAll(key, "/", "~1") }

// newItem returns an item of an overlay, as JSON.
func newItem(id string, item any) v1alpha1.OverlayItem {
	text, _ := json.Marshal(item) // The item was made from JSON.
	return v1alpha1.OverlayItem{OverlayID: id, Item: runtime.RawExtension{Raw: text}}
}

// newTestTemplate returns the pod template for a dry run: the sidecar next to an application without any needs. The pod sets only
// required fields.
func newTestTemplate(overlay *workload.Overlay, apiOverlay *v1alpha1.Overlay) *corev1.PodTemplateSpec {
	template := overlay.Template.DeepCopy()
	application := corev1.Container{Name: "vectorsidecar-trial", Image: "trial"}
	for i := range overlay.EnvInjections {
		application.Env = append(application.Env, corev1.EnvVar{Name: overlay.EnvInjections[i].Name, Value: overlay.EnvInjections[i].Value})
	}
	template.Spec.Containers = append([]corev1.Container{application}, template.Spec.Containers...)
	for _, name := range apiOverlay.Needs {
		template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	grace := max(apiOverlay.GraceSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	template.Spec.TerminationGracePeriodSeconds = &grace
	return template
}
