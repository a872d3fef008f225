// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/sprig/v3"
	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
)

// templatesPage is the guide for template authors, and ownTemplates is the folder that its commands use.
const (
	templatesPage = "docs/how-to/operate/templates.md"
	ownTemplates  = "my-templates"
)

// ownFile finds the name of a file of that folder in its first comment.
var ownFile = regexp.MustCompile(`^(?:# |{{- /\* )(` + ownTemplates + `/\S+)`)

func fileOf(f *fence) (string, bool) {
	match := ownFile.FindStringSubmatch(f.text)
	if match == nil || !slices.Contains([]string{"yaml", "gotemplate", "txtar"}, f.language) {
		return "", false
	}
	return match[1], true
}

// The test follows the guide: it writes the files, runs the commands, and compares the results with those that the
// guide shows.
func TestDocs_RunGuideForTemplateAuthors(t *testing.T) {
	folder := filepath.Join(t.TempDir(), ownTemplates)
	here := func(text string) string { return strings.ReplaceAll(text, ownTemplates, folder) }
	ran, last, printed, builtin := 0, "", "", ""
	for _, f := range fences(t, "sh", "yaml", "gotemplate", "txtar", "diff") {
		name, isFile := fileOf(&f)
		switch {
		case f.page != templatesPage:
		case isFile:
			require.NoError(t, os.MkdirAll(filepath.Dir(here(name)), 0o700), f.at())
			require.NoError(t, os.WriteFile(here(name), []byte(f.text+"\n"), 0o600), f.at())
			last = here(name)
		case f.language == "sh":
			printed = shell(t, here(f.text))
			if strings.Contains(f.text, "--templates") {
				builtin = shell(t, here(strings.ReplaceAll(f.text, "--templates "+ownTemplates, "")))
			}
			ran++
		case f.language == "txtar":
			requireWritten(t, f.text, last)
		case f.language == "diff":
			requireChange(t, f.text, builtin, printed)
			for line := range strings.SplitSeq(f.text, "\n") {
				if added, ok := strings.CutPrefix(line, "+"); ok {
					require.NotContains(t, builtin, added+"\n", "%s: the built-in templates say so too", f.at())
				}
			}
		}
	}
	require.Equal(t, 8, ran)
	require.Contains(t, printed, "2 tests, 0 failed\n", "the last command runs the scenarios")
}

// requireWritten compares the shown content of a file that a command has changed with the file. "…" stands for
// omitted text, as in a diff.
func requireWritten(t *testing.T, shown, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := slices.DeleteFunc(strings.Split(shown, "\n"), func(line string) bool { return line == "…" })
	requireInOrder(t, lines, string(text))
}

// helmOnly lists the functions that Helm adds to sprig.
var helmOnly = []string{"lookup", "call", "include", "tpl", "required", "toYaml", "fromYaml", "toToml", "fromToml", "fromYamlArray", "fromJsonArray"}

func TestDocs_ListRejectedTemplateFunctions(t *testing.T) {
	var refused []string
	for _, name := range slices.Concat(helmOnly, slices.Collect(maps.Keys(sprig.TxtFuncMap()))) {
		_, err := gotemplate.Compile(map[string]string{"a.yaml": "{{ " + name + " }}"}, gotemplate.Options{})
		if err == nil {
			continue
		}
		require.ErrorContains(t, err, "is not available", "it neither works nor is it refused")
		refused = append(refused, name)
	}
	require.NotEmpty(t, refused)
	require.ElementsMatch(t, refused, named(t, "### Functions"))
}

// named returns the code spans in the first column of a section's table.
func named(t *testing.T, heading string) []string {
	t.Helper()
	var words []string
	for _, row := range table(t, heading) {
		for _, match := range codeSpan.FindAllStringSubmatch(row[0], -1) {
			words = append(words, match[1])
		}
	}
	return words
}

// table returns the first table of a section of the guide, without its header.
func table(t *testing.T, heading string) [][]string {
	t.Helper()
	all := pages(t)
	at := slices.IndexFunc(all, func(p page) bool { return p.name == templatesPage })
	require.GreaterOrEqual(t, at, 0)
	_, section, found := strings.Cut(all[at].prose, "\n"+heading+"\n")
	require.True(t, found, heading)
	_, section, found = strings.Cut(section, "\n|---|---|\n")
	require.True(t, found, heading)
	var rows [][]string
	for line := range strings.SplitSeq(section, "\n") {
		if !strings.HasPrefix(line, "| ") {
			break
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		require.Len(t, cells, 2, line)
		rows = append(rows, cells)
	}
	return rows
}

// A template exceeds each budget of the page, and is stopped with the number that the page states.
func TestDocs_StateTemplateBudgets(t *testing.T) {
	for name, text := range map[string]string{
		"steps":  `{{ range until 400 }}{{ range until 400 }}{{ . }}{{ end }}{{ end }}`,
		"depth":  `{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`,
		"nodes":  `{{ until 60000 }}`,
		"bytes":  `{{ repeat 3000000 "a" }}`,
		"memory": `{{ range until 50 }}{{ $_ := repeat 1000000 "a" }}{{ end }}`,
	} {
		t.Run(name, func(t *testing.T) {
			set, err := gotemplate.Compile(map[string]string{"a.yaml": text}, gotemplate.Options{})
			require.NoError(t, err)
			_, err = set.Execute(t.Context(), "a.yaml", map[string]any{})
			var stopped *gotemplate.Error
			require.ErrorAs(t, err, &stopped)
			require.Equal(t, name, stopped.Budget)
			number := regexp.MustCompile(`\d{3,}`).FindString(stopped.Message)
			require.Contains(t, strings.ReplaceAll(budgets(t)[name], ",", ""), number, stopped.Message)
		})
	}
	require.Len(t, budgets(t), 6, "the sixth is time, which is not waited for")
}

func budgets(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, row := range table(t, "### Budgets") {
		all[row[0]] = row[1]
	}
	return all
}

// The table on the page has each template file of the directory.
func TestDocs_ListEveryTemplate(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "templates", "*"))
	require.NoError(t, err)
	var names []string
	for _, file := range files {
		names = append(names, "templates/"+filepath.Base(file))
	}
	require.ElementsMatch(t, names, named(t, "## The contract"))
}
