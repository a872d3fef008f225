// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package draingate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMatches_InterpretsPatternsAsVector(t *testing.T) {
	for name, test := range map[string]struct {
		pattern string
		yes, no []string
	}{
		"a star":              {"*.log", []string{".log", "a.log", "a/b.log"}, []string{"a.logs", "log"}},
		"a question mark":     {"a?.log", []string{"ab.log", "aé.log"}, []string{"a.log", "abc.log"}},
		"a class":             {"*.log.[0-9]*", []string{"a.log.1", "a.log.12.old"}, []string{"a.log.x", "a.log."}},
		"a class that is not": {"a.[!0-9]", []string{"a.x"}, []string{"a.5", "a."}},
		"a bracket in one":    {"[]a-]", []string{"]", "a", "-"}, []string{"b", "[]a-]"}},
		"a class without end": {"[a", nil, []string{"a", "[a"}},
		"folders":             {"/l/**/*.log", []string{"/l/a.log", "/l/x/a.log", "/l/x/y/a.log"}, []string{"/m/a.log"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, text := range test.yes {
				require.True(t, matches([]rune(test.pattern), []rune(text)), text)
			}
			for _, text := range test.no {
				require.False(t, matches([]rune(test.pattern), []rune(text)), text)
			}
		})
	}
}

func TestListFiles_FindsSameFilesAsVector(t *testing.T) {
	files := []string{".hidden.log", "app.log", "app.log.1", "app.log.2.gz", "app.txt", "audit/app.log", "audit/old/app.json", "audit/old/app.log"}
	texts := map[string]string{}
	for _, file := range files {
		texts[file] = "a\n"
	}
	f := newFolder(t, texts)
	elsewhere := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "moved.log"), []byte("a\n"), 0o600))
	for link, target := range map[string]string{"audit/linked": elsewhere, "audit/around": "..", "audit/old/self": ".", "audit/gone": "nowhere"} {
		require.NoError(t, os.Symlink(target, filepath.Join(f.logs, link)))
	}
	all := slices.Sorted(slices.Values(append(files, "audit/around", "audit/gone", "audit/linked/moved.log", "audit/old/self"))) // No link is a file.
	for options, want := range map[string]string{
		``:                               ".hidden.log app.log",
		`, "include": ["%[1]s/app.log"]`: "app.log",
		`, "include": ["%[1]s/app.log.[0-9]*"], "exclude": ["%[1]s/*.gz"]`: "app.log.1",
		`, "include": ["%[1]s/**/*.log"], "exclude": ["**/.h*"]`:           "app.log audit/app.log audit/linked/moved.log audit/old/app.log",
		`, "include": ["%[1]s/*/app.log", "%[1]s/a*/*.log"]`:               "audit/app.log",
		`, "include": ["%[1]s/**"]`:                                        strings.Join(all, " "),
		`, "include": ["%[1]s/none/*.log", "%[1]s/none.log"]`:              "",
	} {
		if strings.Contains(options, "%") {
			options = fmt.Sprintf(options, f.logs)
		}
		source := f.gate(t, options).Sources["logs"]
		found, err := source.listFiles()
		require.NoError(t, err)
		for i := range found {
			found[i] = strings.TrimPrefix(found[i], f.logs+"/")
		}
		slices.Sort(found)
		require.Equal(t, want, strings.Join(found, " "), options)
	}
}
