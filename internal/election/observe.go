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

// observedLeases is a client that passes its responses to the lock.
type observedLeases struct {
	coordinationclient.LeasesGetter
	lock *Lock
}

// Leases returns the client for the Leases of a namespace. It implements coordinationclient.LeasesGetter.
func (o observedLeases) Leases(namespace string) coordinationclient.LeaseInterface {
	return observedLease{o.LeasesGetter.Leases(namespace), o.lock}
}

// observedLease is a client for one namespace that passes its responses to the lock.
type observedLease struct {
	coordinationclient.LeaseInterface
	lock *Lock
}

// Get reads a Lease and passes the response to the lock.
func (o observedLease) Get(ctx context.Context, name string, options metav1.GetOptions) (*coordinationv1.Lease, error) {
	return o.lock.recordVersion(o.LeaseInterface.Get(ctx, name, options))
}

// Create creates a Lease and passes the response to the lock.
func (o observedLease) Create(ctx context.Context, lease *coordinationv1.Lease, options metav1.CreateOptions) (*coordinationv1.Lease, error) {
	return o.lock.recordVersion(o.LeaseInterface.Create(ctx, lease, options))
}

// Update writes a Lease and passes the response to the lock.
func (o observedLease) Update(ctx context.Context, lease *coordinationv1.Lease, options metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	return o.lock.recordVersion(o.LeaseInterface.Update(ctx, lease, options))
}

// recordVersion records the resource version of a Lease, and returns its arguments. A lower resource version than
// before means that etcd was restored to an earlier state. The lease is then lost for good, because everything that
// was read before is invalid.
func (l *Lock) recordVersion(lease *coordinationv1.Lease, err error) (*coordinationv1.Lease, error) {
	if err != nil {
		return lease, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if order, err := resourceversion.CompareResourceVersion(lease.ResourceVersion, l.resourceVersion); err == nil && order < 0 {
		l.lose(fmt.Errorf("Lease %s: resource version decreased from %s to %s, because etcd was restored from an earlier snapshot; restarting the operator, because its cached state is invalid", //nolint:staticcheck // A kind has a capital letter.
			l.Describe(), l.resourceVersion, lease.ResourceVersion))
	} else {
		l.resourceVersion = lease.ResourceVersion
	}
	return lease, nil
}
