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

// Judge knows what the API server makes of an overlay.
type Judge interface {
	// Refusal says why it refuses a pod template with the overlay of that digest in the namespace, "" if it
	// does not.
	Refusal(digest string, template *corev1.PodTemplateSpec) (string, error)
	// Objection says why it must not put a pod's items into workloads of a kind, "" if it may.
	Objection(kind v1alpha1.WorkloadKind, pod map[string]any) (string, error)
}

// PartOf returns the part of a VectorSidecar. The judge is asked once for each overlay that nothing else
// speaks against; its error is returned. Without offers, left says why.
func PartOf(sidecar *v1alpha1.VectorSidecar, offers []desired.AdmissionOverlay, left string, judge Judge) (Part, error) {
	part, kinds, requirements := Part{}, sidecar.Spec.Kinds(), requirementsOf(&sidecar.Spec.Selector)
	for i := range offers {
		overlay := &offers[i].Rendered.Overlay.Template
		why := objection(offers[i].Rendered.Overlay)
		if why != "" {
			left = why
			continue
		}
		one := overlayOf(sidecar.Name, &offers[i])
		one.ID = fmt.Sprintf("%s/%d", sidecar.Name, len(part.Overlays))
		one.Requirements = requirements
		var err error
		if one.Kinds, why, err = kindsFor(offers[i].Rendered.Overlay, kinds, judge); err != nil {
			return Part{}, err
		}
		if len(one.Kinds) == 0 {
			left = why
			continue
		}
		why, err = judge.Refusal(one.Digest, trial(offers[i].Rendered.Overlay, &one))
		if err != nil {
			return Part{}, err
		}
		if why != "" {
			left = "the API server refuses a pod template with it: " + why
			continue
		}
		part.Overlays = append(part.Overlays, one)
		part.Items.add(one.ID, offers[i].Rendered.Overlay.Body)
		part.Items.Tells = append(part.Items.Tells, tellsOf(one.ID, offers[i].Rendered.Overlay.EnvInjections)...)
		part.Items.PodAnnotations = append(part.Items.PodAnnotations, annotationsOf(one.ID, podAnnotations(overlay))...)
		part.Items.Annotations = append(part.Items.Annotations, annotationsOf(one.ID, offers[i].Rendered.Desired.Annotations(meta.Manager(sidecar.Name)))...)
	}
	if len(part.Overlays) == 0 {
		part.Overlays = []v1alpha1.Overlay{claim(sidecar.Name, kinds, requirements, left)}
	}
	for i := range part.Overlays {
		part.Overlays[i].SkipsOwned = sidecar.Spec.Owned() == v1alpha1.OwnedSkip
	}
	return part, nil
}

// kindsFor returns the kinds that the API server may put an overlay into, and why it may not into another.
func kindsFor(overlay *workload.Overlay, kinds []v1alpha1.WorkloadKind, judge Judge) (may []v1alpha1.WorkloadKind, why string, err error) {
	for _, kind := range kinds {
		objection, err := judge.Objection(kind, tree.MapAt(overlay.Body, "spec"))
		if err != nil {
			return nil, "", err
		}
		if objection != "" {
			why = objection
			continue
		}
		may = append(may, kind)
	}
	return may, why, nil
}

// podAnnotations are those of an overlay's pods beside the list of its parts.
func podAnnotations(overlay *corev1.PodTemplateSpec) map[string]string {
	all := maps.Clone(overlay.Annotations)
	maps.DeleteFunc(all, func(key, _ string) bool { return meta.IsInjectedItems(key) })
	return all
}

// annotationsOf are annotations of an overlay, sorted by their keys.
func annotationsOf(id string, from map[string]string) []v1alpha1.OverlayAnnotation {
	var all []v1alpha1.OverlayAnnotation
	for _, key := range slices.Sorted(maps.Keys(from)) {
		all = append(all, v1alpha1.OverlayAnnotation{OverlayID: id, Key: key, Path: pointer(key), Value: from[key]})
	}
	return all
}

// claim is the overlay of a VectorSidecar whose sidecar only the operator injects.
func claim(name string, kinds []v1alpha1.WorkloadKind, requirements []v1alpha1.OverlayRequirement, why string) v1alpha1.Overlay {
	one := empty(name)
	one.ID, one.Kinds, one.Requirements, one.SkipReason = name, kinds, requirements, why
	return one
}

// empty returns an overlay without anything; its lists are empty and not missing, because
// expressions read them.
func empty(name string) v1alpha1.Overlay {
	return v1alpha1.Overlay{
		VectorSidecar: name, InitNames: []string{}, ContainerNames: []string{}, VolumeNames: []string{}, AnnotationKeys: []string{}, Ports: []string{},
		Needs: []string{}, Secrets: []string{}, Supersedes: []string{},
	}
}

// requirementsOf returns what a selector requires.
func requirementsOf(selector *metav1.LabelSelector) []v1alpha1.OverlayRequirement {
	all := []v1alpha1.OverlayRequirement{}
	for key, value := range selector.MatchLabels {
		all = append(all, v1alpha1.OverlayRequirement{Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{value}})
	}
	slices.SortFunc(all, func(a, b v1alpha1.OverlayRequirement) int { return strings.Compare(a.Key, b.Key) })
	for _, expression := range selector.MatchExpressions {
		all = append(all, v1alpha1.OverlayRequirement{
			Key: expression.Key, Operator: expression.Operator, Values: append([]string{}, expression.Values...),
		})
	}
	return all
}

// overlayOf says what an offer adds, and for which workloads it is.
func overlayOf(name string, offer *desired.AdmissionOverlay) v1alpha1.Overlay {
	one, manager := empty(name), meta.Manager(name)
	template, sidecar := &offer.Rendered.Overlay.Template, meta.SidecarName(manager)
	one.Hash, one.InputHash = offer.Rendered.Desired.InjectedHash(), offer.Rendered.Desired.InputDigest()
	one.HashKey, one.InputHashKey = meta.AnnotationKeyFor(meta.AnnotationInjectedHash, sidecar), meta.AnnotationKeyFor(meta.AnnotationInputHash, sidecar)
	one.InjectedItemsKey = meta.AnnotationInjectedItems(manager)
	one.InjectedItemsPath, one.InjectedItems = pointer(one.InjectedItemsKey), template.Annotations[one.InjectedItemsKey]
	one.AnnotationKeys = slices.AppendSeq(one.AnnotationKeys, slices.Values(slices.Sorted(maps.Keys(podAnnotations(template)))))
	for i := range template.Spec.InitContainers {
		one.InitNames = append(one.InitNames, template.Spec.InitContainers[i].Name)
	}
	for i := range template.Spec.Containers {
		one.ContainerNames = append(one.ContainerNames, template.Spec.Containers[i].Name)
	}
	for i := range template.Spec.Volumes {
		one.VolumeNames = append(one.VolumeNames, template.Spec.Volumes[i].Name)
	}
	for _, container := range slices.Concat(template.Spec.InitContainers, template.Spec.Containers) {
		for _, port := range container.Ports {
			protocol := port.Protocol
			if protocol == "" {
				protocol = corev1.ProtocolTCP
			}
			one.Ports = append(one.Ports, fmt.Sprintf("%d/%s", port.ContainerPort, protocol))
		}
		for _, mount := range container.VolumeMounts {
			if !slices.Contains(one.VolumeNames, mount.Name) && !slices.Contains(one.Needs, mount.Name) {
				one.Needs = append(one.Needs, mount.Name)
			}
		}
	}
	workload.EachSecret(&template.Spec, func(use workload.SecretUse) {
		if !slices.Contains(one.Secrets, use.Secret) {
			one.Secrets = append(one.Secrets, use.Secret)
		}
	})
	one.GraceSeconds, one.QoS = offer.Rendered.Overlay.DrainSeconds(), string(offer.Condition.QoS)
	if logs := offer.Condition.Logs; logs != nil {
		one.Logs = &v1alpha1.OverlayLogs{Path: logs.Path, Volume: logs.Volume, MountPath: logs.MountPath}
	}
	judged := []any{offer.Rendered.Overlay.Body, one.Needs}
	if tells := offer.Rendered.Overlay.EnvInjections; len(tells) > 0 {
		one.InjectedEnvKey = meta.AnnotationInjectedEnv(manager)
		one.InjectedEnvPath, judged = pointer(one.InjectedEnvKey), append(judged, tells)
	}
	text, _ := json.Marshal(judged) // It was made from JSON.
	one.Digest = meta.Digest(text, 12)
	return one
}

// add adds what an overlay's body has.
func (i *Items) add(id string, body map[string]any) {
	pod := tree.Map(body["spec"])
	for _, item := range tree.List(pod["initContainers"]) {
		list := &i.InitContainers
		if tree.Map(item)["restartPolicy"] == string(corev1.ContainerRestartPolicyAlways) {
			list = &i.Native
		}
		*list = append(*list, itemOf(id, item))
	}
	for _, item := range tree.List(pod["containers"]) {
		i.Containers = append(i.Containers, itemOf(id, item))
	}
	for _, item := range tree.List(pod["volumes"]) {
		i.Volumes = append(i.Volumes, itemOf(id, item))
	}
}

// tellsOf are the variables by which the application is told of an overlay.
func tellsOf(id string, tells []workload.EnvInjection) []v1alpha1.OverlayApplicationEnv {
	var all []v1alpha1.OverlayApplicationEnv
	for i := range tells {
		all = append(all, v1alpha1.OverlayApplicationEnv{OverlayID: id, Containers: tells[i].Containers, Name: tells[i].Name, Value: tells[i].Value})
	}
	return all
}

// pointer is a key in a JSON pointer. Keys of annotations have no tilde.
func pointer(key string) string { return strings.ReplaceAll(key, "/", "~1") }

func itemOf(id string, item any) v1alpha1.OverlayItem {
	text, _ := json.Marshal(item) // It was made from JSON.
	return v1alpha1.OverlayItem{OverlayID: id, Item: runtime.RawExtension{Raw: text}}
}

// trial is the pod template that the API server is asked about: the sidecar beside an application
// that needs nothing, in a pod that sets nothing that it need not.
func trial(overlay *workload.Overlay, of *v1alpha1.Overlay) *corev1.PodTemplateSpec {
	made := overlay.Template.DeepCopy()
	application := corev1.Container{Name: "vectorsidecar-trial", Image: "trial"}
	for i := range overlay.EnvInjections {
		application.Env = append(application.Env, corev1.EnvVar{Name: overlay.EnvInjections[i].Name, Value: overlay.EnvInjections[i].Value})
	}
	made.Spec.Containers = append([]corev1.Container{application}, made.Spec.Containers...)
	for _, name := range of.Needs {
		made.Spec.Volumes = append(made.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	grace := max(of.GraceSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	made.Spec.TerminationGracePeriodSeconds = &grace
	return made
}
