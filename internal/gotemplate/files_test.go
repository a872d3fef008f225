// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate_test

import (
	"strings"
	"testing"

	"github.com/gobwas/glob"
	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
)

// For ordinary patterns, the result is that of Helm's glob library.
func TestGlob_MatchesAsHelm(t *testing.T) {
	names := []string{"a.txt", "config/a.yaml", "config/b.toml", "config/sub/a.yaml", "config/sub/deep/c.yaml", "[x].txt", "b-1.txt", "config/é.txt"}
	files := gotemplate.Files{}
	for _, name := range names {
		files[name] = nil
	}
	for _, pattern := range []string{
		"*", "**", "*.txt", "config/*", "config/**", "**/a.yaml", "config/*/a.yaml", "config/{a,b}.*", "{a.txt,config/**.yaml}", "?.txt",
		"[ab]*", "[!a]*.txt", "[a-b].txt", "config/?.yaml", `\[x\].txt`, "config", "", "a.txt", "config/sub/**", "b-[0-9].txt",
	} {
		reference, err := glob.Compile(pattern, '/')
		require.NoError(t, err)
		var want []string
		for _, name := range names {
			if reference.Match(name) {
				want = append(want, name)
			}
		}
		found, err := files.Glob(pattern)
		require.NoError(t, err)
		var got []string
		for _, name := range names {
			if _, ok := found[name]; ok {
				got = append(got, name)
			}
		}
		require.Equal(t, want, got, "pattern %q", pattern)
	}
}

func TestGlob_RejectsInvalidPatterns(t *testing.T) {
	for _, pattern := range []string{"[a", "{a", "[b-a]", strings.Repeat("*", 300)} {
		_, err := gotemplate.Files{"a": nil}.Glob(pattern)
		require.Error(t, err, pattern)
	}
}

// Only files that an execution reads count against its budget.
func TestFiles_ChargeOnlyUsedFiles(t *testing.T) {
	data := values()
	data["Files"] = gotemplate.Files{"large.txt": []byte(strings.Repeat("a line of a file\n", 60_000)), "small.txt": []byte("small")}
	got, err := execute(t, `{{ range 20 }}{{ $.Files.Get "small.txt" | len }}{{ end }} {{ .Files.Get "large.txt" | sha256sum | len }}`, data)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("5", 20)+" 64", got)

	_, err = execute(t, `{{ .Files | toYaml }}{{ .Files }}`, data)
	require.Equal(t, "memory", findings(t, err)[0].Budget)
	_, err = execute(t, `{{ range 100 }}{{ $x := $.Files.Get "large.txt" }}{{ end }}`, data)
	require.Equal(t, "memory", findings(t, err)[0].Budget)
	_, err = execute(t, `{{ range .Files.Lines "large.txt" }}{{ end }}`, data)
	require.Equal(t, "nodes", findings(t, err)[0].Budget)
}
