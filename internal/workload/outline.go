// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Outline is what a View is made of besides its State and managed fields, read from a
// workload of any kind or from a packed one.
type Outline struct {
	Ref
	Labels, Annotations map[string]string
	Template            corev1.PodTemplateSpec
	SelectorKeys        []string
	Claims              []string
	// Elsewhere names the workload that has the pod template instead, "" for none.
	Elsewhere string
	// Unread is what of the workload does not fit its type.
	Unread Unread
	// Owner is nil for none.
	Owner            *Owner
	Paused, Deleting bool
	// Told is what the application was told of sidecars, by the keys of the records.
	Told map[string][]Told

	// packed is what Template does not have of a packed one, nil for a workload.
	packed *packed
}

// packed are parts of a View that are stored on their own.
type packed struct {
	qosClass             corev1.PodQOSClass
	secrets, pullSecrets []string
	windows              string
}

// OutlineOf returns the outline of a workload, which shares the workload's memory.
func OutlineOf(object Object) Outline {
	content := contentOf(object)
	elsewhere := ""
	if content.Refers != nil {
		elsewhere = content.Refers.String()
	}
	return Outline{
		Elsewhere: elsewhere, Unread: content.Unread, Owner: ownerOf(object),
		Ref:    Ref{Kind: content.Kind.Kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID()},
		Labels: object.GetLabels(), Annotations: object.GetAnnotations(),
		Template: *content.Template, SelectorKeys: selectorKeys(content.Selector), Claims: content.Claims,
		Paused: content.Paused, Deleting: object.GetDeletionTimestamp() != nil,
		Told: toldIn(content.Template, object.GetManagedFields()),
	}
}

// Of returns the view of a workload.
func Of(object Object) View {
	content, outline := contentOf(object), OutlineOf(object)
	owned, marks := owned(object)
	view := outline.View(owned, LastWriter(object.GetManagedFields()))
	view.Marks = marks
	view.State = stateOf(object, &content)
	view.Template = TemplateDigest(content.Template, view.Owned)
	return view
}

// View returns the view without its state, given what is owned in the workload and its
// LastWriter.
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
		Elsewhere:      o.Elsewhere,
		Unread:         o.Unread,
		ServiceAccount: cmp.Or(accountName(spec), "default"),
		Owner:          o.Owner,
		Told:           o.Told,
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
	view.Application = applicationOf(spec, view.Owned)
	if of := o.packed; of != nil {
		view.Secrets, view.PullSecrets, view.QoSClass, view.Windows = of.secrets, of.pullSecrets, of.qosClass, of.windows
		return view
	}
	view.Secrets, view.PullSecrets, view.QoSClass = secretsOf(spec, view.Owned), namesOfSecrets(spec.ImagePullSecrets), qosClassOf(spec, view.Owned)
	view.Windows = ReadSystemFields(spec, view.Owned).Windows
	return view
}

// Pack returns a copy of the annotations, of the selector's keys as labels, and of the
// template, limited to what a View shows. Unpacked is the inverse.
func (o *Outline) Pack(owned map[string]Owned) *corev1.PodTemplate {
	spec := &o.Template.Spec
	var selector map[string]string
	if o.Adapter().Traits.OnEveryNode {
		selector = nodeLabels(spec)
	}
	texts := keysAndTexts(o.Template.Annotations)
	packTold(texts, o.Told, o.Name)
	return &corev1.PodTemplate{
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
				ImagePullSecrets:              secretNames(secretsOf(spec, owned)),
				ReadinessGates:                gatesOf(namesOfSecrets(spec.ImagePullSecrets)),
				ServiceAccountName:            accountName(spec),
				SchedulingGates:               claimNames(o.Claims),
				PriorityClassName:             string(qosClassOf(spec, owned)), // Which no View shows,
				SchedulerName:                 ReadSystemFields(spec, owned).Windows,
				Hostname:                      o.Elsewhere,       // nor this,
				Subdomain:                     o.Unread.Template, // nor this,
				NodeName:                      o.Unread.Else,     // nor this.
			},
		},
	}
}

// Unpacked returns the outline from what Pack returned.
func Unpacked(of Ref, labels map[string]string, from *corev1.PodTemplate) Outline {
	spec := &from.Template.Spec
	return Outline{
		Ref: of, Labels: labels, Annotations: from.Annotations, Template: from.Template,
		SelectorKeys: sortedKeys(from.Labels), Claims: namesOfGates(spec.SchedulingGates),
		Told: unpackedTold(from.Template.Annotations, of.Name), Elsewhere: spec.Hostname, Owner: unpackOwner(from.OwnerReferences),
		Unread: Unread{Template: spec.Subdomain, Else: spec.NodeName},
		packed: &packed{
			qosClass: corev1.PodQOSClass(spec.PriorityClassName), secrets: namesOfSecrets(spec.ImagePullSecrets), pullSecrets: conditionsOf(spec.ReadinessGates),
			windows: spec.SchedulerName,
		},
	}
}

// accountName returns the name of the pods' ServiceAccount, "" for the default one. A file may have it in the deprecated
// field alone, which the API server copies.
func accountName(spec *corev1.PodSpec) string {
	return cmp.Or(spec.ServiceAccountName, spec.DeprecatedServiceAccount)
}

// sortedKeys returns the keys of a map, nil if it has none.
func sortedKeys(of map[string]string) []string {
	if len(of) == 0 {
		return nil
	}
	keys := make([]string, 0, len(of))
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// visibleAnnotations are those of others, and those by which users configure the
// operator.
func visibleAnnotations(annotations map[string]string) map[string]string {
	kept := foreign(annotations)
	for key, value := range annotations {
		if key == meta.AnnotationInject || strings.HasPrefix(key, meta.AnnotationValuesPrefix) {
			kept[key] = value
		}
	}
	return kept
}

// keysOnly returns a map without its values, which may be long.
func keysOnly(keys iter.Seq[string]) map[string]string {
	kept := map[string]string{}
	for key := range keys {
		kept[key] = ""
	}
	return kept
}

func outlines(containers []corev1.Container) []corev1.Container {
	kept := make([]corev1.Container, len(containers))
	for i := range containers {
		c := &containers[i]
		kept[i] = corev1.Container{
			Name: c.Name, Ports: c.Ports, VolumeMounts: c.VolumeMounts, Env: pathVariables(c), SecurityContext: c.SecurityContext,
		}
	}
	return kept
}

func kindsOnly(volumes []corev1.Volume) []corev1.Volume {
	kept := make([]corev1.Volume, len(volumes))
	for i := range volumes {
		kept[i] = kindOnly(&volumes[i])
	}
	return kept
}

// claimNames stores the names of claims in schedulingGates, another list of names that no
// View shows.
func claimNames(claims []string) []corev1.PodSchedulingGate {
	var kept []corev1.PodSchedulingGate
	for _, claim := range claims {
		kept = append(kept, corev1.PodSchedulingGate{Name: claim})
	}
	return kept
}

func namesOfGates(gates []corev1.PodSchedulingGate) []string {
	var names []string
	for i := range gates {
		names = append(names, gates[i].Name)
	}
	return names
}

// gatesOf stores names in readinessGates, a third list of names that no View shows.
func gatesOf(names []string) []corev1.PodReadinessGate {
	var kept []corev1.PodReadinessGate
	for _, name := range names {
		kept = append(kept, corev1.PodReadinessGate{ConditionType: corev1.PodConditionType(name)})
	}
	return kept
}

func conditionsOf(gates []corev1.PodReadinessGate) []string {
	var names []string
	for i := range gates {
		names = append(names, string(gates[i].ConditionType))
	}
	return names
}

func namesOfSecrets(secrets []corev1.LocalObjectReference) []string {
	var names []string
	for i := range secrets {
		names = append(names, secrets[i].Name)
	}
	return names
}

// secretNames stores the names of Secrets in imagePullSecrets, the one list of a pod
// that can hold any number of them.
func secretNames(secrets []string) []corev1.LocalObjectReference {
	kept := make([]corev1.LocalObjectReference, len(secrets))
	for i, secret := range secrets {
		kept[i].Name = secret
	}
	return kept
}
