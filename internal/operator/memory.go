// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"runtime/debug"
)

// release gives memory back once the caches are filled: decoding the lists of a
// large fleet takes as much again as the records that are kept of it, and the
// collector would hold on to that for minutes.
type release struct{}

// Start is called by the manager when the caches are filled.
func (release) Start(context.Context) error {
	debug.FreeOSMemory()
	return nil
}

// NeedLeaderElection says that those that stand by have filled their caches, too.
func (release) NeedLeaderElection() bool { return false }
