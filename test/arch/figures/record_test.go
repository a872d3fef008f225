// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../../.."

// parsed are all files of the module, and measured are all figures.
var (
	parsed   = sync.OnceValues(func() ([]*goFile, error) { return parseModule(os.DirFS(root)) })
	measured = sync.OnceValues(func() ([]figure, error) {
		product, err := loaded()
		if err != nil {
			return nil, err
		}
		files, err := parsed()
		if err != nil {
			return nil, err
		}
		return measure(root, product, files)
	})
)

// The file of recorded figures has a line for each figure with a limit, and the measured figure does not exceed it.
func TestReadRecord_ListsEveryLimit(t *testing.T) {
	figures, err := measured()
	require.NoError(t, err)
	bars := map[string]figure{}
	for _, f := range figures {
		if f.isBar {
			bars[f.name] = f
		}
	}
	ratchets, err := readRecord(root)
	require.NoError(t, err)
	require.Len(t, ratchets, len(bars), "%s has a line for each bar", recordFile)
	for _, entry := range ratchets {
		t.Run(entry.name, func(t *testing.T) {
			bar, ok := bars[entry.name]
			require.True(t, ok, "there is no such figure")
			require.NoError(t, entry.check(bar))
		})
	}
}

// A figure may not rise above its record. If it falls by more than the tolerance, its record has to be lowered.
func TestRatchet_RejectsRiseAndLargeFall(t *testing.T) {
	for name, c := range map[string]struct {
		entry   ratchet
		bar     figure
		message string
	}{
		"an unchanged count":                  {ratchet{name: "loops", recorded: 16}, countBar("loops", 16), ""},
		"a count that rises":                  {ratchet{name: "loops", recorded: 16}, countBar("loops", 17), "rose to 17"},
		"a count that falls":                  {ratchet{name: "loops", recorded: 16}, countBar("loops", 15), "lower it by: go run ./test/arch/figures -update"},
		"a large count within 1 %":            {ratchet{name: "lines", recorded: 2000}, countBar("lines", 2020), ""},
		"a large count above 1 %":             {ratchet{name: "lines", recorded: 2000}, countBar("lines", 2021), "rose to 2021"},
		"a large count below 1 %":             {ratchet{name: "lines", recorded: 2000}, countBar("lines", 1979), "fell to 1979"},
		"a percentage within 1 %":             {ratchet{name: "a_percent", recorded: 8.37}, bar("a_percent", 8.449, 2), ""},
		"a percentage above 1 %":              {ratchet{name: "a_percent", recorded: 8.37}, bar("a_percent", 8.46, 2), "rose to 8.46"},
		"a small rate within 0.02":            {ratchet{name: "a_per_b", recorded: 0.86}, bar("a_per_b", 0.88, 3), ""},
		"a small rate above 0.02":             {ratchet{name: "a_per_b", recorded: 0.86}, bar("a_per_b", 0.881, 3), "rose to 0.881"},
		"a figure that has no number anymore": {ratchet{name: "loops", recorded: 0}, countBar("loops", 1), "rose to 1"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.entry.check(c.bar)
			if c.message == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.message)
			}
		})
	}
}

// A figure that has fallen is recorded. A figure that has risen is an error, and its record stays.
func TestLowerRecord_NeverRaisesFigures(t *testing.T) {
	repository := t.TempDir()
	path := filepath.Join(repository, recordFile)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte("# Comment.\n\nloops 16 12\nlocks 10 0\na_percent 9.5 1\nb_percent 9.5 0.5\n"), 0o600))

	err := lowerRecord(repository, []figure{countBar("locks", 11), countBar("loops", 14), bar("a_percent", 9.55, 2), bar("b_percent", 9.49, 2)})

	require.ErrorContains(t, err, "locks rose to 11")
	require.NotContains(t, err.Error(), "a_percent", "the rise is within the tolerance")
	ratchets, err := readRecord(repository)
	require.NoError(t, err)
	require.Equal(t, []ratchet{{"loops", 14, 12}, {"locks", 10, 0}, {"a_percent", 9.5, 1}, {"b_percent", 9.49, 0.5}}, ratchets)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), "# Comment.\n\n")
}

// The file of recorded figures has a name that is not measured. That is an error.
func TestLowerRecord_RejectsUnknownFigure(t *testing.T) {
	repository := t.TempDir()
	path := filepath.Join(repository, recordFile)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte("loops 16 12\n"), 0o600))
	require.ErrorContains(t, lowerRecord(repository, nil), `unknown figure "loops"`)

	require.NoError(t, os.WriteFile(path, []byte("loops sixteen 12\n"), 0o600))
	require.ErrorContains(t, lowerRecord(repository, nil), `"loops sixteen 12"`)
}
