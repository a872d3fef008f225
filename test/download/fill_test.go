// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	sha256Hex = strings.Repeat("0a", 32)
	sha512Hex = strings.Repeat("0b", 64)
)

func TestPublishedDigest_ReadsFormsOfVendors(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"bare digest":             {sha512Hex + "\n", "sha512:" + sha512Hex},
		"digest and file":         {sha256Hex + "  tool.tar.gz\n", "sha256:" + sha256Hex},
		"binary mode":             {sha256Hex + " *tool.tar.gz\n", "sha256:" + sha256Hex},
		"list":                    {strings.Repeat("0c", 32) + "  other.tar.gz\n" + sha256Hex + "  tool.tar.gz\n", "sha256:" + sha256Hex},
		"list without the file":   {sha256Hex + "  other.tar.gz\n", ""},
		"page instead of digests": {"<html>\nnot found\n</html>\n", ""},
		"SHA-1":                   {strings.Repeat("0a", 20), ""},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := publishedDigest(test.text, "tool.tar.gz")
			require.Equal(t, test.want, found)
			if test.want == "" {
				require.ErrorContains(t, err, "no digest of tool.tar.gz")
			}
		})
	}
}

// If a vendor cannot be reached, its entries of the pinned version stay, and those of other versions do not.
func TestFill_KeepsEntriesOfUnreachableVendors(t *testing.T) {
	t.Chdir("../..")
	url := serve(t, map[string][]byte{"helm-amd64.sum": []byte(sha256Hex), "helm-arm64.sum": []byte(sha512Hex)})
	made := []vendor{
		{name: "helm", module: "helm.sh/helm/v3", folder: "helm", url: url + "helm-{version}-{arch}", checksums: url + "helm-{arch}.sum"},
		{name: "kind", module: "sigs.k8s.io/kind", folder: "kind", url: url + "kind-{version}-{arch}", checksums: url + "none"},
	}
	helm, err := made[0].pinnedVersion()
	require.NoError(t, err)
	kind, err := made[1].pinnedVersion()
	require.NoError(t, err)
	kept := entry{"kind", kind, "linux/amd64", url + "kind-" + kind + "-amd64", "sha256:" + sha256Hex}
	old := entry{"kind", "v0.1.0", "linux/arm64", url + "kind-v0.1.0-arm64", "sha256:" + sha256Hex}
	file := filepath.Join(t.TempDir(), "downloads.tsv")
	require.NoError(t, os.WriteFile(file, []byte(kept.String()+"\n"+old.String()+"\n"), 0o600))

	err = fill(t.Context(), file, made)

	require.ErrorContains(t, err, url+"none: 404 Not Found")
	entries, err := readEntries(file)
	require.NoError(t, err)
	require.Equal(t, []entry{
		{"helm", helm, "linux/amd64", url + "helm-" + helm + "-amd64", "sha256:" + sha256Hex},
		{"helm", helm, "linux/arm64", url + "helm-" + helm + "-arm64", "sha512:" + sha512Hex},
		kept,
	}, entries)
}

// Each vendor is of a tool that the Makefile builds, and the committed entries are those of vendors.
func TestVendors_AreThoseOfTools(t *testing.T) {
	t.Chdir("../..")
	makefile, err := os.ReadFile("Makefile")
	require.NoError(t, err)
	urls := map[string]bool{}
	for _, vendor := range vendors() {
		require.Regexp(t, `(call tool,`+vendor.folder+`,|foreach program,).*\b`+regexp.QuoteMeta(vendor.name)+`\b`, string(makefile))
		version, err := vendor.pinnedVersion()
		require.NoError(t, err)
		for _, arch := range architectures {
			urls[vendor.name+strings.NewReplacer("{version}", version, "{arch}", arch).Replace(vendor.url)] = true
		}
	}
	entries, err := readEntries("test/tools/downloads.tsv")
	require.NoError(t, err)
	for _, entry := range entries {
		require.True(t, urls[entry.name+entry.url], "%s is not at %s in its pinned version; run make downloads", entry.name, entry.url)
		require.Regexp(t, `^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$`, entry.digest)
	}
}
