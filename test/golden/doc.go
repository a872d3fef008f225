// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package golden contains scenarios, one .txtar file each: the files of a user, and
// the expected results. They run through the kubectl plugin, which decides like the
// operator, and do not need a cluster. `go test ./test/golden -update` rewrites the
// expectations; the diff is the review.
//
// A scenario says no more than how it differs from its base. That is minimal-development
// for most; logs-shared-volume where the sidecar reads files, injected-already where the
// workload carries a sidecar, and mode-manual where nothing is injected. An input that is
// refused differs from one that is not. docs/how-to/operate/templates.md has the form.
package golden
