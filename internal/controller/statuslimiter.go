// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"

	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// A status is written at most this often: twice at once, so that a change and what
// comes of it both show, and then once in this time. During a rollout each pass
// could tell another count.
const (
	statusInterval = time.Second
	statusBurst    = 2
)

// statusPace holds back the status of each VectorSidecar that is written too often.
type statusPace struct {
	now func() time.Time

	mu   sync.Mutex
	told map[types.NamespacedName]*told
}

// told is what was told of one VectorSidecar.
type told struct {
	limiter *rate.Limiter
	// changed tells that a workload was written to since.
	changed bool
	// status is the last one written, and version what the API server gave it, until
	// the cache shows it.
	status  *v1alpha1.VectorSidecarStatus
	version string
	// isUnknown reports whether the answer to the last write is: whichever status there
	// is now, it is neither that of the cache for certain nor the one written.
	isUnknown bool
}

func newStatusPace(now func() time.Time) *statusPace {
	return &statusPace{now: now, told: map[types.NamespacedName]*told{}}
}

// changed tells whether a workload was written to, in this pass or in one whose
// status was held back.
func (s *statusPace) changed(name types.NamespacedName, now bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.of(name)
	of.changed = of.changed || now
	return of.changed
}

// wrote notes a VectorSidecar as it is after its status was written.
func (s *statusPace) wrote(sidecar *v1alpha1.VectorSidecar) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.of(client.ObjectKeyFromObject(sidecar))
	of.status, of.version, of.isUnknown = sidecar.Status.DeepCopy(), sidecar.ResourceVersion, false
}

// failed notes that a write of the status had no good answer.
func (s *statusPace) failed(name types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of(name).isUnknown = true
}

// isUnknown reports whether nobody knows which status a VectorSidecar has.
func (s *statusPace) isUnknown(name types.NamespacedName) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of(name).isUnknown
}

// whole is a patch that gives a VectorSidecar a status whatever it has before: a
// difference to what it does not have would leave a part of that.
func whole(status *v1alpha1.VectorSidecarStatus) (client.Patch, error) {
	given, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		return nil, err
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[v1alpha1.VectorSidecarStatus]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if _, isGiven := given[name]; !isGiven {
			given[name] = nil
		}
	}
	text, err := json.Marshal(map[string]any{"status": given})
	if err != nil {
		return nil, err
	}
	return client.RawPatch(types.MergePatchType, text), nil
}

// last returns the status that a VectorSidecar has: its own, or the one written last if
// the cache, which shows our writes late, is behind that. Compared with the one before,
// a status that goes back to that would seem to be written already.
func (s *statusPace) last(sidecar *v1alpha1.VectorSidecar) *v1alpha1.VectorSidecarStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.of(client.ObjectKeyFromObject(sidecar))
	if of.status != nil && workloadcache.IsOlder(sidecar.ResourceVersion, of.version) {
		return of.status.DeepCopy()
	}
	of.status = nil
	return sidecar.Status.DeepCopy()
}

// wait returns how long the status has to wait; 0 if it may be written now, which
// counts as done.
func (s *statusPace) wait(name types.NamespacedName) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	of, now := s.of(name), s.now()
	reserved := of.limiter.ReserveN(now, 1)
	if left := reserved.DelayFrom(now); left > 0 {
		reserved.CancelAt(now)
		return left
	}
	of.changed = false
	return 0
}

func (s *statusPace) of(name types.NamespacedName) *told {
	if s.told[name] == nil {
		s.told[name] = &told{limiter: rate.NewLimiter(rate.Every(statusInterval), statusBurst)}
	}
	return s.told[name]
}

func (s *statusPace) forget(name types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.told, name)
}
