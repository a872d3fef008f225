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

// InputKind is an input of the rendering of a sidecar.
type InputKind string

// Parts with a name.
const (
	InputEnvironment InputKind = "environment"
	InputTemplateSet InputKind = "templateSet"
	InputKubernetes  InputKind = "kubernetes"
	// InputKubelet is the version of the oldest kubelet, if the version of the API server is not sufficient.
	InputKubelet InputKind = "kubelet"
	// InputOperator is the version of the operator. It is never the only cause. Messages name it only with
	// another change.
	InputOperator InputKind = "operator"
)

// Parts with keys.
const (
	// InputTemplates are the files of a template set of the platform team.
	InputTemplates InputKind = "templates"
	InputPolicy    InputKind = "policy"
	// InputInstallation, InputNamespace, InputSidecar and InputWorkload are layers of values. The values of the
	// workload are in its annotations.
	InputInstallation InputKind = "installation"
	InputNamespace    InputKind = "namespace"
	InputSidecar      InputKind = "vectorSidecar"
	InputWorkload     InputKind = "workload"
	// InputConfig is a ConfigMap that the values refer to.
	InputConfig InputKind = "config"
	// InputTarget is the data of the workload that templates read.
	InputTarget InputKind = "target"
)

// inputKinds lists all parts and their names in messages, in the order in which changes are listed.
var inputKinds = []struct {
	kind InputKind
	text string
	// path formats the path of a key.
	path func(keys ...string) string
}{
	{InputEnvironment, "environment", nil},
	{InputTemplateSet, "template set", nil},
	{InputTemplates, "files of the template set", firstKey},
	{InputPolicy, "policy", tree.Path},
	{InputInstallation, "values of the installation", tree.Path},
	{InputNamespace, "values of the namespace", tree.Path},
	{InputSidecar, "values of the VectorSidecar", tree.Path},
	{InputWorkload, "values in the workload's annotations", tree.Path},
	{InputConfig, "Vector configuration", firstKey},
	{InputTarget, "the workload's own", firstKey},
	{InputKubernetes, "Kubernetes", nil},
	{InputKubelet, "oldest kubelet", nil},
	{InputOperator, "operator", nil},
}

// firstKey returns the path for a part with one level of keys, such as files.
func firstKey(keys ...string) string { return keys[0] }

// Inputs are the inputs of the rendering of a sidecar: a name for each part with a name, and Digests for each
// part with keys. A part with unknown keys has one digest. Inputs are stored on workloads.
type Inputs map[InputKind]any

// Name records a name, unless it is empty.
func (i Inputs) Name(kind InputKind, name string) {
	if name != "" {
		i[kind] = meta.LabelValue(name)
	}
}

// Add records the Digests of a part with keys, unless they are empty.
func (i Inputs) Add(kind InputKind, digests map[string]any) {
	if len(digests) > 0 {
		i[kind] = digests
	}
}

// SetDigest records a part with unknown keys.
func (i Inputs) SetDigest(kind InputKind, value string) { i[kind] = digest(value) }

// WithDigests returns a copy with another part.
func (i Inputs) WithDigests(kind InputKind, digests map[string]any) Inputs {
	extended := Inputs{}
	maps.Copy(extended, i)
	extended.Add(kind, digests)
	return extended
}

// longestInputs limits the text of Inputs in bytes, because it is stored on every workload and its ReplicaSets.
const longestInputs = 1 << 10

// Compact returns Inputs within the size limit. It merges the deepest keys of the largest part until the text
// is short enough.
func (i Inputs) Compact() Inputs {
	compacted := maps.Clone(i)
	for len(compacted.encode()) > longestInputs {
		var largest InputKind
		size := 0
		for kind, node := range compacted {
			if _, hasKeys := node.(map[string]any); !hasKeys {
				continue
			}
			text, _ := json.Marshal(node) // Maps of strings always marshal.
			if len(text) > size || len(text) == size && kind < largest {
				largest, size = kind, len(text)
			}
		}
		compacted[largest] = cutDigests(compacted[largest], countLevels(compacted[largest])-1)
	}
	return compacted
}

// String returns the text that is stored on a workload.
func (i Inputs) String() string { return i.Compact().encode() }

func (i Inputs) encode() string {
	if len(i) == 0 {
		return ""
	}
	text, _ := json.Marshal(i) // Maps of strings always marshal.
	return string(text)
}

// parseInputs parses the text on a workload. It returns nil if the text is malformed.
func parseInputs(text string) Inputs {
	var inputs Inputs
	if text == "" || len(text) > longestInputs || json.Unmarshal([]byte(text), &inputs) != nil {
		return nil
	}
	return inputs
}

// inputChange is a part that has changed.
type inputChange struct {
	Kind InputKind
	// Text names the part and its differences.
	Text string
}

// changesSince lists the changes since the recorded text was written. It returns nil if the recorded text is
// malformed.
func (i Inputs) changesSince(recorded string) []inputChange {
	previous := parseInputs(recorded)
	if previous == nil {
		return nil
	}
	var changes []inputChange
	for _, entry := range inputKinds {
		oldValue, newValue := previous[entry.kind], i[entry.kind]
		text := ""
		switch {
		case entry.path == nil:
			text = describeRename(entry.text, oldValue, newValue)
		case entry.kind == InputTemplates && sum(previous[InputTemplateSet]) != sum(i[InputTemplateSet]):
			// Another set has other files.
		case entry.kind == InputTarget:
			text = describeKeys(entry.text, entry.path, intersectKeys(oldValue, newValue), intersectKeys(newValue, oldValue))
		default:
			text = describeKeys(entry.text, entry.path, oldValue, newValue)
		}
		if text != "" {
			changes = append(changes, inputChange{entry.kind, text})
		}
	}
	return changes
}

// describeRename describes a changed name. It returns "" if the name is the same or was not recorded.
func describeRename(label string, oldValue, newValue any) string {
	oldName, _ := oldValue.(string)
	newName, _ := newValue.(string)
	if oldName == newName || oldName == "" || newName == "" {
		return ""
	}
	return fmt.Sprintf("%s %s → %s", label, quoteText(oldName), quoteText(newName))
}

// describeKeys lists the keys that differ, "" for none.
func describeKeys(label string, path func(...string) string, oldValue, newValue any) string {
	paths := changedKeys(oldValue, newValue, nil)
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
		return label
	}
	return label + " (" + summarizeNames(names, longestName) + ")"
}

// intersectKeys keeps the digests of keys that both sides have, because templates of another release read other keys.
func intersectKeys(source, reference any) any {
	common := map[string]any{}
	referenceKeys, _ := reference.(map[string]any)
	sourceKeys, _ := source.(map[string]any)
	for key, node := range sourceKeys {
		if _, isThere := referenceKeys[key]; isThere {
			common[key] = node
		}
	}
	return common
}
