// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package humanize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// EscapeJSON replaces control characters in JSON by numeric escapes, so that the JSON stays equivalent. In valid JSON,
// control characters occur only in strings.
func EscapeJSON(text []byte) []byte {
	return []byte(escapeRunes(string(text), func(builder *strings.Builder, r rune, _ int, _ string) {
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(builder, `\u%04x`, unit)
		}
	}))
}

// EscapeXML replaces control characters in XML by numeric escapes, so that the XML stays equivalent.
func EscapeXML(text []byte) []byte {
	return []byte(escapeRunes(string(text), func(builder *strings.Builder, r rune, _ int, _ string) {
		fmt.Fprintf(builder, "&#x%X;", r)
	}))
}

// EscapeYAML returns equivalent YAML documents in which control characters are numeric escapes. Strings with such
// characters, or with a line that a CI system executes as a command, are quoted. Text that is not valid YAML is escaped
// by Escape.
func EscapeYAML(text []byte) []byte {
	if isSafe(string(text)) && !hasCommandLine(string(text)) {
		return text
	}
	var encoded bytes.Buffer
	reader := yaml.NewDecoder(bytes.NewReader(text))
	writer := yaml.NewEncoder(&encoded)
	writer.SetIndent(2)
	for {
		var document yaml.Node
		if err := reader.Decode(&document); err != nil {
			break
		}
		quoteScalar(&document)
		if err := writer.Encode(&document); err != nil {
			return []byte(Escape(string(text)))
		}
	}
	if err := writer.Close(); err != nil || encoded.Len() == 0 {
		return []byte(Escape(string(text)))
	}
	return []byte(escapeRunes(encoded.String(), func(builder *strings.Builder, r rune, _ int, _ string) {
		if r < 0x10000 {
			fmt.Fprintf(builder, `\u%04x`, r)
			return
		}
		fmt.Fprintf(builder, `\U%08x`, r)
	}))
}

// MarshalYAML encodes a value as YAML by its JSON tags, and escapes the result as EscapeYAML does.
func MarshalYAML(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	// YAML cannot read some characters of JSON unless they are written as numeric escapes.
	if text, err = sigsyaml.JSONToYAML(EscapeJSON(text)); err != nil {
		return nil, err
	}
	return EscapeYAML(text), nil
}

// quoteScalar sets the double-quoted style for strings that need escapes, because only that style allows numeric escapes.
// Comments are escaped as text.
func quoteScalar(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode && (!isSafe(node.Value) || hasCommandLine(node.Value)) {
		node.Style = yaml.DoubleQuotedStyle
	}
	for _, comment := range []*string{&node.HeadComment, &node.LineComment, &node.FootComment} {
		*comment = Escape(*comment)
	}
	for _, child := range node.Content {
		quoteScalar(child)
	}
}

// hasCommandLine reports whether a line of a text starts with two colons, which a CI system may execute as a command.
func hasCommandLine(text string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			return true
		}
	}
	return false
}
