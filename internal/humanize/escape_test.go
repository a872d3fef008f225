// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package humanize

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/test/hostile"
)

func TestWriter_EscapesHostileText(t *testing.T) {
	for why, text := range hostile.Texts() {
		var out bytes.Buffer
		to := NewWriter(&out)
		n, err := to.Write([]byte(text))
		require.NoError(t, err)
		require.Equal(t, len(text), n)
		hostile.RequireHarmless(t, out.String(), why)
		require.NotContains(t, EscapeLine(text), "\n", why)
		require.Equal(t, EscapeBlock(text), EscapeBlock(EscapeBlock(text)), why)
	}
}

func TestEscape_KeepsHarmlessText(t *testing.T) {
	for _, text := range []string{"", "cart", "a: b\n\tc\r\n", "größer → ✓ 你好 👩‍👩‍👧", "a::b", "# a #[b]", "std::string", "\ufffd", "C:\\x"} {
		require.Equal(t, text, Escape(text))
		var out bytes.Buffer
		_, err := NewWriter(&out).Write([]byte(text))
		require.NoError(t, err)
		require.Equal(t, text, out.String())
		require.Equal(t, text, string(EscapeJSON([]byte(text))))
		require.Equal(t, text, string(EscapeYAML([]byte(text))))
	}
}

// Control characters, invalid UTF-8, and characters that reorder text are replaced by escape sequences.
func TestEscape_ShowsEscapedCharacters(t *testing.T) {
	require.Equal(t, `a\x1b]8;;b\u202e\x9b\xff\u2028`, Escape("a\x1b]8;;b\u202e\u009b\xff\u2028"))
	require.Equal(t, `a\nb\tc\x0d`, EscapeLine("a\nb\tc\r"))
	require.Equal(t, "a\n| b\n\n| ::error", EscapeBlock("a\nb\n\n::error"))
}

// A line may be written in several parts.
func TestWriter_JoinsLinesAcrossWrites(t *testing.T) {
	var out bytes.Buffer
	to := NewWriter(&out)
	for _, text := range []string{"a", "::b\n", " ", "::c", "\n", "::d"} {
		_, err := to.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, to.WriteControl("\x1b[0m"))
	require.Equal(t, "a::b\n \\x3a:c\n\\x3a:d\x1b[0m", out.String())
}

// A line break in an argument is followed by an indented line, so that it does not look like a line of the output.
func TestFprintf_IndentsLinesOfArguments(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Fprintf(&out, "%s: %d of %v\n", "a\nok", 3, errors.New("b\x1b\nc")))
	require.Equal(t, "a\n| ok: 3 of b\\x1b\n| c\n", out.String())
}

// After the escaping, programs decode the same data.
func TestEscapeJSON_KeepsData(t *testing.T) {
	type one struct {
		Text string `json:"text" xml:"text,attr"`
	}
	for why, text := range hostile.Texts() {
		valid := strings.ToValidUTF8(text, "?") // JSON, XML and YAML have no other.
		given, err := json.Marshal(map[string]string{"text": valid, valid: "key"})
		require.NoError(t, err)
		shown := EscapeJSON(given)
		hostile.RequireHarmless(t, string(shown), why)
		require.JSONEq(t, string(given), string(shown), why)

		printed, err := MarshalYAML(map[string]string{"text": valid, valid: "key"})
		require.NoError(t, err, why)
		var read map[string]string
		require.NoError(t, yaml.Unmarshal(printed, &read), "%s", printed)
		require.Equal(t, map[string]string{"text": valid, valid: "key"}, read, why)
		hostile.RequireHarmless(t, string(printed), why)

		written := "# a \u202e comment\ntext: |\n  " + strings.ReplaceAll(valid, "\n", "\n  ") + "\nkept: 'yes' # so\n"
		var was, is map[string]string
		if yaml.Unmarshal([]byte(written), &was) == nil { // Else it has characters that YAML does not.
			shown := EscapeYAML([]byte(written))
			hostile.RequireHarmless(t, string(shown), why)
			require.NoError(t, yaml.Unmarshal(shown, &is), "%s", shown)
			require.Equal(t, was, is, why)
			require.Contains(t, string(shown), "kept: 'yes' # so\n")
		}

		marked, err := xml.Marshal(one{valid})
		require.NoError(t, err)
		var before, after one
		require.NoError(t, xml.Unmarshal(marked, &before))
		require.NoError(t, xml.Unmarshal(EscapeXML(marked), &after))
		hostile.RequireHarmless(t, string(EscapeXML(marked)), why)
		require.Equal(t, before, after, why)
	}
}

func TestEscapeYAML_KeepsDecodedDocuments(t *testing.T) {
	shown := string(EscapeYAML([]byte("a: 1\n---\nb: \"\u202e\"\nc: [x, y]\n")))
	require.Equal(t, "a: 1\n---\nb: \"\\u202e\"\nc: [x, y]\n", shown)
	require.Equal(t, `{{ \u202e`, string(EscapeYAML([]byte("{{ \u202e"))), "what is no YAML is shown nevertheless")
}

// For any text, the result has no control characters, and data decodes to the same values.
func FuzzPlain(f *testing.F) {
	for _, text := range hostile.Texts() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, shown := range []string{EscapeLine(text), EscapeBlock(text)} {
			var out bytes.Buffer
			_, err := NewWriter(&out).Write([]byte(shown))
			require.NoError(t, err)
			hostile.RequireHarmless(t, out.String(), text)
		}
		valid := strings.ToValidUTF8(text, "?")
		printed, err := MarshalYAML(map[string]string{"text": valid})
		require.NoError(t, err)
		hostile.RequireHarmless(t, string(printed), text)
		var read map[string]string
		require.NoError(t, yaml.Unmarshal(printed, &read), "%s", printed)
		require.Equal(t, map[string]string{"text": valid}, read)
	})
}
