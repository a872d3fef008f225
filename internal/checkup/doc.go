// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package checkup checks whether an installation is healthy, and changes nothing. A Diagnosis checks it from outside,
// with the objects that a user may read. Test checks it from inside the cluster, for helm test. Both return results
// with a state and a hint for each check.
package checkup
