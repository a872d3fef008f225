// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// accountAge is the time after which a cached ServiceAccount is read again, because ServiceAccounts are not watched.
// Reconciles run at least every ReconcileInterval.
const accountAge = 5 * time.Minute

// accounts caches the ServiceAccounts that decisions have needed. Few workloads need one. A ServiceAccount that no
// decision has needed for 24 times accountAge is dropped.
type accounts struct {
	live client.Reader
	// isAllowed is true if the operator may get ServiceAccounts.
	isAllowed bool
	now       func() time.Time

	mu   sync.Mutex
	read map[types.NamespacedName]accountRead
}

type accountRead struct {
	account *workload.Account

	readTime time.Time
}

func newAccounts(live client.Reader, isAllowed bool) *accounts {
	return &accounts{live: live, isAllowed: isAllowed, now: time.Now, read: map[types.NamespacedName]accountRead{}}
}

// GetServiceAccount implements desired.ServiceAccountReader.
func (a *accounts) GetServiceAccount(ctx context.Context, name types.NamespacedName) (*workload.Account, error) {
	if !a.isAllowed {
		return &workload.Account{Unread: "the operator has no permission to read the ServiceAccount"}, nil
	}
	a.mu.Lock()
	entry, ok := a.read[name]
	a.mu.Unlock()
	if ok && a.now().Sub(entry.readTime) < accountAge {
		return entry.account, nil
	}
	account, err := source.Reader{Reader: a.live}.GetServiceAccount(ctx, name)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.read, func(_ types.NamespacedName, entry accountRead) bool {
		return a.now().Sub(entry.readTime) > 24*accountAge
	})
	a.read[name] = accountRead{account, a.now()}
	return account, nil
}
