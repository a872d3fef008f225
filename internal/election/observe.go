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

// Leases implements coordinationclient.LeasesGetter.
func (o observedLeases) Leases(namespace string) coordinationclient.LeaseInterface {
	return observedLease{o.LeasesGetter.Leases(namespace), o.lock}
}

type observedLease struct {
	coordinationclient.LeaseInterface
	lock *Lock
}

// Get reads the latest version of a Lease.
func (o observedLease) Get(ctx context.Context, name string, options metav1.GetOptions) (*coordinationv1.Lease, error) {
	return o.lock.observe(o.LeaseInterface.Get(ctx, name, options))
}

// Create creates a Lease.
func (o observedLease) Create(ctx context.Context, lease *coordinationv1.Lease, options metav1.CreateOptions) (*coordinationv1.Lease, error) {
	return o.lock.observe(o.LeaseInterface.Create(ctx, lease, options))
}

// Update writes a Lease.
func (o observedLease) Update(ctx context.Context, lease *coordinationv1.Lease, options metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	return o.lock.observe(o.LeaseInterface.Update(ctx, lease, options))
}

// observe records the resource version of a Lease. Reads and writes never return an older one
// unless etcd was restored to an earlier state: then everything read before is invalid.
func (l *Lock) observe(lease *coordinationv1.Lease, err error) (*coordinationv1.Lease, error) {
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
