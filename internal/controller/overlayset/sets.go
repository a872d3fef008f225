// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package overlayset writes the OverlaySets, from which the API server injects sidecars. The input is the admission
// overlays in decisions on VectorSidecars; the output is the OverlaySet of each namespace.
package overlayset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/overlayset"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
)

// Sets keeps the OverlaySet of each namespace up to date with the decisions on its VectorSidecars, and on the
// ClusterVectorSidecars that select it. A nil *Sets does not write OverlaySets.
type Sets struct {
	cached   client.Reader
	live     client.Reader
	writer   *apply.Writer
	sidecars *sidecarcache.Lister
	now      func() time.Time
	// definitions has the definitions of kinds that are not built into Kubernetes.
	definitions *definitions

	mu     sync.Mutex
	spaces map[string]*namespaceOverlays
}

// admissionLag is how long an API server may use an earlier OverlaySet, because each API server has a cache. Until
// then it may inject a sidecar that the OverlaySet no longer has.
const admissionLag = 5 * time.Second

// crowd is the largest number of VectorSidecars in a namespace for which each change is written to the OverlaySet at
// once. With more VectorSidecars, changes are written together, once per writePause, because every write has the
// overlays of all of them.
const (
	crowd      = 10
	writePause = time.Second
)

// namespaceOverlays is the cached state of a namespace.
type namespaceOverlays struct {
	mu sync.Mutex
	// bySidecar has the overlays of its VectorSidecars, by their name. It is nil before the OverlaySet has been read.
	bySidecar map[string]overlayset.SidecarOverlays
	// refusals has the results of the dry runs of overlays, by their digests, "" if the API server accepts an
	// overlay.
	refusals map[string]string
	// refused has the rejected writes of workloads with the sidecar of a VectorSidecar, by the name of the
	// VectorSidecar.
	refused map[string]refusedWrite
	// removalTimes has the times when deleted or disabled VectorSidecars were removed from the OverlaySet, by their name.
	removalTimes map[string]time.Time
	// replaced is the resource version that was replaced by written. Until the cache shows another version, written
	// is the present OverlaySet.
	replaced string
	written  *v1alpha1.OverlaySet
	// wroteAt is the time when this process last wrote the OverlaySet, zero for never.
	wroteAt time.Time
}

// refusedWrite is a rejected write of a workload with a sidecar. If the API server injected the sidecar, admission
// would also reject the workload of the application owner.
type refusedWrite struct{ hash, reason string }

// Options are the dependencies of Sets. All fields are required.
type Options struct {
	Cached   client.Reader
	Live     client.Reader
	Writer   *apply.Writer
	Sidecars *sidecarcache.Lister
	Policies *PolicyAPI
	Clock    func() time.Time
}

// New returns Sets without cached state.
func New(options Options) *Sets {
	return &Sets{
		cached: options.Cached, live: options.Live, writer: options.Writer, sidecars: options.Sidecars, definitions: options.Policies.definitions,
		now: options.Clock, spaces: map[string]*namespaceOverlays{},
	}
}

// lockNamespace returns the cached state of a namespace, locked.
func (o *Sets) lockNamespace(namespace string) *namespaceOverlays {
	for {
		namespaceState := o.namespaceState(namespace)
		namespaceState.mu.Lock()
		if namespaceState == o.namespaceState(namespace) {
			return namespaceState
		}
		namespaceState.mu.Unlock() // The state was dropped in between.
	}
}

func (o *Sets) namespaceState(namespace string) *namespaceOverlays {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.spaces[namespace] == nil {
		o.spaces[namespace] = &namespaceOverlays{refusals: map[string]string{}, refused: map[string]refusedWrite{}, removalTimes: map[string]time.Time{}}
	}
	return o.spaces[namespace]
}

// forget drops the cached state of a namespace if the OverlaySet does not exist and would be empty, because the
// namespace may be deleted. The caller holds the lock of the state.
func (o *Sets) forget(namespace string, namespaceState *namespaceOverlays, existing *v1alpha1.OverlaySet) {
	if len(namespaceState.bySidecar) > 0 || existing != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.spaces, namespace)
}

// Update updates the OverlaySet to the overlays of a decision, or removes the overlays of the VectorSidecar. It writes
// only if something differs. If others have just written, Update returns how long to wait. Removals never wait.
func (o *Sets) Update(ctx context.Context, sidecar *v1alpha1.VectorSidecar, decision *decision.Decision) (wait time.Duration, err error) {
	if o == nil {
		return 0, nil
	}
	blocker := decision.Left
	if decision.Invalid != nil {
		blocker = decision.Invalid.Message
	}
	isOut := sidecar.DeletionTimestamp != nil || !sidecar.Spec.IsEnabled()
	if !isOut && len(decision.Offers) == 0 && blocker == "" {
		return 0, nil // Rendering timed out. The OverlaySet stays unchanged.
	}
	namespaceState := o.lockNamespace(sidecar.Namespace)
	defer namespaceState.mu.Unlock()
	existing, err := o.current(ctx, sidecar.Namespace, namespaceState)
	if err != nil {
		return 0, err
	}
	if isOut {
		delete(namespaceState.bySidecar, sidecar.Name)
		if err := o.write(ctx, sidecar.Namespace, namespaceState, existing); err != nil {
			return 0, err
		}
		if namespaceState.removalTimes[sidecar.Name].IsZero() {
			namespaceState.removalTimes[sidecar.Name] = o.now()
		}
		return 0, nil
	}
	delete(namespaceState.removalTimes, sidecar.Name)
	offers := decision.Offers
	if rejection, isRefused := namespaceState.refused[sidecar.Name]; isRefused && slices.ContainsFunc(offers, rejection.concerns) {
		offers, blocker = nil, rejection.reason
	}
	sidecarOverlays, err := overlayset.NewSidecarOverlays(sidecar, offers, blocker, &overlayValidator{ctx, o.writer, o.definitions, sidecar.Namespace, namespaceState.refusals})
	if err != nil {
		return 0, err
	}
	previous := namespaceState.bySidecar[sidecar.Name]
	namespaceState.bySidecar[sidecar.Name] = sidecarOverlays
	if previous.CanInject() && !sidecarOverlays.CanInject() {
		return 0, o.write(ctx, sidecar.Namespace, namespaceState, existing)
	}
	return o.writeWithOthers(ctx, sidecar.Namespace, namespaceState, existing)
}

func (r refusedWrite) concerns(offer desired.AdmissionOverlay) bool {
	return offer.Rendered.Desired.InjectedHash() == r.hash
}

// Lag returns how long an API server may still inject the sidecar of a VectorSidecar that is being deleted, 0 if
// injection has ended.
func (o *Sets) Lag(sidecar *v1alpha1.VectorSidecar) time.Duration {
	if o == nil {
		return 0
	}
	namespaceState := o.lockNamespace(sidecar.Namespace)
	defer namespaceState.mu.Unlock()
	removedAt, isOut := namespaceState.removalTimes[sidecar.Name]
	if !isOut {
		return admissionLag
	}
	return max(0, admissionLag-o.now().Sub(removedAt))
}

// WithdrawRejected removes the overlays of a VectorSidecar if the write of a workload with the same sidecar was denied. It
// restores them when a write is accepted or the sidecar changes. Like Update, WithdrawRejected returns how long to wait.
func (o *Sets) WithdrawRejected(ctx context.Context, sidecar *v1alpha1.VectorSidecar, d *decision.Decision, results decision.Results) (wait time.Duration, err error) {
	if o == nil {
		return 0, nil
	}
	namespaceState := o.lockNamespace(sidecar.Namespace)
	hasChanged := false
	for i := range results {
		p, writeState, err := results[i].Plan, results[i].State, results[i].Err
		isSent := writeState == decision.WriteAccepted || writeState == decision.WriteRejected || writeState == decision.WriteFailed
		if !isSent || p.IsDeferred() { // A deferred write did not contain the sidecar.
			continue
		}
		rejection, wasRefused := namespaceState.refused[sidecar.Name]
		switch {
		case err == nil && wasRefused && rejection.hash == p.WholeHash():
			delete(namespaceState.refused, sidecar.Name)
			hasChanged = true
		case apply.IsDenied(err) && p.Change != plan.Remove && rejection.hash != p.WholeHash():
			namespaceState.refused[sidecar.Name] = refusedWrite{p.WholeHash(), fmt.Sprintf("%s is rejected with the sidecar: %v", status.Object(p.Target), err)}
			hasChanged = true
		}
	}
	namespaceState.mu.Unlock()
	if !hasChanged {
		return 0, nil
	}
	return o.Update(ctx, sidecar, d)
}

// Drop removes a VectorSidecar or a ClusterVectorSidecar from the OverlaySet after it or its namespace has been
// deleted.
func (o *Sets) Drop(ctx context.Context, name types.NamespacedName) error {
	if o == nil {
		return nil
	}
	namespaceState := o.lockNamespace(name.Namespace)
	defer namespaceState.mu.Unlock()
	existing, err := o.current(ctx, name.Namespace, namespaceState)
	if err != nil {
		return err
	}
	delete(namespaceState.bySidecar, name.Name)
	delete(namespaceState.refused, name.Name)
	delete(namespaceState.removalTimes, name.Name)
	defer o.forget(name.Namespace, namespaceState, existing)
	return o.write(ctx, name.Namespace, namespaceState, existing)
}

// current returns the existing OverlaySet, nil for none. The first call reads the cached state from it.
func (o *Sets) current(ctx context.Context, namespace string, namespaceState *namespaceOverlays) (*v1alpha1.OverlaySet, error) {
	existing := &v1alpha1.OverlaySet{}
	err := o.cached.Get(ctx, types.NamespacedName{Namespace: namespace, Name: meta.OverlaySet}, existing)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading OverlaySet %s/%s: %w", namespace, meta.OverlaySet, err)
	}
	if err != nil {
		existing = nil
	}
	if namespaceState.bySidecar == nil {
		namespaceState.bySidecar = map[string]overlayset.SidecarOverlays{}
		if existing != nil {
			namespaceState.bySidecar = overlayset.SplitBySidecar(&existing.Spec)
			for i := range existing.Spec.Overlays { // The dry run was made before they were written.
				namespaceState.refusals[existing.Spec.Overlays[i].Digest] = ""
			}
		}
	}
	if namespaceState.written != nil && versionIn(existing) == namespaceState.replaced {
		return namespaceState.written, nil
	}
	namespaceState.written = nil
	return existing, nil
}

func versionIn(set *v1alpha1.OverlaySet) string {
	if set == nil {
		return ""
	}
	return set.ResourceVersion
}

// write writes the cached state, if the existing OverlaySet differs from it.
func (o *Sets) write(ctx context.Context, namespace string, namespaceState *namespaceOverlays, existing *v1alpha1.OverlaySet) error {
	spec, isWritten := o.compose(ctx, namespace, namespaceState, existing)
	if isWritten {
		return nil
	}
	return o.replace(ctx, namespace, namespaceState, existing, spec)
}

// writeWithOthers is like write, but delays a write in a namespace with many VectorSidecars if the last write was a
// moment ago. It then returns how long to wait.
func (o *Sets) writeWithOthers(ctx context.Context, namespace string, namespaceState *namespaceOverlays, existing *v1alpha1.OverlaySet) (wait time.Duration, err error) {
	spec, isWritten := o.compose(ctx, namespace, namespaceState, existing)
	if isWritten {
		return 0, nil
	}
	// A time in the future was set by another clock.
	if elapsed := o.now().Sub(namespaceState.wroteAt); elapsed >= 0 && elapsed < writePause && len(namespaceState.bySidecar) > crowd {
		return writePause - elapsed, nil
	}
	return 0, o.replace(ctx, namespace, namespaceState, existing, spec)
}

// compose returns the cached state as a spec, and whether the existing OverlaySet has this spec.
func (o *Sets) compose(ctx context.Context, namespace string, namespaceState *namespaceOverlays, existing *v1alpha1.OverlaySet) (spec v1alpha1.OverlaySetSpec, isWritten bool) {
	spec = overlayset.Compose(o.sidecarsAtAdmission(ctx, namespace), namespaceState.bySidecar)
	return spec, len(spec.Overlays) == 0 && existing == nil || existing != nil && equality.Semantic.DeepEqual(spec, existing.Spec)
}

// replace writes a spec to the OverlaySet, or deletes the OverlaySet if the spec is empty.
func (o *Sets) replace(ctx context.Context, namespace string, namespaceState *namespaceOverlays, existing *v1alpha1.OverlaySet, spec v1alpha1.OverlaySetSpec) error {
	ctx, cancel := shutdown.Detach(ctx)
	defer cancel()
	if len(spec.Overlays) == 0 {
		return o.writer.DeleteOverlaySet(ctx, namespace)
	}
	set := &v1alpha1.OverlaySet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: meta.OverlaySet, Labels: map[string]string{meta.LabelManagedBy: meta.Operator}},
		Spec:       spec,
	}
	if existing != nil {
		set.ResourceVersion = existing.ResourceVersion
	}
	err := o.writer.OverlaySet(ctx, set)
	if errors.Is(err, apply.ErrStale) {
		live := &v1alpha1.OverlaySet{}
		if client.IgnoreNotFound(o.live.Get(ctx, client.ObjectKeyFromObject(set), live)) != nil {
			return err
		}
		set.ResourceVersion = live.ResourceVersion
		err = o.writer.OverlaySet(ctx, set)
	}
	if errors.Is(err, apply.ErrTerminating) {
		return nil // The workloads are deleted with the namespace, too.
	}
	if err != nil {
		return err
	}
	namespaceState.wroteAt = o.now()
	cached := &v1alpha1.OverlaySet{}
	_ = o.cached.Get(ctx, client.ObjectKeyFromObject(set), cached) // A missing OverlaySet does not have a version.
	if namespaceState.written = nil; cached.ResourceVersion != set.ResourceVersion {
		namespaceState.replaced, namespaceState.written = cached.ResourceVersion, set
	}
	log.FromContext(ctx).Info("wrote overlay set", "overlays", len(spec.Overlays))
	return nil
}

// sidecarsAtAdmission returns the VectorSidecars of a namespace that may inject, including ClusterVectorSidecars, in the order
// of precedence.
func (o *Sets) sidecarsAtAdmission(ctx context.Context, namespace string) []v1alpha1.VectorSidecar {
	sidecars := slices.Clone(o.sidecars.ListIn(ctx, namespace))
	sidecars = slices.DeleteFunc(sidecars, func(s v1alpha1.VectorSidecar) bool { return s.DeletionTimestamp != nil || !s.Spec.IsEnabled() })
	decision.InOrder(sidecars)
	return sidecars
}
