// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package vector runs rendered configurations with a real Vector: the program that the
// variable VECTOR names, or the one in PATH. Where there is none, these tests are skipped.
// It also makes mutants of every option that Vector's components have, and compares what the
// check says of them with the tables, and with what Vector says, also of every preset with every
// option, of every configuration in the repository and of a table of values, which Vector is also asked about as when it starts: allowed.tsv lists where the
// two may differ. It does the same with VRL programs: calls of every function, and mutants. -seed and -mutants choose which, and how many.
// It runs no container and no kubelet; what a kubelet would ask is asked here.
package vector
