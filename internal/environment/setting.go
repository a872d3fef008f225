// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"fmt"
	"regexp"
	"strconv"

	"helm.sh/helm/v3/pkg/strvals"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
)

// SettingFlag is a flag of helm that sets single values.
type SettingFlag string

// The flags. SetString sets strings, and SetFile sets the content of files.
const (
	SetValue  SettingFlag = "--set"
	SetString SettingFlag = "--set-string"
	SetFile   SettingFlag = "--set-file"
)

// Setting is a flag that sets values, with its argument.
type Setting struct {
	Flag SettingFlag
	// Text is KEY=VALUE,… in helm's syntax.
	Text string
	// ReadFile reads a file of SetFile.
	ReadFile func(name string) ([]byte, error)
}

// ApplyTo returns a layer with the setting merged over it. The lower layer may be nil.
func (s *Setting) ApplyTo(lower *Layer) (Layer, error) {
	if err := s.checkSize(); err != nil {
		return Layer{}, s.fault(err)
	}
	merged := Layer{Name: string(s.Flag), Tree: map[string]any{}}
	if err := strvals.ParseIntoString(s.Text, merged.Tree); err != nil { // The keys are those of the setting.
		return Layer{}, s.fault(err)
	}
	values := map[string]any{}
	if lower != nil {
		values, merged = deepCopy(lower.Tree), MergeLayers(*lower, merged)
	}
	if err := s.setValues(values); err != nil {
		return Layer{}, s.fault(err)
	}
	merged.Tree = values // list[1].key=value changes an item of a list, which MergeLayers replaces.
	return merged, nil
}

func (s *Setting) fault(err error) error { return fmt.Errorf("%s %.100q: %w", s.Flag, s.Text, err) }

// setValues sets the values of the setting in a tree.
func (s *Setting) setValues(values map[string]any) error {
	switch s.Flag {
	case SetString:
		return strvals.ParseIntoString(s.Text, values)
	case SetFile:
		return strvals.ParseIntoFile(s.Text, values, func(name []rune) (any, error) {
			content, err := s.ReadFile(string(name))
			return string(content), err
		})
	}
	return strvals.ParseInto(s.Text, values)
}

// listIndex matches an index of a list in a setting.
var listIndex = regexp.MustCompile(`\[(\d{1,9})\]`)

// checkSize rejects a setting that needs more memory than a values file may, because an index creates a list of that
// length.
func (s *Setting) checkSize() error {
	limits := bounded.Values()
	if len(s.Text) > limits.Bytes {
		return fmt.Errorf("the text has %d bytes, more than the limit of %s (%d)", len(s.Text), limits.Subject, limits.Bytes)
	}
	items := 0
	for _, match := range listIndex.FindAllStringSubmatch(s.Text, -1) {
		if index, err := strconv.Atoi(match[1]); err == nil && index <= strvals.MaxIndex { // Helm rejects others.
			items += index
		}
	}
	if items > limits.Nodes {
		return fmt.Errorf("the indexes need lists with %d items, more than the limit of %s (%d)", items, limits.Subject, limits.Nodes)
	}
	return nil
}
