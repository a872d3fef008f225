// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package election

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// observedLeases are those of a client whose answers the lock takes note of.
type observedLeases struct {
	coordinationclient.LeasesGetter
	lock *Lock
}

// Leases are those of a namespace.
func (o observedLeases) Leases(namespace string) coordinationclient.LeaseInterface {
	return observedLease{o.LeasesGetter.Leases(namespace), o.lock}
}

type observedLease struct {
	coordinationclient.LeaseInterface
	lock *Lock
}

// Get reads a Lease: the latest that there is.
func (o observedLease) Get(ctx context.Context, name string, options metav1.GetOptions) (*coordinationv1.Lease, error) {
	return o.lock.observe(o.LeaseInterface.Get(ctx, name, options))
}

// Create makes a Lease.
func (o observedLease) Create(ctx context.Context, lease *coordinationv1.Lease, options metav1.CreateOptions) (*coordinationv1.Lease, error) {
	return o.lock.observe(o.LeaseInterface.Create(ctx, lease, options))
}

// Update writes a Lease.
func (o observedLease) Update(ctx context.Context, lease *coordinationv1.Lease, options metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	return o.lock.observe(o.LeaseInterface.Update(ctx, lease, options))
}

// observe notes the version of a Lease as it is stored. It never goes back, unless the API
// server's data does: then nothing is true any more that was read before.
func (l *Lock) observe(lease *coordinationv1.Lease, err error) (*coordinationv1.Lease, error) {
	if err != nil {
		return lease, err
	}
	if l.isOlder(lease) {
		l.lose(fmt.Errorf("Lease %s has gone back from resource version %s to %s: etcd was restored from an earlier snapshot, so that what was read before is not true any more; the operator has to start anew", //nolint:staticcheck // A kind has a capital letter.
			l.Describe(), l.version(), lease.ResourceVersion))
	}
	return lease, nil
}

// isOlder tells whether a Lease is of an earlier version than one that was seen before,
// and notes it if not. A watch may be behind, so that of what it tells only the latter
// counts.
func (l *Lock) isOlder(lease *coordinationv1.Lease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if order, err := resourceversion.CompareResourceVersion(lease.ResourceVersion, l.seen); err == nil && order < 0 {
		return true
	}
	l.seen = lease.ResourceVersion
	return false
}

// version is the last one that was seen.
func (l *Lock) version() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen
}
