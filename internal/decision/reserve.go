// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
)

// reservation is what a decision has of the budget of bytes, for the texts that it reads
// until it ends.
type reservation struct {
	ctx   context.Context
	share *bounded.Share
	// read are the ConfigMaps that are counted already.
	read map[string]bool
	// err says why the decision may not go on.
	err error
}

// reserving returns the snapshot as a decision reads it: what is large waits for the
// budget. The reservation has to be released.
func (s *Snapshot) reserving(ctx context.Context) (*Snapshot, *reservation) {
	r := &reservation{ctx: ctx, read: map[string]bool{}}
	r.share, r.err = s.Budget.Reserve(ctx, 0)
	reads := *s
	reads.reservation = r
	reads.ConfigMap = func(name string) *corev1.ConfigMap {
		object := s.ConfigMap(name)
		if object == nil || r.read[name] {
			return object
		}
		r.read[name] = true
		if !r.take(sizeOf(object)) {
			return nil
		}
		return object
	}
	return &reads, r
}

// take waits until a text of so many bytes may be read; false says that the decision has
// to end. Without a reservation nobody waits.
func (r *reservation) take(bytes int) bool {
	if r == nil {
		return true
	}
	if r.err == nil {
		r.err = r.share.Extend(r.ctx, bytes)
	}
	return r.err == nil
}

// yield lets others go first who wait, between two steps of a long decision. The error
// is the context's.
func (r *reservation) yield() error {
	if r.err == nil {
		r.err = r.share.Yield(r.ctx)
	}
	return r.ctx.Err()
}

func (r *reservation) release() { r.share.Release() }
