// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package election

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/utils/ptr"
)

const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// storedLease is an API server that stores one Lease.
type storedLease struct {
	coordinationclient.LeaseInterface

	mu      sync.Mutex
	lease   *coordinationv1.Lease
	version int
}

func (s *storedLease) Leases(string) coordinationclient.LeaseInterface { return s }

func (s *storedLease) store(lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	s.version++
	s.lease = lease.DeepCopy()
	s.lease.ResourceVersion = strconv.Itoa(s.version)
	return s.lease.DeepCopy(), nil
}

func (s *storedLease) notFound() error {
	return apierrors.NewNotFound(coordinationv1.Resource("leases"), "operator")
}

func (s *storedLease) Get(context.Context, string, metav1.GetOptions) (*coordinationv1.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lease == nil {
		return nil, s.notFound()
	}
	return s.lease.DeepCopy(), nil
}

func (s *storedLease) Create(_ context.Context, lease *coordinationv1.Lease, _ metav1.CreateOptions) (*coordinationv1.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lease != nil {
		return nil, apierrors.NewAlreadyExists(coordinationv1.Resource("leases"), "operator")
	}
	return s.store(lease)
}

func (s *storedLease) Update(_ context.Context, lease *coordinationv1.Lease, _ metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lease == nil {
		return nil, s.notFound()
	}
	if lease.ResourceVersion != s.lease.ResourceVersion {
		return nil, apierrors.NewConflict(coordinationv1.Resource("leases"), "operator", nil)
	}
	return s.store(lease)
}

// change is a write of somebody else.
func (s *storedLease) change(change func(*coordinationv1.Lease) *coordinationv1.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	if s.lease = change(s.lease.DeepCopy()); s.lease != nil {
		s.lease.ResourceVersion = strconv.Itoa(s.version)
	}
}

func heldBy(holder string) func(*coordinationv1.Lease) *coordinationv1.Lease {
	return func(lease *coordinationv1.Lease) *coordinationv1.Lease {
		lease.Spec.HolderIdentity = &holder
		return lease
	}
}

// replica is an operator that takes part in the election.
type replica struct {
	*Lock

	stop  context.CancelFunc
	ended chan struct{}
	ledAt time.Time
}

func newReplica(t *testing.T, server *storedLease) *replica {
	t.Helper()
	lock, err := New(&rest.Config{Host: "https://127.0.0.1:1"}, Options{
		Namespace: "vector-system", Name: "operator", RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
	})
	require.NoError(t, err)
	lock.Client = observedLeases{server, lock}
	return &replica{Lock: lock, ended: make(chan struct{})}
}

// start runs client-go's elector, as the manager does.
func (r *replica) start(t *testing.T, releases bool) {
	t.Helper()
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: r, LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod, ReleaseOnCancel: releases,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { r.ledAt = time.Now() },
			OnStoppedLeading: func() {},
		},
	})
	require.NoError(t, err)
	var ctx context.Context
	ctx, r.stop = context.WithCancel(t.Context())
	go func() {
		defer close(r.ended)
		elector.Run(ctx)
	}()
}

// Another replica ends with or without releasing the Lease. A standby leads after at most the Lease's duration and its
// own reading interval, which has a jitter.
func TestLock_LeadsAfterAnotherReplicaEnds(t *testing.T) {
	const longestPeriod = retryPeriod + time.Duration(leaderelection.JitterFactor*float64(retryPeriod))
	for name, test := range map[string]struct {
		isReleased      bool
		least, atLatest time.Duration
	}{
		"released": {true, 0, longestPeriod},
		"killed":   {false, leaseDuration, leaseDuration + 2*longestPeriod},
	} {
		t.Run(name, func(t *testing.T) {
			var pauses []time.Duration
			for i := range 100 {
				synctest.Test(t, func(t *testing.T) {
					server := &storedLease{}
					first, second := newReplica(t, server), newReplica(t, server)
					first.IsUnused = func(context.Context) (bool, error) { return true, nil }
					first.start(t, test.isReleased)
					synctest.Wait()
					second.start(t, true)
					time.Sleep(time.Minute + time.Duration(i)*20*time.Millisecond) //nolint:forbidigo // The clock is the test's own.
					synctest.Wait()
					require.True(t, first.isLeading())
					require.False(t, second.isLeading())

					first.stop()
					<-first.ended
					lease, err := server.Get(t.Context(), "operator", metav1.GetOptions{})
					require.NoError(t, err)
					time.Sleep(time.Minute) //nolint:forbidigo // As above.
					synctest.Wait()

					require.False(t, first.isLeading())
					require.True(t, second.isLeading())
					pauses = append(pauses, second.ledAt.Sub(lease.Spec.RenewTime.Time))
					second.stop()
					<-second.ended
				})
			}
			slices.Sort(pauses)
			t.Logf("a standby replica led %s, in the median %s, and at the latest %s after the last write of the other", pauses[0], pauses[len(pauses)/2], pauses[len(pauses)-1])
			require.GreaterOrEqual(t, pauses[0], test.least)
			require.LessOrEqual(t, pauses[len(pauses)-1], test.atLatest)
		})
	}
}

// A user deletes the Lease or another replica takes it. The leader detects this at its next renewal, long before the
// next leader may write.
func TestLock_DetectsLostLeaseAtRenewal(t *testing.T) {
	for name, test := range map[string]struct {
		change func(lease *coordinationv1.Lease) *coordinationv1.Lease
		want   string
	}{
		"deleted":          {func(*coordinationv1.Lease) *coordinationv1.Lease { return nil }, "another client deleted Lease "},
		"without a holder": {heldBy(""), "another client removed the holder of Lease "},
		"of another":       {heldBy("other"), "replica other now owns Lease "},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &storedLease{}
				leader := newReplica(t, server)
				leader.start(t, true)
				time.Sleep(time.Minute) //nolint:forbidigo // The clock is the test's own.
				synctest.Wait()
				require.True(t, leader.isLeading())

				changed := time.Now()
				server.change(test.change)
				err := leader.Start(t.Context())

				require.ErrorContains(t, err, test.want)
				require.LessOrEqual(t, time.Since(changed), retryPeriod)
				require.False(t, leader.isLeading())
				leader.stop()
				<-leader.ended
			})
		})
	}
}

// The Lease may have been deleted while its holder still writes. The next leader waits for as long as that holder may
// write.
func TestLock_WaitsIfLeaseWasDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		leader := newReplica(t, &storedLease{})
		leader.start(t, true)
		time.Sleep(leaseDuration - time.Second) //nolint:forbidigo // The clock is the test's own.
		synctest.Wait()
		require.False(t, leader.isLeading())
		time.Sleep(time.Minute) //nolint:forbidigo // As above.
		synctest.Wait()

		require.True(t, leader.isLeading())
		require.GreaterOrEqual(t, leader.ledAt.Sub(started), leaseDuration)
		leader.stop()
		<-leader.ended
	})
}

// A lower resource version of the Lease shows that etcd was restored from a snapshot. The leader then loses the lock,
// because its cache is newer than the stored objects.
func TestLock_DetectsRestoredEtcd(t *testing.T) {
	server := &storedLease{version: 20}
	lock := newReplica(t, server).Lock
	_, err := server.store(&coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("other")}})
	require.NoError(t, err)
	_, _, err = lock.Get(t.Context())
	require.NoError(t, err)

	server.version = 18
	_, err = server.store(server.lease)
	require.NoError(t, err)
	_, _, err = lock.Get(t.Context())

	require.ErrorContains(t, err, "resource version decreased from 21 to 19, because etcd was restored")
	require.ErrorContains(t, lock.Start(t.Context()), "etcd was restored")
	_, _, err = lock.Get(t.Context())
	require.ErrorIs(t, err, context.Canceled, "it is as if the process were stopped")
}
