// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package vulncheck tests that make vulncheck finds a vulnerability of a database on disk.
package vulncheck

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// entry is a made-up vulnerability of a function of the standard library.
const entry = `{
  "schema_version": "1.3.1",
  "id": "GO-2026-0001",
  "modified": "2026-01-01T00:00:00Z",
  "published": "2026-01-01T00:00:00Z",
  "summary": "planted by a test",
  "details": "planted by a test",
  "database_specific": {"url": "https://example.com/GO-2026-0001"},
  "affected": [{
    "package": {"name": "stdlib", "ecosystem": "Go"},
    "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}],
    "ecosystem_specific": {"imports": [{"path": "log/slog", "symbols": ["NewJSONHandler"]}]}
  }]
}`

// make vulncheck reports a vulnerability of a function that a small program calls.
func TestVulncheck_FindsVulnerableFunction(t *testing.T) {
	database := t.TempDir()
	for name, text := range map[string]string{
		"index/db.json":        `{"modified": "2026-01-01T00:00:00Z"}`,
		"index/modules.json":   `[{"path": "stdlib", "vulns": [{"id": "GO-2026-0001", "modified": "2026-01-01T00:00:00Z"}]}]`,
		"index/vulns.json":     `[{"id": "GO-2026-0001", "modified": "2026-01-01T00:00:00Z", "aliases": []}]`,
		"ID/GO-2026-0001.json": entry,
	} {
		path := filepath.Join(database, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	command := exec.CommandContext(t.Context(), "make", "vulncheck", "DB="+database, "PROGRAMS=./cmd/drain-gate")
	command.Dir = "../.."

	out, err := command.CombinedOutput()

	require.Error(t, err, "%s", out)
	require.Contains(t, string(out), "GO-2026-0001\n    planted by a test\n")
	require.Contains(t, string(out), "cmd/drain-gate/main.go")
}
