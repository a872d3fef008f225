// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"cmp"
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
	// err says why the decision may not go on: the context ended, or a ConfigMap cannot
	// be read.
	err error
}

// reserving returns the snapshot as a decision reads it: what is large waits for the
// budget. The reservation has to be released.
func (s *Snapshot) reserving(ctx context.Context) (*Snapshot, *reservation) {
	r := &reservation{ctx: ctx, read: map[string]bool{}}
	r.share, r.err = s.Budget.Reserve(ctx, 0)
	reads := *s
	reads.reservation = r
	reads.ConfigMap = func(name string) (*corev1.ConfigMap, error) {
		object, err := s.ConfigMap(name)
		if r.err == nil {
			r.err = err
		}
		if object == nil || err != nil || r.read[name] {
			return object, err
		}
		r.read[name] = true
		if !r.take(sizeOf(object)) {
			return nil, r.err
		}
		return object, nil
	}
	return &reads, r
}

// configMap returns a ConfigMap of the namespace, nil if there is none, and if it cannot
// be read: the reservation has that error, and the decision ends with it.
func (s *Snapshot) configMap(name string) *corev1.ConfigMap {
	object, err := s.ConfigMap(name)
	if err != nil {
		return nil
	}
	return object
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
// says why the decision may not go on.
func (r *reservation) yield() error {
	if r.err == nil {
		r.err = cmp.Or(r.share.Yield(r.ctx), r.ctx.Err())
	}
	return r.err
}

func (r *reservation) release() { r.share.Release() }
