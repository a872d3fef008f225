// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// The check rejects values that Vector rejects, when it reads the configuration or when it starts. The tests in
// test/vector compare Vector with the same table.
func TestCheck_RejectsValuesThatVectorRejects(t *testing.T) {
	container := &Container{Env: map[string]vectorflags.Text{"VECTOR_DISK_V2_MAX_DATA_FILE_SIZE": {Value: "65536"}}, Mounts: []Mount{{Path: "/var/lib/vector"}}}
	text, err := os.ReadFile(filepath.Join("testdata", "values.tsv"))
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		columns := strings.Split(line, "\t")
		require.Len(t, columns, 4, line)
		found := Errors(try{name: "vector." + columns[1], text: strings.ReplaceAll(columns[3], "⏎", "\n"), container: container}.findings())
		if (columns[2] == "takes") != (len(found) == 0) {
			t.Errorf("%s, %s: Vector %s it, and the check finds %s", columns[0], columns[1], columns[2], said(found))
		}
	}
}
