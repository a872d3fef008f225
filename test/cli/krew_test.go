// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// The template of the Krew manifest, filled as by krew-release-bot, is valid and names all archives.
func TestCLI_ProvidesCompleteKrewManifest(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, ".krew.yaml"))
	require.NoError(t, err)
	var uris []string
	parsed, err := template.New("krew").Funcs(template.FuncMap{
		"addURIAndSha": func(uri, tag string) string {
			uri = strings.ReplaceAll(uri, "{{ .TagName }}", tag)
			uris = append(uris, uri)
			return fmt.Sprintf("uri: %s\nsha256: %s", uri, strings.Repeat("a", 64))
		},
		"indent": func(n int, text string) string {
			return strings.TrimSpace(strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", n)))
		},
	}).Parse(string(text))
	require.NoError(t, err)
	var filled strings.Builder
	require.NoError(t, parsed.Execute(&filled, map[string]string{"TagName": "v1.2.3"}))

	var manifest struct {
		Metadata struct{ Name string }
		Spec     struct {
			Version, ShortDescription string
			Platforms                 []struct {
				URI, SHA256, Bin string
				Selector         struct{ MatchLabels struct{ OS, Arch string } }
			}
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(filled.String()), &manifest))
	require.Equal(t, "vectorsidecar", manifest.Metadata.Name)
	require.Equal(t, "v1.2.3", manifest.Spec.Version)
	require.LessOrEqual(t, len(manifest.Spec.ShortDescription), 50, "krew asks for no more")
	require.Len(t, manifest.Spec.Platforms, 5)
	var platforms []string
	for i, platform := range manifest.Spec.Platforms {
		labels := platform.Selector.MatchLabels
		require.Equal(t, uris[i], platform.URI)
		require.True(t, strings.HasSuffix(platform.URI, fmt.Sprintf("/v1.2.3/kubectl-vectorsidecar-%s-%s.tar.gz", labels.OS, labels.Arch)), platform.URI)
		require.Len(t, platform.SHA256, 64)
		program, isWindows := strings.CutSuffix(platform.Bin, ".exe")
		require.Equal(t, labels.OS == "windows", isWindows)
		require.Equal(t, fmt.Sprintf("kubectl-vectorsidecar-%s-%s/kubectl-vectorsidecar", labels.OS, labels.Arch), program)
		platforms = append(platforms, labels.OS+"/"+labels.Arch)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "test", "pluginarchive", "archive.mk"))
	require.NoError(t, err)
	require.Contains(t, string(makefile), "\nPLUGIN_PLATFORMS ?= "+strings.Join(platforms, " ")+"\n")
}
