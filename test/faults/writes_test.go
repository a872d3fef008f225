// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// held is the file with the number of writes of each scenario without a fault.
var held = filepath.Join("testdata", "writes.txt")

const heldHead = `# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
# SPDX-License-Identifier: Apache-2.0

# How many writes of each kind a scenario takes without a fault: scenario | kind | number.
# Of what names a version it is the least number seen: it is made again when that is not
# the latest, and a busy machine tells two states at once. It has to be there, no more.
# "make faults ARGS=-update" writes this file.

`

// readWrites reads the numbers, by scenario and kind.
func readWrites(t *testing.T) map[string]map[string]int {
	t.Helper()
	text, err := os.ReadFile(held)
	if *update && os.IsNotExist(err) {
		return map[string]map[string]int{}
	}
	require.NoError(t, err)
	all := map[string]map[string]int{}
	for _, line := range lines(string(text)) {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, " | ")
		require.Len(t, parts, 3, line)
		n, err := strconv.Atoi(parts[2])
		require.NoError(t, err, line)
		if all[parts[0]] == nil {
			all[parts[0]] = map[string]int{}
		}
		all[parts[0]][parts[1]] = n
	}
	return all
}

// writeWrites replaces the stored numbers of the scenarios that ran, and removes scenarios that do not exist any
// more.
func writeWrites(t *testing.T, before map[string]map[string]int, learned map[string]*course) {
	t.Helper()
	var b strings.Builder
	b.WriteString(heldHead)
	for _, s := range scenarios() {
		writes := before[s.name]
		if learned[s.name] != nil {
			writes = learned[s.name].writes
			for kind, n := range before[s.name] {
				if isOfVersion(kind) {
					writes[kind] = min(n, cmp.Or(writes[kind], n))
				}
			}
		}
		for _, kind := range slices.Sorted(maps.Keys(writes)) {
			fmt.Fprintf(&b, "%s | %s | %d\n", s.name, kind, writes[kind])
		}
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(held), 0o755))
	require.NoError(t, os.WriteFile(held, []byte(b.String()), 0o644))
}

// requireWrites compares a scenario's writes with the stored numbers: with fewer writes the faults are not tested any
// more, and with more the operator is slower.
func requireWrites(t *testing.T, name string, should, is map[string]int) {
	t.Helper()
	kinds := map[string]bool{}
	for _, of := range []map[string]int{should, is} {
		for kind := range of {
			kinds[kind] = true
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if isOfVersion(kind) {
			assert.Positive(t, is[kind], "%s: %s", name, kind)
		} else {
			assert.Equal(t, should[kind], is[kind], "%s: %s", name, kind)
		}
	}
}
