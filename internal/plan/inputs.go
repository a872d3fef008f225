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

// InputKind is a kind of input of a rendering.
type InputKind string

// These inputs are recorded by their name, such as the name of the environment.
const (
	InputEnvironment InputKind = "environment"
	InputTemplateSet InputKind = "templateSet"
	InputKubernetes  InputKind = "kubernetes"
	// InputKubelet is the version of the oldest kubelet. It is recorded only if the version of the API server
	// is not sufficient.
	InputKubelet InputKind = "kubelet"
	// InputOperator is the version of the operator. It is never the only cause of a write. Messages name it
	// only together with another change.
	InputOperator InputKind = "operator"
)

// These inputs have keys. A digest is recorded for each key.
const (
	// InputTemplates are the files of a template set that the platform team provides.
	InputTemplates InputKind = "templates"
	InputPolicy    InputKind = "policy"
	// InputInstallation, InputNamespace, InputSidecar and InputWorkload are layers of values. The layer of the
	// workload is in its annotations.
	InputInstallation InputKind = "installation"
	InputNamespace    InputKind = "namespace"
	InputSidecar      InputKind = "vectorSidecar"
	InputWorkload     InputKind = "workload"
	// InputConfig is the ConfigMap that the values refer to.
	InputConfig InputKind = "config"
	// InputTarget is the data of the workload that the templates read.
	InputTarget InputKind = "target"
)

// inputKinds lists all kinds of inputs in the order of messages, with their names in messages.
var inputKinds = []struct {
	kind InputKind
	text string
	// path formats the path of a key. It is nil for an input that is recorded by name.
	path func(keys ...string) string
}{
	{InputEnvironment, "environment", nil},
	{InputTemplateSet, "template set", nil},
	{InputTemplates, "files of the template set", firstKey},
	{InputPolicy, "policy", tree.JoinPath},
	{InputInstallation, "values of the installation", tree.JoinPath},
	{InputNamespace, "values of the namespace", tree.JoinPath},
	{InputSidecar, "values of the VectorSidecar", tree.JoinPath},
	{InputWorkload, "values in the workload's annotations", tree.JoinPath},
	{InputConfig, "Vector configuration", firstKey},
	{InputTarget, "fields of the workload", firstKey},
	{InputKubernetes, "Kubernetes", nil},
	{InputKubelet, "oldest kubelet", nil},
	{InputOperator, "operator", nil},
}

// firstKey formats the path of a key for inputs with only one level of keys, such as files.
func firstKey(keys ...string) string { return keys[0] }

// Inputs are the inputs of a rendering that are recorded on workloads. The value of an input is its name, or its
// digests by key, or one digest if its keys are unknown.
type Inputs map[InputKind]any

// Name records an input by its name. It does nothing if the name is empty.
func (i Inputs) Name(kind InputKind, name string) {
	if name != "" {
		i[kind] = meta.LabelValue(name)
	}
}

// Add records the digests of an input by key. It does nothing without digests.
func (i Inputs) Add(kind InputKind, digests map[string]any) {
	if len(digests) > 0 {
		i[kind] = digests
	}
}

// SetDigest records one digest for an input with unknown keys.
func (i Inputs) SetDigest(kind InputKind, value string) { i[kind] = digest(value) }

// WithDigests returns a copy with the Digests of one more input.
func (i Inputs) WithDigests(kind InputKind, digests map[string]any) Inputs {
	extended := Inputs{}
	maps.Copy(extended, i)
	extended.Add(kind, digests)
	return extended
}

// maxInputsBytes is the maximum size of encoded Inputs in bytes. It is small because every workload and its ReplicaSets
// store the text.
const maxInputsBytes = 1 << 10

// Compact returns a copy of Inputs that is at most maxInputsBytes long when it is encoded. Until it fits, Compact
// replaces the deepest keys of the largest input by one digest.
func (i Inputs) Compact() Inputs {
	compacted := maps.Clone(i)
	for len(compacted.encode()) > maxInputsBytes {
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

// String returns the compacted Inputs as JSON, which workloads store.
func (i Inputs) String() string { return i.Compact().encode() }

// encode returns the Inputs as JSON, or "" for none.
func (i Inputs) encode() string {
	if len(i) == 0 {
		return ""
	}
	text, _ := json.Marshal(i) // Maps of strings always marshal.
	return string(text)
}

// parseInputs parses Inputs from the text that a workload stores. It returns nil if the text is malformed or too long.
func parseInputs(text string) Inputs {
	var inputs Inputs
	if text == "" || len(text) > maxInputsBytes || json.Unmarshal([]byte(text), &inputs) != nil {
		return nil
	}
	return inputs
}

// inputChange is an input that has changed.
type inputChange struct {
	Kind InputKind
	// Text describes the input and its changes in messages.
	Text string
}

// changesSince describes the differences between the recorded inputs of a workload and these inputs. It returns nil if
// the recorded text is malformed.
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
		case entry.kind == InputTemplates && combinedDigest(previous[InputTemplateSet]) != combinedDigest(i[InputTemplateSet]):
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

// describeRename describes the change of an input that is recorded by name. It returns "" if the name has not changed
// or was not recorded.
func describeRename(label string, oldValue, newValue any) string {
	oldName, _ := oldValue.(string)
	newName, _ := newValue.(string)
	if oldName == newName || oldName == "" || newName == "" {
		return ""
	}
	return fmt.Sprintf("%s %s → %s", label, quoteText(oldName), quoteText(newName))
}

// describeKeys describes an input by the keys with different digests. It returns "" if no digest differs.
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
	return label + " (" + summarizeNames(names, maxNameBytes) + ")"
}

// intersectKeys returns the digests of source for the keys that reference also has. Other keys are ignored, because the
// templates of another release read other keys.
func intersectKeys(source, reference any) any {
	common := map[string]any{}
	referenceKeys, _ := reference.(map[string]any)
	sourceKeys, _ := source.(map[string]any)
	for key, node := range sourceKeys {
		if _, exists := referenceKeys[key]; exists {
			common[key] = node
		}
	}
	return common
}
