// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package overlayset

import (
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/overlayset"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
)

// admissionLag is the time for which an API server may use an earlier OverlaySet, because each API server has a
// cache. In that time, it may inject a sidecar that the OverlaySet no longer has.
const admissionLag = 5 * time.Second

// Memory has the state that the Reconciler shares with the reconciles of VectorSidecars: these request changes of
// OverlaySets and read the results. It is safe for concurrent use.
type Memory struct {
	clock func() time.Time
	// isEnabled is false if the installation does not use admission injection. No method then does anything.
	isEnabled bool
	// notifier wakes the Reconciler.
	notifier notify.Notifier

	mu         sync.Mutex
	namespaces map[string]*namespaceState
}

// namespaceState is the cached state of a namespace. Only Memory uses sidecars, and only Reconcile uses the other fields.
type namespaceState struct {
	sidecars map[string]*sidecarState
	// overlays has the overlays of VectorSidecars, by their name. It is nil before the OverlaySet has been read.
	overlays map[string]overlayset.SidecarOverlays
	// dryRuns has the results of the dry runs of overlays, by their digests: the reason of a rejection, or "" if the
	// API server accepts the overlay.
	dryRuns map[string]string
	// replaced is the resource version that the write of written replaced. Until the cache shows another version,
	// written is the current OverlaySet.
	replaced string
	written  *v1alpha1.OverlaySet
	// wroteAt is the time of this process's last write of the OverlaySet, or zero for never.
	wroteAt time.Time
}

// sidecarState is the cached state of a VectorSidecar, or of a ClusterVectorSidecar in a namespace.
type sidecarState struct {
	// request is the last requested change, or nil after it was made. err is the error of the last attempt.
	request *request
	err     error
	// rejected is a rejected write of a workload with the sidecar, zero for none.
	rejected rejectedWrite
	// removalTime is the time when the overlays of the VectorSidecar were removed from the OverlaySet, or zero if it
	// may still have some.
	removalTime time.Time
	// isGone is true if the VectorSidecar does not exist.
	isGone bool
}

// request is a requested change of the overlays of a VectorSidecar. If sidecar is nil, the overlays are removed.
type request struct {
	sidecar    *v1alpha1.VectorSidecar
	overlays   []desired.AdmissionOverlay
	skipReason string
}

// rejectedWrite is a rejected write of a workload with a sidecar. If the API server injected the sidecar, admission
// would also reject the workload of the application owner.
type rejectedWrite struct{ hash, reason string }

// NewMemory returns a Memory without state. If isEnabled is false, the installation does not use admission injection.
func NewMemory(clock func() time.Time, isEnabled bool) *Memory {
	return &Memory{clock: clock, isEnabled: isEnabled, namespaces: map[string]*namespaceState{}}
}

// RequestUpdate requests that the OverlaySet gets the admission overlays of a decision.
func (m *Memory) RequestUpdate(sidecar *v1alpha1.VectorSidecar, d *decision.Decision) {
	skipReason := d.OverlayBlocker
	if d.Invalid != nil {
		skipReason = d.Invalid.Message
	}
	if !m.isEnabled || len(d.Overlays) == 0 && skipReason == "" {
		return // Without both, rendering timed out, and the OverlaySet stays unchanged.
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	sidecarState := m.getOrCreate(client.ObjectKeyFromObject(sidecar))
	sidecarState.isGone, sidecarState.removalTime = false, time.Time{}
	sidecarState.request = &request{overlays: d.Overlays, skipReason: skipReason, sidecar: &v1alpha1.VectorSidecar{
		ObjectMeta: metav1.ObjectMeta{Namespace: sidecar.Namespace, Name: sidecar.Name}, Spec: *sidecar.Spec.DeepCopy(),
	}}
	if rejected := sidecarState.rejected; slices.ContainsFunc(d.Overlays, rejected.concerns) {
		sidecarState.request.overlays, sidecarState.request.skipReason = nil, rejected.reason
	}
	m.wake(sidecar.Namespace)
}

// RequestRemoval requests the removal of the overlays of a VectorSidecar that the API server may not inject. It
// reports whether the removal is pending: not made and not failed. The VectorSidecar is reconciled again afterwards.
func (m *Memory) RequestRemoval(sidecar *v1alpha1.VectorSidecar) (isPending bool) {
	if !m.isEnabled || CanInject(sidecar) {
		return false
	}
	name := client.ObjectKeyFromObject(sidecar)
	m.mu.Lock()
	defer m.mu.Unlock()
	sidecarState := m.getOrCreate(name)
	if !sidecarState.removalTime.IsZero() {
		return false
	}
	if sidecarState.request == nil || sidecarState.request.sidecar != nil {
		sidecarState.request, sidecarState.err = &request{}, nil
		m.wake(name.Namespace)
	}
	return sidecarState.err == nil
}

// RecordWrites records the rejected writes of workloads with the sidecar. The API server does not inject a rejected
// sidecar until a write of it is accepted or the sidecar changes.
func (m *Memory) RecordWrites(sidecar *v1alpha1.VectorSidecar, d *decision.Decision, results decision.Results) {
	if m.isEnabled && m.recordRejections(client.ObjectKeyFromObject(sidecar), results) {
		m.RequestUpdate(sidecar, d)
	}
}

// recordRejections records whether the writes of a VectorSidecar's sidecar are rejected, and reports whether that has
// changed.
func (m *Memory) recordRejections(name types.NamespacedName, results decision.Results) (hasChanged bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sidecarState := m.getOrCreate(name)
	for i := range results {
		p, writeState, err := results[i].Plan, results[i].State, results[i].Err
		isSent := writeState == decision.WriteAccepted || writeState == decision.WriteRejected || writeState == decision.WriteFailed
		if !isSent || p.IsDeferred() { // A deferred write did not contain the sidecar.
			continue
		}
		isSame := sidecarState.rejected.hash == p.WholeHash()
		switch {
		case err == nil && isSame && sidecarState.rejected != rejectedWrite{}:
			sidecarState.rejected, hasChanged = rejectedWrite{}, true
		case apply.IsDenied(err) && p.Change != plan.Remove && !isSame:
			sidecarState.rejected = rejectedWrite{p.WholeHash(), fmt.Sprintf("the API server rejects workload %s with the sidecar: %v", status.WorkloadTitle(p.Target), err)}
			hasChanged = true
		}
	}
	return hasChanged
}

// concerns reports whether an overlay contains the rejected sidecar.
func (r rejectedWrite) concerns(overlay desired.AdmissionOverlay) bool {
	return r.reason != "" && overlay.Rendered.Desired.InjectedHash() == r.hash
}

// Err returns the error of the last requested change of a VectorSidecar. It returns nil if the change was made or is
// pending.
func (m *Memory) Err(name types.NamespacedName) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if namespaceState := m.namespaces[name.Namespace]; namespaceState != nil && namespaceState.sidecars[name.Name] != nil {
		return namespaceState.sidecars[name.Name].err
	}
	return nil
}

// RemainingLag returns the time for which an API server may still inject a sidecar after the removal from the
// OverlaySet. It returns admissionLag before the removal.
func (m *Memory) RemainingLag(name types.NamespacedName) time.Duration {
	if !m.isEnabled {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	removalTime := m.getOrCreate(name).removalTime
	if removalTime.IsZero() {
		return admissionLag
	}
	return max(0, admissionLag-m.clock().Sub(removalTime))
}

// Forget drops the state of a VectorSidecar that does not exist, and requests its removal from the OverlaySet.
func (m *Memory) Forget(name types.NamespacedName) {
	if !m.isEnabled {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	*m.getOrCreate(name) = sidecarState{request: &request{}, isGone: true}
	m.wake(name.Namespace)
}

// pendingRequests returns the state of a namespace, and the requests for it by the names of VectorSidecars.
func (m *Memory) pendingRequests(namespace string) (*namespaceState, map[string]*request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	requests := map[string]*request{}
	current := m.getOrCreateNamespace(namespace)
	for name, sidecarState := range current.sidecars {
		if sidecarState.request != nil {
			requests[name] = sidecarState.request
		}
	}
	return current, requests
}

// finishRequests records the results of requests. It returns the VectorSidecars that wait for them. It drops the
// state of a namespace that has no VectorSidecars left.
func (m *Memory) finishRequests(namespace string, requests map[string]*request, errs map[string]error) (waiting []types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sidecars := m.namespaces[namespace].sidecars
	for name, request := range requests {
		sidecarState := sidecars[name]
		isRemoved := errs[name] == nil && request.sidecar == nil
		if !sidecarState.isGone && (isRemoved || (sidecarState.err == nil) != (errs[name] == nil)) {
			waiting = append(waiting, types.NamespacedName{Namespace: namespace, Name: name})
		}
		sidecarState.err = errs[name]
		if errs[name] != nil || sidecarState.request != request {
			continue // The next reconcile makes the change.
		}
		sidecarState.request = nil
		if isRemoved {
			sidecarState.removalTime = m.clock()
		}
		if sidecarState.isGone {
			delete(sidecars, name)
		}
	}
	if len(sidecars) == 0 && len(m.namespaces[namespace].overlays) == 0 {
		delete(m.namespaces, namespace)
	}
	return waiting
}

// wake requests a reconcile of a namespace. The caller holds the mutex.
func (m *Memory) wake(namespace string) {
	m.notifier.Notify(types.NamespacedName{Namespace: namespace, Name: meta.OverlaySet})
}

// getOrCreate returns the state of a VectorSidecar. The caller holds the mutex.
func (m *Memory) getOrCreate(name types.NamespacedName) *sidecarState {
	sidecars := m.getOrCreateNamespace(name.Namespace).sidecars
	if sidecars[name.Name] == nil {
		sidecars[name.Name] = &sidecarState{}
	}
	return sidecars[name.Name]
}

// getOrCreateNamespace returns the state of a namespace. The caller holds the mutex.
func (m *Memory) getOrCreateNamespace(namespace string) *namespaceState {
	if m.namespaces[namespace] == nil {
		m.namespaces[namespace] = &namespaceState{sidecars: map[string]*sidecarState{}, dryRuns: map[string]string{}}
	}
	return m.namespaces[namespace]
}
