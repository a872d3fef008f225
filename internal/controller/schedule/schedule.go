// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package schedule runs functions of the operator periodically. The input is an interval and a function; the output is a
// runnable of the manager.
package schedule

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// jitter is the maximum share by which a delay is prolonged at random, so that replicas and tasks spread their
// requests.
const jitter = 0.2

// Every returns a runnable of the leader. It calls f at once and then about once per interval, until the context ends
// or f returns an error. The error ends the operator.
func Every(interval time.Duration, f func(context.Context) error) manager.RunnableFunc {
	return func(ctx context.Context) error {
		for ctx.Err() == nil {
			if err := f(ctx); err != nil {
				return err
			}
			pause(ctx, interval)
		}
		return nil
	}
}

// Delay returns a runnable of the leader that waits for about a delay, and then runs another runnable.
func Delay(delay time.Duration, runnable manager.RunnableFunc) manager.RunnableFunc {
	return func(ctx context.Context) error {
		if pause(ctx, delay); ctx.Err() == nil {
			return runnable(ctx)
		}
		return nil
	}
}

// OnEveryReplica returns a runnable that also runs on standby replicas.
func OnEveryReplica(runnable manager.RunnableFunc) manager.Runnable { return replicaRunnable{runnable} }

// replicaRunnable is a runnable that also runs on standby replicas.
type replicaRunnable struct{ manager.RunnableFunc }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (replicaRunnable) NeedLeaderElection() bool { return false }

// pause waits for about a delay, or until the context ends.
func pause(ctx context.Context, delay time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(wait.Jitter(delay, jitter)):
	}
}

// NextRequeue returns the shortest wait, or 0 if all are 0. A wait of 0 means never.
func NextRequeue(waits ...time.Duration) (shortest time.Duration) {
	for _, wait := range waits {
		if wait > 0 && (shortest == 0 || wait < shortest) {
			shortest = wait
		}
	}
	return shortest
}
