// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// IsOurs reports whether an entry of managed fields records a write of one of our
// managers.
func IsOurs(entry *metav1.ManagedFieldsEntry) bool { return isApply(entry) || isPatch(entry) }

// isApply reports whether an entry records an apply of one of our managers.
func isApply(entry *metav1.ManagedFieldsEntry) bool {
	return entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" &&
		entry.FieldsV1 != nil && meta.IsManager(entry.Manager)
}

// LastWriter finds who wrote last, status and the like apart.
func LastWriter(entries []metav1.ManagedFieldsEntry) string {
	if last := lastEntry(entries); last != nil {
		return last.Manager
	}
	return ""
}

func lastEntry(entries []metav1.ManagedFieldsEntry) *metav1.ManagedFieldsEntry {
	var last *metav1.ManagedFieldsEntry
	for i := range entries {
		entry := &entries[i]
		if entry.Subresource != "" || meta.IsManager(entry.Manager) || entry.Time == nil {
			continue
		}
		if last == nil || !entry.Time.Before(last.Time) {
			last = entry
		}
	}
	return last
}

// owned tells what is each of our managers' in a workload. Most workloads carry
// nothing of ours, and for those it costs nothing.
func owned(object Object) map[string]Owned {
	if !IsCarrier(object) {
		return nil
	}
	fields := ManagedFieldsOf(object)
	owned, _ := fields.Owned(fields.Select(object), object.GetManagedFields())
	return owned
}

// IsCarrier reports whether there may be something of ours in a workload, or a record
// of it.
func IsCarrier(object Object) bool {
	entries := object.GetManagedFields()
	for i := range entries {
		if IsOurs(&entries[i]) {
			return true
		}
	}
	for key := range TemplateOf(object).Annotations {
		if meta.IsParts(key) {
			return true
		}
	}
	return false
}

// Owned tells what is each manager's in what is selected of a workload, and whether the
// records of deployers had a part in that; these are among the entries.
func (m *ManagedFields) Owned(selected *corev1.PodTemplate, entries []metav1.ManagedFieldsEntry) (byManager map[string]Owned, readOthers bool) {
	theirs := &deployed{entries: entries}
	byManager = m.owned(selected, theirs)
	return byManager, theirs.items != nil
}

func (m *ManagedFields) owned(selected *corev1.PodTemplate, theirs *deployed) map[string]Owned {
	live := liveTree(selected)
	all := map[string]Owned{}
	for manager, record := range m.records {
		if record.applied != nil || record.patched != nil {
			all[manager] = record.owned(manager, live, theirs)
		}
	}
	for manager, parts := range m.listed {
		remaining := all[manager]
		if remaining.addRemains(&parts, live, theirs); remaining.Tree != nil {
			all[manager] = remaining
		}
	}
	if len(all) == 0 {
		return nil
	}
	for manager, of := range all {
		of.Orphan = selected.Annotations[meta.AnnotationOrphaned(manager)]
		all[manager] = of
	}
	return all
}

// liveTree is a workload as managed fields see it.
func liveTree(selected *corev1.PodTemplate) map[string]any {
	template, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&selected.Template)
	if err != nil {
		// Every value of the type converts; nothing owned means one apply more.
		return map[string]any{}
	}
	return map[string]any{
		"metadata": map[string]any{"annotations": values(selected.Annotations)},
		"spec":     map[string]any{"template": template},
	}
}

// read fills in what a tree of the manager's live values tells.
func (o *Owned) read(owned map[string]any, theirs *deployed) {
	o.Tree = owned
	for key, value := range tree.At(owned, "metadata", "annotations") {
		text, _ := value.(string)
		switch {
		case meta.Is(key, meta.AnnotationInjectedHash):
			o.InjectedHash, o.HasPlainAnnotations = text, key == meta.AnnotationInjectedHash
		case meta.Is(key, meta.AnnotationAskedHash):
			o.AskedHash = text
		case meta.Is(key, meta.AnnotationAppliedHash):
			o.AppliedHash = text
		case meta.Is(key, meta.AnnotationChangeCause):
			o.ChangeCause = text
		case meta.Is(key, meta.AnnotationRenderedFrom):
			o.RenderedFrom = text
		}
	}
	pod := tree.At(owned, tree.Pod...)
	for _, item := range slices.Concat(tree.List(pod["initContainers"]), tree.List(pod["containers"])) {
		name := tree.Name(item)
		o.Containers = append(o.Containers, name)
		if _, ours := tree.Map(item)["image"]; !ours && theirs.container(name) {
			o.Taken = append(o.Taken, name)
		}
	}
	for _, item := range tree.List(pod["volumes"]) {
		o.Volumes = append(o.Volumes, tree.Name(item))
	}
	pods := tree.At(owned, "spec", "template", "metadata")
	o.PodLabels = slices.Sorted(maps.Keys(tree.Map(pods["labels"])))
	o.PodAnnotations = slices.Sorted(maps.Keys(tree.Map(pods["annotations"])))
}

// record is what a manager is on record for, as managed fields.
type record struct {
	// applied is what it has applied and patched what it has patched, without items
	// of which it holds no more than the name and without the application's
	// containers. Either is nil if there is no such entry.
	applied, patched map[string]any
	// hasNames reports whether there are such items, isPatch whether there is an entry
	// of a patch, and isLoose whether it is for more than mounts in the application's
	// containers.
	hasNames, isPatch, isLoose bool
}

// add notes an entry of the manager.
func (r *record) add(entry *metav1.ManagedFieldsEntry) {
	r.isPatch = r.isPatch || isPatch(entry)
	fields := decodeFields(entry)
	if fields == nil {
		return
	}
	if isApply(entry) {
		r.applied, r.hasNames = ownFields(fields)
		return
	}
	r.patched = patchedFields(fields)
	_, r.isLoose = Trim(entry)
}

// owned tells what is a manager's by its record.
func (r *record) owned(manager string, live map[string]any, theirs *deployed) Owned {
	of := Owned{Named: r.hasNames, Patched: r.isLoose || r.applied == nil}
	var applied map[string]any
	if r.applied != nil {
		applied = tree.Map(extract("", r.applied, live))
		of.Hash = Hash(applied)
		of.WrittenBy, _ = tree.At(applied, "metadata", "annotations")[meta.AnnotationWrittenBy(manager)].(string)
	}
	all := applied
	if of.Patched {
		all = tree.Map(extract("", united(r.applied, r.patched), live))
		of.Remains = lessOf(all, applied)
		of.Unfinished = r.applied == nil || notes(r.applied) || notes(r.patched)
	}
	of.Unfinished = of.Unfinished || of.Named
	of.read(all, theirs)
	return of
}

// lessOf are the names of the items in the pod's lists of one tree that the other
// does not have.
func lessOf(all, some map[string]any) []string {
	var names []string
	for _, list := range podLists {
		for _, item := range tree.List(tree.At(all, tree.Pod...)[list]) {
			isSame := func(other any) bool { return tree.Name(other) == tree.Name(item) }
			if !slices.ContainsFunc(tree.List(tree.At(some, tree.Pod...)[list]), isSame) {
				names = append(names, tree.Name(item))
			}
		}
	}
	return names
}

// atomic are the fields of pods whose value is a map that is owned as a whole. Of all
// other maps, and of lists whose items have keys, managed fields without anything below
// them mean that there is one, and nothing of what is in it.
var atomic = []string{
	"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef", "secretRef", "nodePublishSecretRef",
	"selector", "labelSelector", "dataSource",
}

// keyed are the lists whose items have keys.
var keyed = []string{"initContainers", "containers", "volumes", "env", "ports", "volumeMounts", "volumeDevices", "claims"}

// extract returns the live values of a set of managed fields in the API server's
// notation: "f:name" is a field, "k:{…}" a list item by its keys, "v:…" an item of
// a set, "." the thing itself, and an empty set a whole value.
func extract(key string, fields map[string]any, live any) any {
	if len(fields) == 0 {
		switch live.(type) {
		case map[string]any:
			if !slices.Contains(atomic, key) {
				return map[string]any{}
			}
		case []any:
			if slices.Contains(keyed, key) {
				return []any{}
			}
		}
		return live
	}
	switch value := live.(type) {
	case map[string]any:
		out := map[string]any{}
		for field, below := range fields {
			name, ok := strings.CutPrefix(field, "f:")
			if !ok {
				continue
			}
			if item, ok := value[name]; ok {
				out[name] = extract(name, tree.Map(below), item)
			}
		}
		return out
	case []any:
		return extractItems(fields, value)
	default:
		return live
	}
}

// extractItems keeps the order of the live list.
func extractItems(fields map[string]any, live []any) []any {
	type item struct{ keys, below map[string]any }
	var wanted []item
	var members []string
	for field, below := range fields {
		if text, ok := strings.CutPrefix(field, "k:"); ok {
			var keys map[string]any
			if json.Unmarshal([]byte(text), &keys) == nil {
				wanted = append(wanted, item{keys, tree.Map(below)})
			}
		} else if text, ok := strings.CutPrefix(field, "v:"); ok {
			members = append(members, text)
		}
	}
	out := []any{}
	for _, candidate := range live {
		object, isMap := candidate.(map[string]any)
		if !isMap {
			if slices.Contains(members, jsonText(candidate)) {
				out = append(out, candidate)
			}
			continue
		}
		for _, want := range wanted {
			if hasKeys(object, want.keys) {
				out = append(out, extract("", want.below, object))
				break
			}
		}
	}
	return out
}

func hasKeys(object, keys map[string]any) bool {
	for key, want := range keys {
		if jsonText(object[key]) != jsonText(want) {
			return false
		}
	}
	return true
}

// jsonText compares numbers of different Go types by what they look like.
func jsonText(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

// IsEmpty reports whether nothing in the workload is the manager's any more, though it
// is on record.
func (o *Owned) IsEmpty() bool {
	return len(o.Containers)+len(o.Volumes)+len(o.PodLabels)+len(o.PodAnnotations)+len(tree.At(o.Tree, "metadata", "annotations")) == 0
}
