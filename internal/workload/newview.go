// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// NewView returns the view of a workload. The view uses the workload's memory, so the workload must not be changed.
func NewView(object Object) View {
	content := readContent(object)
	return content.View(object, ReadOwnership(object))
}

// View returns the view of a workload with this content and with the given Ownership.
func (c *Content) View(object Object, ownership *Ownership) View {
	view := View{Ref: c.Ref(object), State: c.State(object), ObjectView: c.ObjectView(object, ownership), PodView: c.PodView(ownership)}
	view.Template = TemplateDigest(c.Template, ownership.Owned)
	return view
}

// Ref returns the identity of the workload.
func (c *Content) Ref(object Object) Ref {
	return Ref{Kind: c.Kind.Kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID()}
}

// ObjectView returns the part of the View that comes from outside of the pod template.
func (c *Content) ObjectView(object Object, ownership *Ownership) ObjectView {
	annotations, entries := object.GetAnnotations(), object.GetManagedFields()
	view := ObjectView{
		Labels:      object.GetLabels(),
		Annotations: foreignAnnotations(annotations),
		Unread:      c.Unread,
		Owner:       controllerOwner(object),
		Overrides:   readOverrides(annotations),
		Owned:       ownership.Owned,
		Marks:       ownership.Marks,
		InjectedEnv: findInjectedEnv(c.Template, entries),
		Paused:      c.Paused,
		Deleting:    object.GetDeletionTimestamp() != nil,
		LastWriter:  lastWriter(entries),
		OptOut:      optOutValue(annotations),
	}
	if c.Refers != nil {
		view.TemplateSource = c.Refers.String()
	}
	return view
}

// PodView returns the part of the View that comes from the pod template.
func (c *Content) PodView(ownership *Ownership) PodView {
	owned, spec := ownership.Owned, &c.Template.Spec
	view := PodView{
		Containers:      viewContainers(spec, ownership.containers),
		Volumes:         make([]Volume, len(spec.Volumes)),
		PullSecrets:     pullSecretNames(spec.ImagePullSecrets),
		ServiceAccount:  cmp.Or(accountName(spec), "default"),
		Claims:          c.Claims,
		PodLabels:       sortedKeys(c.Template.Labels),
		PodAnnotations:  sortedKeys(c.Template.Annotations),
		SelectorKeys:    selectorKeys(c.Selector),
		PodTexts:        podTexts(c.Template.Annotations),
		HostPID:         spec.HostPID,
		HostIPC:         spec.HostIPC,
		HostUsers:       spec.HostUsers,
		OS:              spec.OS,
		SecurityContext: spec.SecurityContext,
		Secrets:         secretNames(spec, owned),
		HostNetwork:     spec.HostNetwork,
		Windows:         ReadSystemFields(spec, owned).Windows,
		QoSClass:        computeQoSClass(spec, owned),
		GraceSeconds:    spec.TerminationGracePeriodSeconds,
	}
	for i := range spec.Volumes {
		view.Volumes[i] = NewVolume(&spec.Volumes[i])
	}
	if c.Kind.Traits.OnEveryNode {
		view.NodeSelector = nodeLabels(spec)
	}
	return view
}

// viewContainers returns the containers of a View. It takes a container from the shared list if that list has an equal
// one.
func viewContainers(spec *corev1.PodSpec, shared []Container) []Container {
	views := make([]Container, 0, len(spec.InitContainers)+len(spec.Containers))
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			c := &list[i]
			if pos := slices.IndexFunc(shared, func(other Container) bool { return other.Name == c.Name }); pos >= 0 {
				views = append(views, shared[pos])
				continue
			}
			views = append(views, Container{
				Name: c.Name, Init: len(views) < len(spec.InitContainers), Ports: c.Ports, Mounts: c.VolumeMounts, Env: pathVariables(c), SecurityContext: c.SecurityContext,
			})
		}
	}
	return views
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

// keysOnly returns a map with the keys and empty values, because values may be long.
func keysOnly(keys iter.Seq[string]) map[string]string {
	result := map[string]string{}
	for key := range keys {
		result[key] = ""
	}
	return result
}

// pullSecretNames returns the names of pull secrets, in their order.
func pullSecretNames(secrets []corev1.LocalObjectReference) []string {
	var names []string
	for i := range secrets {
		names = append(names, secrets[i].Name)
	}
	return names
}
