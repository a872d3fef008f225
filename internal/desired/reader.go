// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"cmp"
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Reader reads the objects that one evaluation of Inputs needs, and records them. Before it reads a large ConfigMap, it
// waits for a share of the byte budget, which it uses until it is released. After a failed read, it returns nil for all
// objects, and Err returns the error. A Reader is not safe for concurrent use.
type Reader struct {
	ctx    context.Context
	inputs *Inputs
	share  *bounded.Share
	// configMaps are the ConfigMaps that were read, by their lookup keys. A missing ConfigMap is nil.
	configMaps map[string]*corev1.ConfigMap
	// accounts are the ServiceAccounts that were read, by name.
	accounts map[string]*workload.Account
	// err explains why the Reader has stopped: a read has failed, or the context has ended.
	err error
}

// NewReader returns a Reader for the objects of the inputs. The caller must call Release.
func NewReader(ctx context.Context, inputs *Inputs) *Reader {
	r := &Reader{ctx: ctx, inputs: inputs, configMaps: map[string]*corev1.ConfigMap{}, accounts: map[string]*workload.Account{}}
	r.share, r.err = inputs.Budget.Reserve(ctx, 0)
	return r
}

// ConfigMap returns the ConfigMap with a lookup key, or nil if it does not exist, and records the key. If the ConfigMap
// cannot be read, or the context ends during the wait for the budget, it records an error and returns nil.
func (r *Reader) ConfigMap(key string) *corev1.ConfigMap {
	object, isRead := r.configMaps[key]
	if isRead || r.err != nil {
		return object
	}
	if object, isRead = r.inputs.Pinned[key]; !isRead {
		r.share.Release() // During the request, other reconciles may use the budget.
		object, r.err = r.inputs.ConfigMaps.GetConfigMap(r.ctx, ConfigMapNamed(r.inputs.Sidecar.Namespace, key))
	}
	size := 0
	if object != nil {
		size = configMapSize(object)
	}
	if !r.reserve(size) {
		return nil
	}
	r.configMaps[key] = object
	return object
}

// Account returns a ServiceAccount of the VectorSidecar's namespace. If it cannot be read, Account records an error and
// returns nil.
func (r *Reader) Account(name string) *workload.Account {
	account, isRead := r.accounts[name]
	if isRead || r.err != nil {
		return account
	}
	r.share.Release() // During the request, other reconciles may use the budget.
	account, r.err = r.inputs.Accounts.GetServiceAccount(r.ctx, types.NamespacedName{Namespace: r.inputs.Sidecar.Namespace, Name: name})
	if !r.reserve(0) {
		return nil
	}
	r.accounts[name] = account
	return account
}

// FindAccount returns the ServiceAccount with a name that the Reader has already read, or nil for none.
func (r *Reader) FindAccount(name string) *workload.Account { return r.accounts[name] }

// ConfigMapKeys returns the sorted lookup keys of the ConfigMaps that were read.
func (r *Reader) ConfigMapKeys() []string { return slices.Sorted(maps.Keys(r.configMaps)) }

// Err returns the error because of which the Reader has stopped, or nil if it has not stopped.
func (r *Reader) Err() error { return r.err }

// reserve waits until the budget allows a text with a number of bytes. It returns false if the Reader has stopped.
func (r *Reader) reserve(bytes int) bool {
	if r.err == nil {
		r.err = r.share.Extend(r.ctx, bytes)
	}
	return r.err == nil
}

// WaitForTurn pauses a long reconcile between two steps, so that other reconciles can use the budget. It returns an
// error if the Reader has stopped or the context has ended.
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

// sources contains the inputs from which values are merged. read are the ConfigMaps that they were merged from.
type sources struct {
	*Inputs

	reader *Reader
	// read are the ConfigMaps with content that is part of the rendering, by their lookup keys.
	read map[string]*corev1.ConfigMap
}

// content returns the ConfigMap with a lookup key, or nil if it does not exist. It records that the content is part of
// the rendering.
func (s *sources) content(name string) *corev1.ConfigMap {
	object := s.reader.ConfigMap(name)
	if object != nil {
		s.read[name] = object
	}
	return object
}
