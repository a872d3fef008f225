// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"

// The documents of a file, including the items of a List, keep the position and the text that they have in the file.
func TestParse_KeepsPositionAndText(t *testing.T) {
	text := "# a comment alone\n---\n" + configMap + "--- # the next\nkind: Unheard\nof: true\n---\n\n---\n" +
		"kind: List\nitems:\n- {kind: ConfigMap, metadata: {name: b}}\n- {kind: Namespace, metadata: {name: c}}\n"

	documents, err := Parse("a.yaml", []byte(text), nil)

	require.NoError(t, err)
	var kinds []string
	for _, document := range documents {
		require.Equal(t, "a.yaml", document.Source)
		kinds = append(kinds, document.Kind)
	}
	require.Equal(t, []string{"", "ConfigMap", "Unheard", "ConfigMap", "Namespace"}, kinds)
	require.Equal(t, configMap, string(documents[1].Text))
	require.Equal(t, 3, documents[1].Line)
	require.Nil(t, documents[2].Object, "a kind that plays no part")
	require.Equal(t, "b", documents[3].Object.GetName())
}

func TestParse_AcceptsDocumentEndMarkers(t *testing.T) {
	documents, err := Parse("a.yaml", []byte(configMap+"...\n"+strings.Replace(configMap, "name: a", "name: b", 1)+"... # the end\n---\n"+strings.Replace(configMap, "name: a", "name: c", 1)), nil)
	require.NoError(t, err)
	var names []string
	for _, document := range documents {
		names = append(names, document.Object.GetName())
	}
	require.Equal(t, []string{"a", "b", "c"}, names)
	require.Equal(t, 6, documents[1].Line)
}

func TestParse_NamesInvalidDocuments(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		names []string
	}{
		"no YAML":                {"a: [\n", []string{"a.yaml: document 1", "line 1"}},
		"a list":                 {"- kind: ConfigMap\n", []string{"a.yaml: document 1: expected an object with apiVersion, kind and metadata, got a list: write each object as a separate document"}},
		"a list in JSON":         {`[{"kind": "ConfigMap"}]`, []string{"expected an object with apiVersion, kind and metadata, got a list"}},
		"a text":                 {"Shop\n", []string{"a.yaml: document 1: expected an object with apiVersion, kind and metadata, got a string"}},
		"a number":               {"3\n", []string{"expected an object with apiVersion, kind and metadata, got a number"}},
		"a list of kinds":        {"kind: [ConfigMap]\n", []string{"document 1: field kind: expected a string, got a list"}},
		"items that are none":    {"kind: List\nitems: {}\n", []string{"items: expected a list, got an object"}},
		"the second document":    {configMap + "---\na: [\n", []string{"a.yaml: document 2"}},
		"all unknown fields":     {configMap + "dta: {}\nimutable: true\n", []string{"ConfigMap", `"dta"`, `"imutable"`}},
		"an unknown field below": {"kind: VectorSidecar\nspec: {selector: {matchLabel: {}}}\n", []string{`"spec.selector.matchLabel"`}},
		"a key that is twice":    {"kind: ConfigMap\ndata: {a: x, a: y}\n", []string{`"a"`}},
		"a wrong type":           {"kind: ConfigMap\ndata: 3\n", []string{"ConfigMap", "data"}},
		"a Rollout's template":   {"kind: Rollout\napiVersion: argoproj.io/v1alpha1\nspec: {template: {spec: {volumes: none}}}\n", []string{"document 1: Rollout: spec.template.spec.volumes cannot be read"}},
		"an item of a list":      {"kind: List\nitems: [{kind: ConfigMap, dta: {}}]\n", []string{`"dta"`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("a.yaml", []byte(test.text), nil)
			require.Error(t, err)
			for _, part := range test.names {
				require.ErrorContains(t, err, part)
			}
			require.NotContains(t, err.Error(), "of type struct")
		})
	}
}

func TestFiles_ReadDirectoryInOrderOfNames(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"b.yaml": strings.ReplaceAll(configMap, "name: a", "name: b"), "a.yml": configMap,
		"c.txt": "neither", "below/d.json": `{"kind": "ConfigMap", "metadata": {"name": "d"}}`,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	names := func(files Files) []string {
		documents, err := files.Read(folder)
		require.NoError(t, err)
		var found []string
		for _, document := range documents {
			found = append(found, document.Object.GetName())
		}
		return found
	}

	require.Equal(t, []string{"a", "b"}, names(Files{}))
	given := folder
	folder = filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(given, folder))
	require.Equal(t, []string{"a", "b"}, names(Files{}), "through a link")
	require.Equal(t, []string{"a", "b", "d"}, names(Files{Recursive: true}))

	files := Files{Stdin: strings.NewReader(configMap)}
	documents, err := files.Read("-")
	require.NoError(t, err)
	require.Len(t, documents, 1)
	_, err = files.Read(filepath.Join(folder, "none.yaml"))
	require.ErrorContains(t, err, "none.yaml")
}

// A directory without manifests is an error, because an empty result would look like success.
func TestFiles_RejectDirectoryWithoutManifests(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("above/below", 0o700))
	require.NoError(t, os.WriteFile("above/below/a.yaml", []byte(configMap), 0o600))
	require.NoError(t, os.Mkdir("empty", 0o700))
	require.NoError(t, os.WriteFile("empty/a.txt", nil, 0o600))
	for link, to := range map[string]string{"link": "empty", "self": "self", "gone": "none"} {
		require.NoError(t, os.Symlink(to, link))
	}
	for name, says := range map[string]string{
		"empty": "reading folder empty: the folder has no manifests; recognized file extensions are .json, .yaml, .yml",
		"link":  "reading folder link: the folder has no manifests; recognized file extensions are .json, .yaml, .yml",
		"above": "--recursive",
		"self":  "reading self: ",
		"gone":  "reading gone: ",
	} {
		_, err := (&Files{}).Read(name)
		require.ErrorContains(t, err, says)
	}
	documents, err := (&Files{Recursive: true}).Read("above")
	require.NoError(t, err)
	require.Len(t, documents, 1)
	require.Equal(t, filepath.Join("above", "below", "a.yaml"), documents[0].Source)
}
