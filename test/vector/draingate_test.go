// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/draingate"
)

// gate returns a drain gate for Vector's sources.
func (a *application) gate(t *testing.T) *draingate.Gate {
	t.Helper()
	text, err := os.ReadFile(a.vector.file)
	require.NoError(t, err)
	var config struct {
		Sources map[string]map[string]any `json:"sources"`
	}
	require.NoError(t, yaml.Unmarshal(text, &config))
	for name, source := range config.Sources {
		if source["type"] != "file" {
			delete(config.Sources, name)
		}
	}
	written, err := json.Marshal(config.Sources)
	require.NoError(t, err)
	sources, err := draingate.ReadSources(written)
	require.NoError(t, err)
	return &draingate.Gate{
		Sources: sources, DataDir: filepath.Dir(a.vector.file), Bound: time.Minute, Started: time.Now(), Log: slog.New(slog.DiscardHandler),
	}
}

// When the drain gate ends, the collector has all lines of the files.
func TestGate_WaitsUntilCollectorHasAllLines(t *testing.T) {
	for name, test := range map[string]struct {
		logs  map[string]any
		first func(generation int) string
	}{
		"by the first line":      {},
		"by two lines":           {logs: byTwoLines, first: heading},
		"by their inodes":        {logs: map[string]any{"fingerprint": map[string]any{"strategy": "DeviceAndInode"}}, first: heading},
		"of files below folders": {logs: map[string]any{"include": []string{"**/*.log", "[!x]*.log.[0-9]"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := test.first
			if first == nil {
				first = func(n int) string { return fmt.Sprintf("first of generation %d", n) }
			}
			a := reads(t, test.logs, nil)
			gate := a.gate(t)
			for n := range 4 {
				a.isAway.Store(true)
				a.writes(t, "app.log", generation(first(n), n)...)
				a.writes(t, fmt.Sprintf("other-%d.log", n), generation(first(n+10), n+10)...)
				require.NotEmpty(t, gate.Remainder().Files)
				a.isAway.Store(false)
				gate.Wait(t.Context())
				missing, _ := a.missing(a.written)
				require.Zero(t, missing)
				require.Zero(t, gate.Remainder())
				if n%2 == 1 {
					a.renames(t)
				}
			}
		})
	}
}

// Vector reads a file without recent changes only after some seconds. The drain gate waits for it.
func TestGate_WaitsForQuietFile(t *testing.T) {
	a := reads(t, nil, nil)
	a.writes(t, "app.log", generation("first", 0)...)
	a.arrives(t)
	<-time.After(11 * time.Second) // Vector counts these by its own clock.
	a.writes(t, "app.log", "the last words")
	began := time.Now()
	a.gate(t).Wait(t.Context())
	missing, _ := a.missing(a.written)
	require.Zero(t, missing)
	t.Logf("it opened after %.1f s", time.Since(began).Seconds())
}
