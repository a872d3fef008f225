// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"cmp"
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
)

// Reader returns the ConfigMaps for one reconcile, and records which were read. Large ones wait for
// the byte budget, and use their share until the Reader is released.
type Reader struct {
	ctx    context.Context
	inputs *Inputs
	share  *bounded.Share
	// configMaps are the ConfigMaps that were read and counted.
	configMaps map[string]bool
	// missingAccounts are the ServiceAccounts that are needed and were not looked up.
	missingAccounts map[string]bool
	// err explains why reading must stop: the context ended.
	err error
}

// NewReader returns a Reader of the inputs' ConfigMaps. The caller must release it.
func NewReader(ctx context.Context, inputs *Inputs) *Reader {
	r := &Reader{ctx: ctx, inputs: inputs, configMaps: map[string]bool{}, missingAccounts: map[string]bool{}}
	r.share, r.err = inputs.Budget.Reserve(ctx, 0)
	return r
}

// ConfigMap returns a ConfigMap of the namespace, nil if it does not exist. It records whether the
// ConfigMap was looked up, and an error if waiting for the budget fails.
func (r *Reader) ConfigMap(name string) *corev1.ConfigMap {
	object := r.inputs.ConfigMaps[name]
	if r.configMaps[name] {
		return object
	}
	r.configMaps[name] = true
	if object != nil && !r.reserve(configMapSize(object)) {
		return nil
	}
	return object
}

// LackAccount records that a ServiceAccount is needed that was not looked up.
func (r *Reader) LackAccount(name string) { r.missingAccounts[name] = true }

// LackedAccounts returns the sorted names of the ServiceAccounts that LackAccount recorded.
func (r *Reader) LackedAccounts() []string { return slices.Sorted(maps.Keys(r.missingAccounts)) }

// ConfigMapNames returns the sorted names of the ConfigMaps that were read, and the names among them that
// were not looked up. These were treated as missing.
func (r *Reader) ConfigMapNames() (names, unread []string) {
	names = slices.Sorted(maps.Keys(r.configMaps))
	if r.inputs.HasAllConfigMaps {
		return names, nil
	}
	for _, name := range names {
		if _, isKnown := r.inputs.ConfigMaps[name]; !isKnown {
			unread = append(unread, name)
		}
	}
	return names, unread
}

// HasUnread reports whether a ConfigMap was read that was not looked up.
func (r *Reader) HasUnread() bool {
	_, unread := r.ConfigMapNames()
	return len(unread) > 0
}

// Err explains why the read data is incomplete, nil if it is complete.
func (r *Reader) Err() error { return r.err }

// reserve waits until a text of that size may be read. It returns false if reading must stop.
func (r *Reader) reserve(bytes int) bool {
	if r.err == nil {
		r.err = r.share.Extend(r.ctx, bytes)
	}
	return r.err == nil
}

// WaitForTurn lets waiting reconciles run first, between two steps of a long reconcile. The error
// explains why this reconcile may not continue.
func (r *Reader) WaitForTurn() error {
	if r.err == nil {
		r.err = cmp.Or(r.share.Reacquire(r.ctx), r.ctx.Err())
	}
	return r.err
}

// Release returns the share of the budget.
func (r *Reader) Release() { r.share.Release() }

// configMapSize returns the size that the API server checks against its limit.
func configMapSize(object *corev1.ConfigMap) int {
	size := 0
	for _, text := range object.Data {
		size += len(text)
	}
	for _, data := range object.BinaryData {
		size += len(data)
	}
	return size
}

// sources are the inputs from which values are merged, with the ConfigMaps that were read.
type sources struct {
	*Inputs

	reader *Reader
	// read are the ConfigMaps with rendered content, by name.
	read map[string]*corev1.ConfigMap
}

// content reads a ConfigMap and records that its content is rendered. It returns nil if the
// ConfigMap does not exist.
func (s *sources) content(name string) *corev1.ConfigMap {
	object := s.reader.ConfigMap(name)
	if object != nil {
		s.read[name] = object
	}
	return object
}
