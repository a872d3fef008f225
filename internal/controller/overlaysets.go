// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

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
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/overlayset"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
)

// overlaySets keeps the OverlaySet of each namespace in line with the decisions on its VectorSidecars,
// and on the ClusterVectorSidecars that select it. A nil one keeps none.
type overlaySets struct {
	cached   client.Reader
	live     client.Reader
	writer   *apply.Writer
	sidecars sidecarLister
	now      func() time.Time
	// definitions are of kinds that are not Kubernetes' own.
	definitions *definitions

	mu     sync.Mutex
	spaces map[string]*space
}

// admissionLag is how long an API server may go on using an earlier OverlaySet, because each has its own
// cache: until then it may put in a sidecar that the OverlaySet no longer has.
const admissionLag = 5 * time.Second

// crowd is the largest number of VectorSidecars in a namespace with which each change is written to its
// OverlaySet at once. With more, changes are written together, once in each writePause, because every
// write has the overlays of all of them.
const (
	crowd      = 10
	writePause = time.Second
)

// space is what is known of a namespace.
type space struct {
	mu sync.Mutex
	// parts are those of its VectorSidecars; nil before the OverlaySet was read.
	parts map[string]overlayset.Part
	// refusals are what the API server said of overlays, by their digests; "" is consent.
	refusals map[string]string
	// refused are workloads that were refused with the sidecar of a VectorSidecar, by its name.
	refused map[string]refusedWrite
	// out is since when the OverlaySet has nothing of those that are deleted or disabled.
	out map[string]time.Time
	// replaced is the resource version that written took the place of: until the cache shows
	// another, written is what there is.
	replaced string
	written  *v1alpha1.OverlaySet
	// wroteAt is when the OverlaySet was last written, zero if not by this process.
	wroteAt time.Time
}

// refusedWrite is a workload that was refused with a sidecar: whoever refused the operator would
// refuse the workload's owner as well, if the sidecar were in it from the start.
type refusedWrite struct{ hash, why string }

func newOverlaySets(cached, live client.Reader, writer *apply.Writer, sidecars sidecarLister, clock func() time.Time, isOn bool) *overlaySets {
	if !isOn {
		return nil
	}
	return &overlaySets{cached: cached, live: live, writer: writer, sidecars: sidecars, now: clock, spaces: map[string]*space{}}
}

// hold returns what is known of a namespace, locked.
func (o *overlaySets) hold(namespace string) *space {
	for {
		namespaceState := o.space(namespace)
		namespaceState.mu.Lock()
		if namespaceState == o.space(namespace) {
			return namespaceState
		}
		namespaceState.mu.Unlock() // It was forgotten meanwhile.
	}
}

func (o *overlaySets) space(namespace string) *space {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.spaces[namespace] == nil {
		o.spaces[namespace] = &space{refusals: map[string]string{}, refused: map[string]refusedWrite{}, out: map[string]time.Time{}}
	}
	return o.spaces[namespace]
}

// forget drops what is known of a namespace, which is locked, if nothing is in its OverlaySet and
// there is none: the namespace may be gone.
func (o *overlaySets) forget(namespace string, namespaceState *space, existing *v1alpha1.OverlaySet) {
	if len(namespaceState.parts) > 0 || existing != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.spaces, namespace)
}

// keep updates the OverlaySet to what a decision offers, or removes the VectorSidecar's part. It writes
// only if something differs, and returns how long to wait if others have written just now; what is no
// longer offered never waits.
func (o *overlaySets) keep(ctx context.Context, sidecar *v1alpha1.VectorSidecar, decision *decision.Decision) (wait time.Duration, err error) {
	if o == nil {
		return 0, nil
	}
	blocker := decision.Left
	if decision.Invalid != nil {
		blocker = decision.Invalid.Message
	}
	isOut := sidecar.DeletionTimestamp != nil || !sidecar.Spec.IsEnabled()
	if !isOut && len(decision.Offers) == 0 && blocker == "" {
		return 0, nil // Templates ran out of time: it stays as it is.
	}
	namespaceState := o.hold(sidecar.Namespace)
	defer namespaceState.mu.Unlock()
	existing, err := o.current(ctx, sidecar.Namespace, namespaceState)
	if err != nil {
		return 0, err
	}
	if isOut {
		delete(namespaceState.parts, sidecar.Name)
		if err := o.write(ctx, sidecar.Namespace, namespaceState, existing); err != nil {
			return 0, err
		}
		if namespaceState.out[sidecar.Name].IsZero() {
			namespaceState.out[sidecar.Name] = o.now()
		}
		return 0, nil
	}
	delete(namespaceState.out, sidecar.Name)
	offers := decision.Offers
	if rejection, isRefused := namespaceState.refused[sidecar.Name]; isRefused && slices.ContainsFunc(offers, rejection.concerns) {
		offers, blocker = nil, rejection.why
	}
	sidecarOverlays, err := overlayset.PartOf(sidecar, offers, blocker, &judge{ctx, o.writer, o.definitions, sidecar.Namespace, namespaceState.refusals})
	if err != nil {
		return 0, err
	}
	previous := namespaceState.parts[sidecar.Name]
	namespaceState.parts[sidecar.Name] = sidecarOverlays
	if previous.Offers() && !sidecarOverlays.Offers() {
		return 0, o.write(ctx, sidecar.Namespace, namespaceState, existing)
	}
	return o.writeWithOthers(ctx, sidecar.Namespace, namespaceState, existing)
}

func (r refusedWrite) concerns(offer desired.AdmissionOverlay) bool {
	return offer.Rendered.Desired.InjectedHash() == r.hash
}

// lag returns how long an API server may still put in the sidecar of a VectorSidecar that is being
// deleted, 0 if none does.
func (o *overlaySets) lag(sidecar *v1alpha1.VectorSidecar) time.Duration {
	if o == nil {
		return 0
	}
	namespaceState := o.hold(sidecar.Namespace)
	defer namespaceState.mu.Unlock()
	removedAt, isOut := namespaceState.out[sidecar.Name]
	if !isOut {
		return admissionLag
	}
	return max(0, admissionLag-o.now().Sub(removedAt))
}

// learn takes the offers of a VectorSidecar back if one of its workloads was refused with the same
// sidecar, until one is accepted or the sidecar is another. It waits as keep does.
func (o *overlaySets) learn(ctx context.Context, sidecar *v1alpha1.VectorSidecar, decision *decision.Decision, written map[*plan.Plan]error) (wait time.Duration, err error) {
	if o == nil {
		return 0, nil
	}
	namespaceState := o.hold(sidecar.Namespace)
	hasChanged := false
	for p, err := range written {
		if p.Action == plan.Defer {
			continue // The sidecar was not in it.
		}
		rejection, wasRefused := namespaceState.refused[sidecar.Name]
		switch {
		case err == nil && wasRefused && rejection.hash == p.WholeHash():
			delete(namespaceState.refused, sidecar.Name)
			hasChanged = true
		case apply.IsDenied(err) && p.Action != plan.Remove && rejection.hash != p.WholeHash():
			namespaceState.refused[sidecar.Name] = refusedWrite{p.WholeHash(), fmt.Sprintf("%s is refused with it: %v", status.Object(p.Target), err)}
			hasChanged = true
		}
	}
	namespaceState.mu.Unlock()
	if !hasChanged {
		return 0, nil
	}
	return o.keep(ctx, sidecar, decision)
}

// drop takes out a VectorSidecar or a ClusterVectorSidecar that is gone, or whose namespace is.
func (o *overlaySets) drop(ctx context.Context, name types.NamespacedName) error {
	if o == nil {
		return nil
	}
	namespaceState := o.hold(name.Namespace)
	defer namespaceState.mu.Unlock()
	existing, err := o.current(ctx, name.Namespace, namespaceState)
	if err != nil {
		return err
	}
	delete(namespaceState.parts, name.Name)
	delete(namespaceState.refused, name.Name)
	delete(namespaceState.out, name.Name)
	defer o.forget(name.Namespace, namespaceState, existing)
	return o.write(ctx, name.Namespace, namespaceState, existing)
}

// current returns the OverlaySet that there is, nil for none, and reads what is known from it the
// first time.
func (o *overlaySets) current(ctx context.Context, namespace string, namespaceState *space) (*v1alpha1.OverlaySet, error) {
	existing := &v1alpha1.OverlaySet{}
	err := o.cached.Get(ctx, types.NamespacedName{Namespace: namespace, Name: meta.OverlaySet}, existing)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading OverlaySet %s/%s: %w", namespace, meta.OverlaySet, err)
	}
	if err != nil {
		existing = nil
	}
	if namespaceState.parts == nil {
		namespaceState.parts = map[string]overlayset.Part{}
		if existing != nil {
			namespaceState.parts = overlayset.Parts(&existing.Spec)
			for i := range existing.Spec.Overlays { // The API server was asked before they were written.
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

// write writes what is known, if that is not what there is.
func (o *overlaySets) write(ctx context.Context, namespace string, namespaceState *space, existing *v1alpha1.OverlaySet) error {
	spec, isWritten := o.compose(ctx, namespace, namespaceState, existing)
	if isWritten {
		return nil
	}
	return o.replace(ctx, namespace, namespaceState, existing, spec)
}

// writeWithOthers is write, unless that was a moment ago in a crowd: it returns how long to wait then.
func (o *overlaySets) writeWithOthers(ctx context.Context, namespace string, namespaceState *space, existing *v1alpha1.OverlaySet) (wait time.Duration, err error) {
	spec, isWritten := o.compose(ctx, namespace, namespaceState, existing)
	if isWritten {
		return 0, nil
	}
	// A time that is still to come was told by another clock.
	if elapsed := o.now().Sub(namespaceState.wroteAt); elapsed >= 0 && elapsed < writePause && len(namespaceState.parts) > crowd {
		return writePause - elapsed, nil
	}
	return 0, o.replace(ctx, namespace, namespaceState, existing, spec)
}

// compose returns what is known as a spec, and whether that is what there is.
func (o *overlaySets) compose(ctx context.Context, namespace string, namespaceState *space, existing *v1alpha1.OverlaySet) (spec v1alpha1.OverlaySetSpec, isWritten bool) {
	spec = overlayset.Compose(o.injecting(ctx, namespace), namespaceState.parts)
	return spec, len(spec.Overlays) == 0 && existing == nil || existing != nil && equality.Semantic.DeepEqual(spec, existing.Spec)
}

// replace writes a spec in place of what there is.
func (o *overlaySets) replace(ctx context.Context, namespace string, namespaceState *space, existing *v1alpha1.OverlaySet, spec v1alpha1.OverlaySetSpec) error {
	ctx, cancel := detached(ctx)
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
		return nil // Whatever it was for is gone, too.
	}
	if err != nil {
		return err
	}
	namespaceState.wroteAt = o.now()
	cached := &v1alpha1.OverlaySet{}
	_ = o.cached.Get(ctx, client.ObjectKeyFromObject(set), cached) // A missing one has no version.
	if namespaceState.written = nil; cached.ResourceVersion != set.ResourceVersion {
		namespaceState.replaced, namespaceState.written = cached.ResourceVersion, set
	}
	log.FromContext(ctx).Info("overlay set written", "overlays", len(spec.Overlays))
	return nil
}

// injecting returns the VectorSidecars of a namespace that may inject, ClusterVectorSidecars
// among them, in their order.
func (o *overlaySets) injecting(ctx context.Context, namespace string) []v1alpha1.VectorSidecar {
	sidecars := slices.Clone(o.sidecars.list(ctx, namespace))
	sidecars = slices.DeleteFunc(sidecars, func(s v1alpha1.VectorSidecar) bool { return s.DeletionTimestamp != nil || !s.Spec.IsEnabled() })
	decision.InOrder(sidecars)
	return sidecars
}
