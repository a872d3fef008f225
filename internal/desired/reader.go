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

// Reader provides the ConfigMaps for one reconcile and records which of them were read. Large ConfigMaps wait
// for the byte budget, and use a share of the budget until the Reader is released.
type Reader struct {
	ctx    context.Context
	inputs *Inputs
	share  *bounded.Share
	// configMaps are the lookup keys of the ConfigMaps that were read and counted.
	configMaps map[string]bool
	// missingAccounts are the names of the ServiceAccounts that are needed, but that the inputs do not contain.
	missingAccounts map[string]bool
	// err explains why the Reader has stopped, because the context has ended.
	err error
}

// NewReader returns a Reader for the ConfigMaps of the inputs. The caller must release it.
func NewReader(ctx context.Context, inputs *Inputs) *Reader {
	r := &Reader{ctx: ctx, inputs: inputs, configMaps: map[string]bool{}, missingAccounts: map[string]bool{}}
	r.share, r.err = inputs.Budget.Reserve(ctx, 0)
	return r
}

// ConfigMap returns the ConfigMap with a lookup key, or nil if it does not exist. It records the key. If it
// cannot wait for the budget, it records an error and returns nil.
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

// LackAccount records that a ServiceAccount is needed that the inputs do not contain.
func (r *Reader) LackAccount(name string) { r.missingAccounts[name] = true }

// LackedAccounts returns the sorted names of the ServiceAccounts that LackAccount recorded.
func (r *Reader) LackedAccounts() []string { return slices.Sorted(maps.Keys(r.missingAccounts)) }

// ConfigMapNames returns the sorted lookup keys of the ConfigMaps that were read. It also returns the keys of
// ConfigMaps that the inputs do not contain. They were treated as missing.
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

// HasUnread reports whether a ConfigMap was needed that the inputs do not contain.
func (r *Reader) HasUnread() bool {
	_, unread := r.ConfigMapNames()
	return len(unread) > 0
}

// Err returns the reason why the data is incomplete, or nil if it is complete.
func (r *Reader) Err() error { return r.err }

// reserve waits until a text with a number of bytes may be read. It returns false if the Reader must stop.
func (r *Reader) reserve(bytes int) bool {
	if r.err == nil {
		r.err = r.share.Extend(r.ctx, bytes)
	}
	return r.err == nil
}

// WaitForTurn pauses a long reconcile between two steps, so that waiting reconciles can run first. It returns
// an error if this reconcile must not continue.
func (r *Reader) WaitForTurn() error {
	if r.err == nil {
		r.err = cmp.Or(r.share.Reacquire(r.ctx), r.ctx.Err())
	}
	return r.err
}

// Release releases the Reader's share of the budget.
func (r *Reader) Release() { r.share.Release() }

// configMapSize returns the size of a ConfigMap's content in bytes, as the API server computes it for its
// limit.
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

// sources contains the inputs from which values are merged, and the ConfigMaps that were read.
type sources struct {
	*Inputs

	reader *Reader
	// read are the ConfigMaps with content that is part of the rendering, by lookup key.
	read map[string]*corev1.ConfigMap
}

// content returns a ConfigMap, or nil if it does not exist. It records that the content is part of the
// rendering.
func (s *sources) content(name string) *corev1.ConfigMap {
	object := s.reader.ConfigMap(name)
	if object != nil {
		s.read[name] = object
	}
	return object
}
