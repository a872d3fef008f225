// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// largest is a text of the largest size, and how it is read.
type largest struct {
	read func(text []byte) error
	text string
	// isDecoded reports whether the text is within all limits. Others are rejected.
	isDecoded bool
}

// filled returns a text of the largest size with numbered copies of a line between a head and a tail.
func filled(head, line, tail string) string {
	var text strings.Builder
	text.WriteString(head)
	for i := 0; text.Len()+len(line)+len(tail)+8 < largestText; i++ {
		fmt.Fprintf(&text, line, i)
	}
	return text.String() + tail
}

func largestTexts() map[string]largest {
	// Lines of a realistic length are within the limits, those of the least length are not.
	value := strings.Repeat("v", 24)
	dotted, brackets := strings.Repeat("a.", 31), strings.Repeat("[", 60)+strings.Repeat("]", 60)
	decodeTOML := func(text []byte) error { return Configuration().DecodeTOML(text, &map[string]any{}) }
	decodeYAML := func(text []byte) error { var to any; return Values().DecodeYAML(text, &to) }
	return map[string]largest{
		"sibling keys of TOML":        {readTOML, filled("", "key_%d = '"+value+"'\n", ""), true},
		"short sibling keys of TOML":  {readTOML, filled("", "a%d=1\n", ""), false},
		"dotted keys of TOML":         {readTOML, filled("", "a.key_%d = '"+value+value+value+"'\n", ""), true},
		"long dotted keys of TOML":    {readTOML, filled("", dotted+"a%d=1\n", ""), false},
		"one dotted key of TOML":      {readTOML, strings.Repeat("a.", largestText/2-4) + "a = 1\n", false},
		"tables of TOML":              {readTOML, filled("", "[table_%d]\na = '"+value+"'\n", ""), true},
		"short tables of TOML":        {readTOML, filled("", "[a%d]\n", ""), false},
		"arrays of tables of TOML":    {readTOML, filled("", "[[a]]\nb = '%d"+value+value+"'\n", ""), true},
		"nested arrays of TOML":       {readTOML, filled("a = [\n", "[[[[['%d"+value+value+value+"']]]]],\n", "]\n"), true},
		"arrays of TOML":              {decodeTOML, "a = [" + strings.Repeat("[],", largestText/3-4) + "]\n", false},
		"inline tables of TOML":       {decodeTOML, "a = [" + strings.Repeat("{a=1},", largestText/6-4) + "]\n", false},
		"keys below a header of TOML": {readTOML, filled("["+dotted+"a]\n", "a%d=1\n", ""), false},
		"sibling keys of YAML":        {decodeYAML, filled("", "key-%d: "+value+value+"\n", ""), true},
		"short sibling keys of YAML":  {decodeYAML, filled("", "a%d: 1\n", ""), false},
		"nested lists of YAML":        {decodeYAML, filled("", "- "+brackets+" # %d\n", ""), false},
		"maps of keys of YAML":        {decodeYAML, "{" + strings.Repeat("a,", maxParsedNodes/2-2) + "}", false},
		"comments of YAML":            {decodeYAML, strings.Repeat("-\n #\n", maxParsedNodes/4-1), false},
		"sibling keys of JSON":        {decodeJSON(Spec()), filled("{", `"key-%d": "`+value+value+`",`, `"":1}`), true},
		"short sibling keys of JSON":  {decodeJSON(Spec()), filled("{", `"%d":1,`, `"":1}`), false},
		"nested lists of JSON":        {decodeJSON(Spec()), filled("[", brackets+",%d,", "1]"), false},
	}
}

// Each kind of text with the largest allowed size is decoded or rejected with at most 128 MiB of memory.
func TestLimits_BoundMemoryOfLargestTexts(t *testing.T) {
	for name, test := range largestTexts() {
		t.Run(name, func(t *testing.T) {
			require.LessOrEqual(t, len(test.text), largestText)
			var err error
			used := allocated(func() { err = test.read([]byte(test.text)) })
			t.Logf("%d bytes, %d MiB allocated: %v", len(test.text), used/mebibyte, err)
			require.LessOrEqual(t, used, uint64(128*mebibyte))
			if test.isDecoded {
				require.NoError(t, err)
				return
			}
			require.ErrorAs(t, err, new(*Error))
		})
	}
}

// A text that is one byte above the limit is rejected. The error states its size, the limit and the fix.
func TestLimits_RejectTooLargeText(t *testing.T) {
	for _, limits := range []Limits{Values(), Overrides(), Spec(), Configuration(), Schemas(), Template()} {
		err := limits.CheckSize(make([]byte, 512<<10+1))
		require.EqualError(t, err, "the text has 524289 bytes, more than the limit of "+limits.Subject+" (524288): split it, or remove unneeded parts")
		require.NoError(t, limits.CheckSize(make([]byte, 512<<10)))
	}
}

// Each of them takes less than a second.
func BenchmarkLargestTexts(b *testing.B) {
	for name, test := range largestTexts() {
		text := []byte(test.text)
		run(b, name, text, func() error {
			if err := test.read(text); !errors.As(err, new(*Error)) {
				return err
			}
			return nil
		})
	}
}
