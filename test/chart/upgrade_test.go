// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// previous unpacks the chart before this one, and returns its folder.
func previous(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/previous.txtar")
	require.NoError(t, err)
	folder := t.TempDir()
	for _, file := range archive.Files {
		path := filepath.Join(folder, file.Name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, file.Data, 0o644))
	}
	return folder
}

// The whole life of a release, in every environment.
func TestAReleaseIsInstalledUpgradedRolledBackAndUninstalled(t *testing.T) {
	for name, file := range environments(t) {
		t.Run(name, func(t *testing.T) {
			i := installed(t, chartDir, "-f", file)
			cart, logs := injected(t)
			rollouts := cart.Generation
			requireWorks(t)

			helm(t, "upgrade", release, chartDir, "-n", namespace, "-f", file, "--set", "concurrency=8,commonLabels.team=platform,logLevel=WARN")
			i.restarted(t)
			requireWorks(t)
			helm(t, "rollback", release, "1", "-n", namespace)
			i.restarted(t)
			requireWorks(t)

			world.Get(t, cart)
			require.Equal(t, rollouts, cart.Generation, "neither upgrade nor rollback rolls a workload")
			world.Get(t, logs)
			require.Contains(t, logs.Finalizers, meta.Finalizer)
			helm(t, "uninstall", release, "-n", namespace)
			requireNoTrace(t, cart)
		})
	}
}

// From the chart before to this one and back, with an application that carries the
// sidecar: nothing is in the way, and nothing rolls.
func TestAnUpgradeFromTheChartBeforeRollsNothing(t *testing.T) {
	file := root + "/values/development.yaml"
	i := &installation{pods: harness.NewStandIn(t, plane, cluster, namespace)}
	removeDefinition(t)
	t.Cleanup(func() { takeAway(t) })
	helm(t, "install", release, previous(t), "-n", namespace, "-f", file)
	i.awaitServed(t)
	i.end = i.pods.Operator(t, fullname)
	i.pods.Hooks(t)
	cart, logs := injected(t)
	rollouts := cart.Generation

	helm(t, "upgrade", release, chartDir, "-n", namespace, "-f", file)
	i.restarted(t)
	requireWorks(t)
	helm(t, "rollback", release, "1", "-n", namespace)
	i.restarted(t)
	// What it does once it leads shows that it works.
	harness.Change(t, world, cart, carriesNot)
	harness.Until(t, world, cart, "the sidecar, put back", carries)
	rollouts += 2
	helm(t, "upgrade", release, chartDir, "-n", namespace, "-f", file)
	i.restarted(t)
	requireWorks(t)

	world.Get(t, cart)
	require.Equal(t, rollouts, cart.Generation, "the operator of a new chart rolls nothing")
	world.Get(t, logs)
	require.Nil(t, logs.DeletionTimestamp, "the definition was kept, and with it the VectorSidecar")
	helm(t, "uninstall", release, "-n", namespace)
	requireNoTrace(t, cart)
}
