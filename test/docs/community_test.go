// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// The issue forms have no unknown and no missing key, because GitHub ignores such a form.
func TestDocs_HaveValidIssueForms(t *testing.T) {
	files, err := filepath.Glob(root + "/.github/ISSUE_TEMPLATE/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var form struct {
			Name        string   `json:"name"`
			Description string   `json:"description"`
			Labels      []string `json:"labels"`
			Body        []struct {
				Type        string          `json:"type"`
				Validations map[string]bool `json:"validations"`
				Attributes  struct {
					Label       string `json:"label"`
					Description string `json:"description"`
					Render      string `json:"render"`
				} `json:"attributes"`
			} `json:"body"`
		}
		require.NoError(t, yaml.UnmarshalStrict(text, &form), file)
		require.NotEmpty(t, form.Name, file)
		require.NotEmpty(t, form.Description, file)
		require.NotEmpty(t, form.Body, file)
		for _, field := range form.Body {
			require.Equal(t, "textarea", field.Type, file)
			require.NotEmpty(t, field.Attributes.Label, file)
		}
	}
}

// Community pages contain no email address. The issue form links to private security advisories instead.
func TestDocs_NameNoPersonInCommunityPages(t *testing.T) {
	address := regexp.MustCompile(`\w@\w`)
	for _, name := range communityPages {
		require.NotRegexp(t, address, read(t, ".github/"+name).prose, name)
	}
	text, err := os.ReadFile(root + "/.github/ISSUE_TEMPLATE/config.yml")
	require.NoError(t, err)
	require.Contains(t, string(text), "/security/advisories/new")
}

// Dependabot updates the module of the product and that of each tool.
func TestDocs_ConfigureDependabotForEveryModule(t *testing.T) {
	text, err := os.ReadFile(root + "/.github/dependabot.yml")
	require.NoError(t, err)
	var config struct {
		Updates []struct {
			Ecosystem   string   `json:"package-ecosystem"`
			Directories []string `json:"directories"`
		} `json:"updates"`
	}
	require.NoError(t, yaml.Unmarshal(text, &config))
	var updated []string
	for _, update := range config.Updates {
		if update.Ecosystem != "gomod" {
			continue
		}
		for _, directory := range update.Directories {
			found, err := filepath.Glob(filepath.Join(root, directory, "go.mod"))
			require.NoError(t, err)
			require.NotEmpty(t, found, directory)
			updated = append(updated, found...)
		}
	}
	tools, err := filepath.Glob(root + "/test/tools/*/go.mod")
	require.NoError(t, err)
	require.ElementsMatch(t, append(tools, filepath.Join(root, "go.mod")), updated)
}
