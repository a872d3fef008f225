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

// Part is an input of the rendering of a sidecar.
type Part string

// Parts with a name.
const (
	PartEnvironment Part = "environment"
	PartTemplateSet Part = "templateSet"
	PartKubernetes  Part = "kubernetes"
	// PartKubelet is the version of the oldest kubelet, if the version of the API server is not sufficient.
	PartKubelet Part = "kubelet"
	// PartOperator is the version of the operator. It is never the only cause. Messages name it only with
	// another change.
	PartOperator Part = "operator"
)

// Parts with keys.
const (
	// PartTemplates are the files of a template set of the platform team.
	PartTemplates Part = "templates"
	PartPolicy    Part = "policy"
	// PartInstallation, PartNamespace, PartSidecar and PartWorkload are layers of values. The values of the
	// workload are in its annotations.
	PartInstallation Part = "installation"
	PartNamespace    Part = "namespace"
	PartSidecar      Part = "vectorSidecar"
	PartWorkload     Part = "workload"
	// PartConfig is a ConfigMap that the values refer to.
	PartConfig Part = "config"
	// PartTarget is the data of the workload that templates read.
	PartTarget Part = "target"
)

// inputParts lists all parts and their names in messages, in the order in which changes are listed.
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

// firstKey returns the path for a part with one level of keys, such as files.
func firstKey(keys ...string) string { return keys[0] }

// Inputs are the inputs of the rendering of a sidecar: a name for each part with a name, and Digests for each
// part with keys. A part with unknown keys has one digest. Inputs are stored on workloads.
type Inputs map[Part]any

// Name records a name, unless it is empty.
func (i Inputs) Name(part Part, name string) {
	if name != "" {
		i[part] = meta.LabelValue(name)
	}
}

// Add records the Digests of a part with keys, unless they are empty.
func (i Inputs) Add(part Part, digests map[string]any) {
	if len(digests) > 0 {
		i[part] = digests
	}
}

// Whole records a part with unknown keys.
func (i Inputs) Whole(part Part, value string) { i[part] = digest(value) }

// With returns a copy with another part.
func (i Inputs) With(part Part, digests map[string]any) Inputs {
	more := Inputs{}
	maps.Copy(more, i)
	more.Add(part, digests)
	return more
}

// longestInputs limits the text of Inputs in bytes, because it is stored on every workload and its ReplicaSets.
const longestInputs = 1 << 10

// Bounded returns Inputs within the size limit. It merges the deepest keys of the largest part until the text
// is short enough.
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

// String returns the text that is stored on a workload.
func (i Inputs) String() string { return i.Bounded().encode() }

func (i Inputs) encode() string {
	if len(i) == 0 {
		return ""
	}
	text, _ := json.Marshal(i) // Maps of strings always marshal.
	return string(text)
}

// parseInputs parses the text on a workload. It returns nil if the text is malformed.
func parseInputs(text string) Inputs {
	var found Inputs
	if text == "" || len(text) > longestInputs || json.Unmarshal([]byte(text), &found) != nil {
		return nil
	}
	return found
}

// inputChange is a part that has changed.
type inputChange struct {
	Part Part
	// Text names the part and its differences.
	Text string
}

// since lists the changes since the recorded text was written. It returns nil if the recorded text is
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

// renamed describes a changed name. It returns "" if the name is the same or was not recorded.
func renamed(what string, was, is any) string {
	before, _ := was.(string)
	now, _ := is.(string)
	if before == now || before == "" || now == "" {
		return ""
	}
	return fmt.Sprintf("%s %s → %s", what, quoted(before), quoted(now))
}

// keyed lists the keys that differ, "" for none.
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

// only keeps the digests of keys that both sides have, because templates of another release read other keys.
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
