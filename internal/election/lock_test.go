// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package election

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// broken is a misbehaving API server: its watches are silent, and its Lease has whichever
// resource version a test sets.
type broken struct {
	version atomic.Pointer[string]
	reads   atomic.Int32
	watches chan struct{}
}

func (b *broken) lock(t *testing.T) *Lock {
	t.Helper()
	b.watches = make(chan struct{}, 100)
	b.version.Store(ptr.To("20"))
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	lock, err := New(&rest.Config{Host: server.URL}, Options{Namespace: "vector-system", Name: "operator", RenewDeadline: time.Minute, RetryPeriod: time.Second})
	require.NoError(t, err)
	return lock
}

// ServeHTTP implements http.Handler.
func (b *broken) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if request.URL.Query().Get("watch") != "" {
		w.(http.Flusher).Flush()
		b.watches <- struct{}{}
		<-request.Context().Done()
		return
	}
	b.reads.Add(1)
	_ = json.NewEncoder(w).Encode(&coordinationv1.Lease{
		TypeMeta:   metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "vector-system", Name: "operator", ResourceVersion: *b.version.Load()},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("another"), LeaseDurationSeconds: ptr.To(int32(3600))},
	})
}

// The connection stays open but nothing arrives any more: the Lease is read again, and
// another watch opened, long before the lease would expire.
func TestAWatchThatIsSilentIsOpenedAnew(t *testing.T) {
	server := &broken{}
	lock := server.lock(t)
	lock.watchTimeout = time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, _, err := lock.Get(ctx)
		ended <- err
	}()

	for range 3 {
		<-server.watches
	}

	require.GreaterOrEqual(t, server.reads.Load(), int32(3))
	cancel()
	require.NoError(t, <-ended)
}

// etcd was restored from a snapshot: what a standby replica has read is outdated, too.
func TestAVersionThatGoesBackIsTheEnd(t *testing.T) {
	server := &broken{}
	lock := server.lock(t)
	_, _, err := lock.look(t.Context())
	require.NoError(t, err)

	server.version.Store(ptr.To("19"))
	_, _, err = lock.look(t.Context())

	require.ErrorContains(t, err, "from resource version 20 to 19: etcd was restored")
	require.ErrorContains(t, lock.Start(t.Context()), "etcd was restored")
	_, _, err = lock.Get(t.Context())
	require.ErrorIs(t, err, context.Canceled, "it is as if the process were stopped")
}
