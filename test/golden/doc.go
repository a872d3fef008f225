// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package golden holds scenarios, one .txtar file each: what a person wrote, and
// what comes of it. They run through the kubectl plugin, whose judgement is the
// operator's own, and need no cluster. `go test ./test/golden -update` rewrites the
// expectations; the diff is the review.
//
// A file may hold workload.yaml and vectorsidecar.yaml, which it must, configmaps.yaml,
// values.yaml (what the installation gave for the environment), environment,
// kube-version, and one expectation: want.yaml or want-error.
package golden
