// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// heapRatio is the part of the container's memory limit that the Go runtime may use. The rest
	// is for other memory, for example of the kernel.
	heapRatio = 0.9
	// limitInterval is the interval for reading the container's limit, which may be resized at run
	// time.
	limitInterval = time.Minute
)

// limitMemory sets the Go runtime's soft memory limit to heapRatio of the container's limit, and repeats that until
// the context is canceled. It does nothing if GOMEMLIMIT is set.
func limitMemory(ctx context.Context) {
	if _, err := memlimit.Set(memlimit.WithRatio(heapRatio), memlimit.WithRefreshInterval(ctx, limitInterval)); err != nil {
		log.Log.Info("cannot read the container's memory limit", "cause", err.Error())
	}
}
