// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValuesTable_HasRowForEachKey(t *testing.T) {
	values := `
# About all.

# How many:
# one | more.
replicas: 1
image:
  # Its name.
  name: ""
# About the probe.
probe:
  period: 1
# Free keys.
#   labels:
#     a: b
labels: {}
cluster: {}
`
	schema := `{"properties": {"replicas": {}, "image": {"properties": {"name": {}}}, "probe": {"properties": {"period": {"description": "Seconds."}}}, "labels": {}}}`

	table, err := valuesTable([]byte(values), []byte(schema), "cluster")
	require.NoError(t, err)
	require.Equal(t, "| Key | Default | Meaning |\n|---|---|---|\n"+
		"| `replicas` | `1` | How many: one \\| more. |\n"+
		"| `image.name` | `\"\"` | Its name. |\n"+
		"| `probe` | | About the probe. |\n"+
		"| `probe.period` | `1` | Seconds. |\n"+
		"| `labels` | `{}` | Free keys. |\n", table)

	_, err = valuesTable([]byte(values), []byte(`{"properties": {"replicas": {}}}`))
	require.ErrorContains(t, err, "image is not in the schema")
}

// The list has the changes below the first heading of the changelog, and none of earlier releases.
func TestReleaseChanges_ListsChangesOfFirstReleaseOnly(t *testing.T) {
	changes := releaseChanges(`# Changelog

## [Unreleased]

### Added

- **Waves.** VectorSidecars
  that **wait**.
- No title.

### Requirements

- **Kubernetes.** 1.25.

### Fixed

- **A crash.** Of all.

## [0.1.0]

### Added

- **Everything.** At first.
`)
	require.Equal(t, "- kind: added\n  description: Waves\n- kind: fixed\n  description: A crash\n", changes)
}

func TestWithChanges_ReplacesChangesAnnotation(t *testing.T) {
	chart, err := withChanges([]byte("annotations:\n  artifacthub.io/changes: |\n    - old\n    - older\n  b: c\n"), "- new\n")
	require.NoError(t, err)
	require.Equal(t, "annotations:\n  artifacthub.io/changes: |\n    - new\n  b: c\n", string(chart))

	_, err = withChanges([]byte("annotations: {}\n"), "- new\n")
	require.ErrorContains(t, err, "artifacthub.io/changes is missing")
}
