// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// repository has schemas, and a file of each sort that pages link to.
func repository(index string) fstest.MapFS {
	files := fstest.MapFS{
		"README.md":      {},
		"CHANGELOG.md":   {Data: []byte("[Upgrade](docs/how-to/upgrade.md#steps)\n")},
		"values.yaml":    {},
		"docs/README.md": {Data: []byte(index)},
		"docs/how-to/upgrade.md": {Data: []byte("[start](../README.md) [changes](../../CHANGELOG.md#a) [values](../../values.yaml) [samples](../samples)\n" +
			"[sample](../samples/a.yaml) [here](#steps) [Vector](https://vector.dev)\n```text\n[quoted](nowhere.md)\n```\n")},
		"docs/samples/a.yaml": {Data: []byte("a: 1\n")},
		configuration:         {Data: []byte("site_name = \"x\"\n")},
	}
	for _, name := range slices.Concat(definitions, slices.Collect(maps.Values(valuesSchemas))) {
		files[name] = &fstest.MapFile{Data: []byte("{}")}
	}
	return files
}

func TestSite_RewritesLinks(t *testing.T) {
	files, err := generate(repository("# Documentation\n"))
	require.NoError(t, err)
	require.Equal(t, "[start](../README.md) [changes](../changelog.md#a) [values]("+sources+"blob/main/values.yaml) [samples]("+sources+"tree/main/docs/samples)\n"+
		"[sample](../samples/a.yaml) [here](#steps) [Vector](https://vector.dev)\n```text\n[quoted](nowhere.md)\n```\n", string(files["pages/how-to/upgrade.md"]))
	require.Equal(t, "[Upgrade](how-to/upgrade.md#steps)\n", string(files["pages/changelog.md"]))
	require.Equal(t, "a: 1\n", string(files["pages/samples/a.yaml"]))
	require.Contains(t, files, "pages/introduction.md")
}

func TestSite_RejectsBrokenLinks(t *testing.T) {
	_, err := generate(repository("[lost](how-to/downgrade.md)\n"))
	require.ErrorContains(t, err, `checking link "how-to/downgrade.md" of docs/README.md`)
}

// A page that two sections of the index link to is in the first one. Files that are not pages are not in the
// navigation.
func TestSite_HasNavigationOfIndex(t *testing.T) {
	files, err := generate(repository("# Documentation\n\n## Start\n\n[a](../README.md) [b](how-to/upgrade.md#steps)\n\n## Operate\n\n[b](how-to/upgrade.md) [c](../CHANGELOG.md) [d](samples)\n"))
	require.NoError(t, err)
	require.Equal(t, "nav = [\n  \"README.md\",\n  {\"Start\" = [\"introduction.md\", \"how-to/upgrade.md\"]},\n  {\"Operate\" = [\"changelog.md\"]},\n]\nsite_name = \"x\"\n", string(files["zensical.toml"]))
}
