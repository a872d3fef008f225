// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// poll calls a check about once per interval until the context ends.
func poll(ctx context.Context, interval time.Duration, check func(ctx context.Context)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait.Jitter(interval, 0.2)):
			check(ctx)
		}
	}
}
