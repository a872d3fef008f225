// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"maps"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Part is one of the inputs that a sidecar is rendered from.
type Part string

// Parts that are a name.
const (
	PartEnvironment Part = "environment"
	PartTemplateSet Part = "templateSet"
	PartKubernetes  Part = "kubernetes"
	// PartKubelet is the version of the oldest kubelet, where that of the API server does not decide.
	PartKubelet Part = "kubelet"
	// PartOperator is the version of the operator. It is never a cause alone: it is
	// only named along with another change.
	PartOperator Part = "operator"
)

// Parts that have keys.
const (
	// PartTemplates are the files of a template set provided by the platform.
	PartTemplates Part = "templates"
	PartPolicy    Part = "policy"
	// PartInstallation, PartNamespace, PartSidecar and PartWorkload are layers of
	// values; the workload's come from its annotations.
	PartInstallation Part = "installation"
	PartNamespace    Part = "namespace"
	PartSidecar      Part = "vectorSidecar"
	PartWorkload     Part = "workload"
	// PartConfig is a ConfigMap that the values refer to.
	PartConfig Part = "config"
	// PartTarget is what templates read of the workload itself.
	PartTarget Part = "target"
)

// inputParts are all parts, in the order in which changes are listed, and how messages
// call them.
var inputParts = []struct {
	part Part
	text string
	// path formats the path of a key.
	path func(keys ...string) string
}{
	{PartEnvironment, "environment", nil},
	{PartTemplateSet, "template set", nil},
	{PartTemplates, "files of the template set", firstKey},
	{PartPolicy, "policy", tree.Path},
	{PartInstallation, "values of the installation", tree.Path},
	{PartNamespace, "values of the namespace", tree.Path},
	{PartSidecar, "values of the VectorSidecar", tree.Path},
	{PartWorkload, "values in the workload's annotations", tree.Path},
	{PartConfig, "Vector configuration", firstKey},
	{PartTarget, "the workload's own", firstKey},
	{PartKubernetes, "Kubernetes", nil},
	{PartKubelet, "oldest kubelet", nil},
	{PartOperator, "operator", nil},
}

// firstKey is the path where there is one level of keys, such as files.
func firstKey(keys ...string) string { return keys[0] }

// Inputs are what a sidecar is rendered from: a name for each part that is one, and
// Digests for each part with keys, or one digest if its keys are not known. They are
// stored on workloads.
type Inputs map[Part]any

// Name records a name; "" for none.
func (i Inputs) Name(part Part, name string) {
	if name != "" {
		i[part] = meta.LabelValue(name)
	}
}

// Add records the Digests of a part with keys, if there are any.
func (i Inputs) Add(part Part, digests map[string]any) {
	if len(digests) > 0 {
		i[part] = digests
	}
}

// Whole records a part whose keys are not known.
func (i Inputs) Whole(part Part, value string) { i[part] = digest(value) }

// With returns a copy with another part.
func (i Inputs) With(part Part, digests map[string]any) Inputs {
	more := Inputs{}
	maps.Copy(more, i)
	more.Add(part, digests)
	return more
}

// longestInputs bounds the text of Inputs in bytes: it is stored on every workload and
// its ReplicaSets.
const longestInputs = 1 << 10

// Bounded returns Inputs that fit: it merges the deepest keys of the largest part until
// the text is short enough.
func (i Inputs) Bounded() Inputs {
	kept := maps.Clone(i)
	for len(kept.encode()) > longestInputs {
		var largest Part
		size := 0
		for part, node := range kept {
			if _, hasKeys := node.(map[string]any); !hasKeys {
				continue
			}
			text, _ := json.Marshal(node) // Maps of strings always marshal.
			if len(text) > size || len(text) == size && part < largest {
				largest, size = part, len(text)
			}
		}
		kept[largest] = cutDigests(kept[largest], depthOf(kept[largest])-1)
	}
	return kept
}

// String is the text that is stored on a workload.
func (i Inputs) String() string { return i.Bounded().encode() }

func (i Inputs) encode() string {
	if len(i) == 0 {
		return ""
	}
	text, _ := json.Marshal(i) // Maps of strings always marshal.
	return string(text)
}

// parseInputs parses the text on a workload; nil if it is malformed.
func parseInputs(text string) Inputs {
	var found Inputs
	if text == "" || len(text) > longestInputs || json.Unmarshal([]byte(text), &found) != nil {
		return nil
	}
	return found
}

// inputChange is one part that has changed.
type inputChange struct {
	Part Part
	// Text names it and what differs in it.
	Text string
}

// since lists the changes since the recorded text was written; nil also if that is
// malformed.
func (i Inputs) since(recorded string) []inputChange {
	before := parseInputs(recorded)
	if before == nil {
		return nil
	}
	var found []inputChange
	for _, of := range inputParts {
		was, is := before[of.part], i[of.part]
		text := ""
		switch {
		case of.path == nil:
			text = renamed(of.text, was, is)
		case of.part == PartTemplates && sum(before[PartTemplateSet]) != sum(i[PartTemplateSet]):
			// Another set has other files.
		case of.part == PartTarget:
			text = keyed(of.text, of.path, only(was, is), only(is, was))
		default:
			text = keyed(of.text, of.path, was, is)
		}
		if text != "" {
			found = append(found, inputChange{of.part, text})
		}
	}
	return found
}

// renamed describes a changed name; "" if it is the same or was not recorded.
func renamed(what string, was, is any) string {
	before, _ := was.(string)
	now, _ := is.(string)
	if before == now || before == "" || now == "" {
		return ""
	}
	return fmt.Sprintf("%s %s → %s", what, quoted(before), quoted(now))
}

// keyed lists the keys that differ, "" if none does.
func keyed(what string, path func(...string) string, was, is any) string {
	paths := changedKeys(was, is, nil)
	if len(paths) == 0 {
		return ""
	}
	var names []string
	for _, keys := range paths {
		if len(keys) > 0 {
			names = append(names, path(keys...))
		}
	}
	if len(names) == 0 {
		return what
	}
	return what + " (" + few(names, longestName) + ")"
}

// only keeps the digests of keys that the other has too: templates of another release
// read other keys.
func only(of, other any) any {
	kept := map[string]any{}
	has, _ := other.(map[string]any)
	from, _ := of.(map[string]any)
	for key, node := range from {
		if _, isThere := has[key]; isThere {
			kept[key] = node
		}
	}
	return kept
}
