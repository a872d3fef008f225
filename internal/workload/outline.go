// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"encoding/binary"
	"iter"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Outline contains the inputs of a View except its State and its managed fields. NewOutline reads it from a
// workload, and UnpackOutline from a packed outline.
type Outline struct {
	Ref
	Labels, Annotations map[string]string
	Template            corev1.PodTemplateSpec
	SelectorKeys        []string
	Claims              []string
	// TemplateSource names the other workload that has the pod template, or is "" if the workload itself has
	// it.
	TemplateSource string
	// Unread describes the fields of the workload that could not be decoded.
	Unread Unread
	// Owner is the controller owner, or nil for none.
	Owner            *Owner
	Paused, Deleting bool
	// InjectedEnv contains the environment variables that are injected into application containers, by the
	// annotation keys of their records.
	InjectedEnv map[string][]InjectedEnv

	// details are the details of a packed outline, or nil if the outline was read from a workload.
	details *Details
}

// Packed is an outline in the form that a cache stores. Its pod template has only the fields that a View needs.
// Details are computed from the other fields before they are removed.
type Packed struct {
	Template corev1.PodTemplate
	Details
}

// Details are the parts of a View that cannot be computed from a packed pod template.
type Details struct {
	QOSClass                     corev1.PodQOSClass
	Claims, Secrets, PullSecrets []string
	// Windows and TemplateSource have the same meaning as in View.
	Windows, TemplateSource string
	Unread                  Unread
}

// AppendTo appends a text that is equal if and only if the details are equal.
func (d *Details) AppendTo(text []byte) []byte {
	for _, list := range [][]string{d.Claims, d.Secrets, d.PullSecrets} {
		text = AppendTexts(binary.AppendUvarint(text, uint64(len(list))), list...)
	}
	return AppendTexts(text, string(d.QOSClass), d.Windows, d.TemplateSource, d.Unread.Template, d.Unread.Other)
}

// NewOutline returns the outline of a workload, which shares the workload's memory.
func NewOutline(object Object) Outline {
	content := readContent(object)
	templateSource := ""
	if content.Refers != nil {
		templateSource = content.Refers.String()
	}
	return Outline{
		TemplateSource: templateSource, Unread: content.Unread, Owner: controllerOwner(object),
		Ref:    Ref{Kind: content.Kind.Kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID()},
		Labels: object.GetLabels(), Annotations: object.GetAnnotations(),
		Template: *content.Template, SelectorKeys: selectorKeys(content.Selector), Claims: content.Claims,
		Paused: content.Paused, Deleting: object.GetDeletionTimestamp() != nil,
		InjectedEnv: findInjectedEnv(content.Template, object.GetManagedFields()),
	}
}

// NewView returns the view of a workload.
func NewView(object Object) View {
	content, outline := readContent(object), NewOutline(object)
	owned, marks := readOwned(object)
	view := outline.View(owned, LastWriter(object.GetManagedFields()))
	view.Marks = marks
	view.State = newState(object, &content)
	view.Template = TemplateDigest(content.Template, view.Owned)
	return view
}

// View returns the view of the outline, without State. The arguments are the fields of the operator's managers
// in the workload, and the LastWriter of the workload.
func (o *Outline) View(owned map[string]Owned, lastWriter string) View {
	spec := &o.Template.Spec
	view := View{
		Ref:            o.Ref,
		Labels:         o.Labels,
		Annotations:    foreign(o.Annotations),
		Owned:          owned,
		HostNetwork:    spec.HostNetwork,
		GraceSeconds:   spec.TerminationGracePeriodSeconds,
		Paused:         o.Paused,
		Deleting:       o.Deleting,
		OptOut:         optOut(o.Annotations),
		Overrides:      Overrides(o.Annotations),
		PodLabels:      sortedKeys(o.Template.Labels),
		PodAnnotations: sortedKeys(o.Template.Annotations),
		PodTexts:       podTexts(o.Template.Annotations),
		SelectorKeys:   o.SelectorKeys,
		Claims:         o.Claims,
		TemplateSource: o.TemplateSource,
		Unread:         o.Unread,
		ServiceAccount: cmp.Or(accountName(spec), "default"),
		Owner:          o.Owner,
		InjectedEnv:    o.InjectedEnv,
		LastWriter:     lastWriter,
	}
	if o.Adapter().Traits.OnEveryNode {
		view.NodeSelector = nodeLabels(spec)
	}
	for i := range spec.InitContainers {
		view.Containers = append(view.Containers, container(&spec.InitContainers[i], true))
	}
	for i := range spec.Containers {
		view.Containers = append(view.Containers, container(&spec.Containers[i], false))
	}
	for i := range spec.Volumes {
		view.Volumes = append(view.Volumes, spec.Volumes[i].Name)
	}
	view.Application = applicationSpec(spec, view.Owned)
	if details := o.details; details != nil {
		view.Secrets, view.PullSecrets, view.QoSClass, view.Windows = details.Secrets, details.PullSecrets, details.QOSClass, details.Windows
		return view
	}
	view.Secrets, view.PullSecrets, view.QoSClass = secretNames(spec, view.Owned), namesOfSecrets(spec.ImagePullSecrets), computeQoSClass(spec, view.Owned)
	view.Windows = ReadSystemFields(spec, view.Owned).Windows
	return view
}

// Pack returns a copy of the outline with only the fields that a View needs. The keys of the workload's
// selector are stored as labels. UnpackOutline is the inverse.
func (o *Outline) Pack(owned map[string]Owned) *Packed {
	spec := &o.Template.Spec
	var selector map[string]string
	if o.Adapter().Traits.OnEveryNode {
		selector = nodeLabels(spec)
	}
	texts := keysAndTexts(o.Template.Annotations)
	packInjectedEnv(texts, o.InjectedEnv, o.Name)
	details := Details{
		QOSClass: computeQoSClass(spec, owned), Claims: o.Claims, Secrets: secretNames(spec, owned), PullSecrets: namesOfSecrets(spec.ImagePullSecrets),
		Windows: ReadSystemFields(spec, owned).Windows, TemplateSource: o.TemplateSource, Unread: o.Unread,
	}
	return &Packed{Details: details, Template: corev1.PodTemplate{
		ObjectMeta: metav1.ObjectMeta{
			Annotations: visibleAnnotations(o.Annotations), Labels: keysOnly(slices.Values(o.SelectorKeys)), OwnerReferences: packOwner(o.Owner),
		},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: keysOnly(maps.Keys(o.Template.Labels)), Annotations: texts},
			Spec: corev1.PodSpec{
				HostNetwork:                   spec.HostNetwork,
				NodeSelector:                  selector,
				HostPID:                       spec.HostPID,
				HostIPC:                       spec.HostIPC,
				HostUsers:                     spec.HostUsers,
				OS:                            spec.OS,
				SecurityContext:               spec.SecurityContext,
				TerminationGracePeriodSeconds: spec.TerminationGracePeriodSeconds,
				InitContainers:                outlines(spec.InitContainers),
				Containers:                    outlines(spec.Containers),
				Volumes:                       kindsOnly(spec.Volumes),
				ServiceAccountName:            accountName(spec),
			},
		},
	}}
}

// UnpackOutline returns the outline from the result of Pack.
func UnpackOutline(ref Ref, labels map[string]string, packed *Packed) Outline {
	template := &packed.Template
	return Outline{
		Ref: ref, Labels: labels, Annotations: template.Annotations, Template: template.Template,
		SelectorKeys: sortedKeys(template.Labels), Claims: packed.Claims,
		InjectedEnv: unpackInjectedEnv(template.Template.Annotations, ref.Name), TemplateSource: packed.TemplateSource, Owner: unpackOwner(template.OwnerReferences),
		Unread: packed.Unread, details: &packed.Details,
	}
}

// accountName returns the name of the pods' ServiceAccount, or "" for the default ServiceAccount. It also reads
// the deprecated field, because a file may set only this field. The API server sets both fields.
func accountName(spec *corev1.PodSpec) string {
	return cmp.Or(spec.ServiceAccountName, spec.DeprecatedServiceAccount)
}

// sortedKeys returns the sorted keys of a map, or nil for none.
func sortedKeys(source map[string]string) []string {
	if len(source) == 0 {
		return nil
	}
	keys := make([]string, 0, len(source))
	for key := range source {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// visibleAnnotations returns the annotations of the application, and the annotations that users set to
// configure the operator.
func visibleAnnotations(annotations map[string]string) map[string]string {
	visible := foreign(annotations)
	for key, value := range annotations {
		if key == meta.AnnotationInject || strings.HasPrefix(key, meta.AnnotationValuesPrefix) {
			visible[key] = value
		}
	}
	return visible
}

// keysOnly returns a map with the keys and empty values, because values may be long.
func keysOnly(keys iter.Seq[string]) map[string]string {
	result := map[string]string{}
	for key := range keys {
		result[key] = ""
	}
	return result
}

func outlines(containers []corev1.Container) []corev1.Container {
	result := make([]corev1.Container, len(containers))
	for i := range containers {
		c := &containers[i]
		result[i] = corev1.Container{
			Name: c.Name, Ports: c.Ports, VolumeMounts: c.VolumeMounts, Env: pathVariables(c), SecurityContext: c.SecurityContext,
		}
	}
	return result
}

func kindsOnly(volumes []corev1.Volume) []corev1.Volume {
	result := make([]corev1.Volume, len(volumes))
	for i := range volumes {
		result[i] = kindOnly(&volumes[i])
	}
	return result
}

func namesOfSecrets(secrets []corev1.LocalObjectReference) []string {
	var names []string
	for i := range secrets {
		names = append(names, secrets[i].Name)
	}
	return names
}
