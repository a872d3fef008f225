// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
)

// reservation is what a decision has of the budget of bytes, for the texts that it reads
// until it ends.
type reservation struct {
	ctx   context.Context
	share *bounded.Share
	// asked are the ConfigMaps that were asked for, and are counted.
	asked map[string]bool
	// err says why the decision may not go on: the context ended.
	err error
}

// reserving returns the snapshot as a decision reads it: what is large waits for the
// budget. The reservation has to be released.
func (s *Snapshot) reserving(ctx context.Context) (*Snapshot, *reservation) {
	r := &reservation{ctx: ctx, asked: map[string]bool{}}
	r.share, r.err = s.Budget.Reserve(ctx, 0)
	reads := *s
	reads.reservation = r
	return &reads, r
}

// configMap returns a ConfigMap of the namespace, nil if there is none. What was not looked
// for is noted, as is what has to wait for the budget and cannot.
func (s *Snapshot) configMap(name string) *corev1.ConfigMap {
	object, r := s.ConfigMaps[name], s.reservation
	if r == nil || r.asked[name] {
		return object
	}
	r.asked[name] = true
	if object != nil && !r.take(sizeOf(object)) {
		return nil
	}
	return object
}

// unread are the ConfigMaps that were asked for and not looked for, in order.
func (r *reservation) unread(in *Snapshot) []string {
	if in.HasAllConfigMaps {
		return nil
	}
	var names []string
	for name := range r.asked {
		if _, isKnown := in.ConfigMaps[name]; !isKnown {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
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
