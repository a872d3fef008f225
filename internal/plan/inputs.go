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

// Part is a part of what a sidecar is rendered from.
type Part string

// Parts that are names.
const (
	PartEnvironment Part = "environment"
	PartTemplateSet Part = "templateSet"
	PartKubernetes  Part = "kubernetes"
	// PartOperator is the version of the program. It alone is never a cause: what another
	// one renders differently comes with something else.
	PartOperator Part = "operator"
)

// Parts that have keys.
const (
	// PartTemplates are the files of a template set that the platform has given.
	PartTemplates Part = "templates"
	PartPolicy    Part = "policy"
	// PartInstallation, PartNamespace, PartSidecar and PartWorkload are layers of values: the
	// workload's are those of its annotations.
	PartInstallation Part = "installation"
	PartNamespace    Part = "namespace"
	PartSidecar      Part = "vectorSidecar"
	PartWorkload     Part = "workload"
	// PartConfig is a ConfigMap that the values refer to.
	PartConfig Part = "config"
	// PartTarget is what templates have read of the workload itself.
	PartTarget Part = "target"
)

// inputParts are all of them in the order in which they are told of, and how they are called.
var inputParts = []struct {
	part Part
	text string
	// path writes the path of a key.
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
	{PartOperator, "operator", nil},
}

// firstKey is the path of a key where there is one level of them, such as that of a file.
func firstKey(keys ...string) string { return keys[0] }

// Inputs are what a sidecar is rendered from: of each name the name, and of what has
// keys the Digests, or one digest where it is not known by key. Workloads carry them.
type Inputs map[Part]any

// Name notes a name; "" for none.
func (i Inputs) Name(part Part, name string) {
	if name != "" {
		i[part] = meta.LabelValue(name)
	}
}

// Add notes Digests of what has keys, if it has any.
func (i Inputs) Add(part Part, digests map[string]any) {
	if len(digests) > 0 {
		i[part] = digests
	}
}

// Whole notes what has no keys that anybody knows.
func (i Inputs) Whole(part Part, value string) { i[part] = digest(value) }

// With returns the same with another part.
func (i Inputs) With(part Part, digests map[string]any) Inputs {
	more := Inputs{}
	maps.Copy(more, i)
	more.Add(part, digests)
	return more
}

// longestInputs is how many bytes the text of Inputs may have: it is on every workload, and
// on those of its ReplicaSets.
const longestInputs = 1 << 10

// Bounded returns inputs whose text is not too long: of the part that takes most room the
// deepest keys are put together until it is not.
func (i Inputs) Bounded() Inputs {
	kept := maps.Clone(i)
	for len(kept.encode()) > longestInputs {
		var largest Part
		size := 0
		for part, node := range kept {
			if _, hasKeys := node.(map[string]any); !hasKeys {
				continue
			}
			text, _ := json.Marshal(node) // Maps of texts always marshal.
			if len(text) > size || len(text) == size && part < largest {
				largest, size = part, len(text)
			}
		}
		kept[largest] = cutDigests(kept[largest], depthOf(kept[largest])-1)
	}
	return kept
}

// String is what a workload carries.
func (i Inputs) String() string { return i.Bounded().encode() }

func (i Inputs) encode() string {
	if len(i) == 0 {
		return ""
	}
	text, _ := json.Marshal(i) // Maps of texts always marshal.
	return string(text)
}

// parseInputs reads what a workload carries, nil if that cannot be it.
func parseInputs(text string) Inputs {
	var found Inputs
	if text == "" || len(text) > longestInputs || json.Unmarshal([]byte(text), &found) != nil {
		return nil
	}
	return found
}

// inputChange is a part that is not as it was.
type inputChange struct {
	Part Part
	// Text names it, with what of it differs.
	Text string
}

// since are the changes since a workload was written that carries a text of Inputs. They
// are nil also if that is none.
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

// renamed tells of a name that is another, "" if it is not, or was not noted.
func renamed(what string, was, is any) string {
	before, _ := was.(string)
	now, _ := is.(string)
	if before == now || before == "" || now == "" {
		return ""
	}
	return fmt.Sprintf("%s %s → %s", what, quoted(before), quoted(now))
}

// keyed tells which keys differ, "" if none does.
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

// only are the digests of the keys that another has as well: templates of another
// release read others.
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
