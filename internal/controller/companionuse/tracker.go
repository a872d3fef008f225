// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package companionuse determines the old companion ConfigMaps that are still in use, because a revision of a workload
// or a Job refers to them. A user can roll a workload back to such a revision. The inputs are the old companions of
// VectorSidecars and the changes of workloads; the outputs are the unused companions. The package lists the revisions
// of a namespace once for all of its VectorSidecars, after a change and then in growing intervals.
package companionuse

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// maxAge is the time after the start of a list in which an unused companion may be deleted. Later, revisions of other
// workloads than the VectorSidecar's may refer to it.
const maxAge = time.Minute

// Options are the dependencies of a Tracker.
type Options struct {
	// Live lists the revisions. Kinds are the enabled kinds of workloads.
	Live  *livelist.Client
	Kinds []*workload.Kind
	// Wake requests a reconcile of a VectorSidecar if it has an unused companion, or if its revisions cannot be listed.
	Wake  func(types.NamespacedName)
	Clock func() time.Time
}

// Tracker stores, for each namespace with old companions, the companions that revisions refer to, and the time and
// cause of the next list. It is a Runnable of the leader. It is safe for concurrent use.
type Tracker struct {
	list  func(ctx context.Context, namespace string, names []string) (Use, error)
	wake  func(types.NamespacedName)
	clock func() time.Time
	// dueNamespaces receives the namespaces that must be listed now.
	dueNamespaces chan string

	mu sync.Mutex
	// stop is closed when no more lists may start. It is nil until Start.
	stop       <-chan struct{}
	namespaces map[string]*namespaceUse
	// rolling are the workloads with an unfinished rollout of a changed pod template.
	rolling map[types.UID]bool
}

// New returns a Tracker, which lists revisions after Start.
func New(options Options) *Tracker {
	holders := workload.HoldersFor(options.Kinds)
	return &Tracker{
		list: func(ctx context.Context, namespace string, names []string) (Use, error) {
			return Find(ctx, options.Live, holders, namespace, names)
		},
		wake: options.Wake, clock: options.Clock, dueNamespaces: make(chan string),
		namespaces: map[string]*namespaceUse{}, rolling: map[types.UID]bool{},
	}
}

// Start lists the revisions of each namespace when its list is due, until the context ends.
func (t *Tracker) Start(ctx context.Context) error {
	var lists sync.WaitGroup
	defer lists.Wait()
	t.mu.Lock()
	t.stop = ctx.Done()
	for name, use := range t.namespaces {
		t.armTimer(name, use)
	}
	t.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			return nil
		case namespace := <-t.dueNamespaces:
			lists.Go(func() { t.refreshNamespace(ctx, namespace) })
		}
	}
}

// UnusedCompanions returns the old companions of a VectorSidecar that no object refers to. It uses the last list only
// if that list started after the last change of the VectorSidecar's workloads. All other companions count as used. If a
// later list finds no reference to them, the tracker requests a reconcile of the VectorSidecar. It also returns the
// error of the last list.
func (t *Tracker) UnusedCompanions(sidecar types.NamespacedName, companions []string, workloads iter.Seq[types.UID]) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	use := t.namespaces[sidecar.Namespace]
	switch {
	case use == nil && len(companions) == 0:
		return nil, nil
	case len(companions) == 0:
		delete(use.companions, sidecar)
		return nil, nil
	case use == nil:
		use = &namespaceUse{companions: map[types.NamespacedName][]string{}, changed: map[types.UID]bool{}}
		t.namespaces[sidecar.Namespace] = use
	}
	use.companions[sidecar] = slices.Clone(companions)
	var unused []string
	isUnknown := false
	for _, name := range companions {
		isUsed, isListed := use.isUsed[name]
		isUnknown = isUnknown || !isListed
		if isListed && !isUsed {
			unused = append(unused, name)
		}
	}
	if len(unused) > 0 && !use.isCurrent(t.clock(), workloads) {
		unused, isUnknown = nil, true
	}
	if isUnknown {
		t.requestList(sidecar.Namespace, use, causeRequested)
	}
	return unused, use.err
}

// Forget drops the companions of a deleted VectorSidecar.
func (t *Tracker) Forget(sidecar types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if use := t.namespaces[sidecar.Namespace]; use != nil {
		delete(use.companions, sidecar)
	}
}

// RecordChange records a change of a workload, which may have added or removed revisions. before is nil for a new
// workload, and after for a deleted one.
func (t *Tracker) RecordChange(before, after *workloadcache.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case before != nil && (after == nil || after.UID != before.UID):
		delete(t.rolling, before.UID)
		t.addChange(before, causeDeleted)
	case before != nil && before.HistoryLimit() != after.HistoryLimit():
		t.addChange(before, causeHistoryLimit)
	}
	if after == nil {
		return
	}
	isComplete := after.Rollout() == workload.RolloutComplete
	if before == nil || after.UID != before.UID || !after.HasSameTemplate(before) {
		t.rolling[after.UID] = true
		t.addChange(after, "")
	}
	if t.rolling[after.UID] && isComplete {
		delete(t.rolling, after.UID)
		t.addChange(after, causeRolledOut)
	}
}

// addChange adds a change of a workload. If there is a cause, it also requests a list. The caller holds the mutex.
func (t *Tracker) addChange(record *workloadcache.Record, cause cause) {
	use := t.namespaces[record.Namespace]
	if use == nil {
		return // No VectorSidecar of the namespace has an old companion.
	}
	use.recordChange(record.UID)
	if cause != "" {
		t.requestList(record.Namespace, use, cause)
	}
}

// requestList requests a list of a namespace and sets its timer. The caller holds the mutex.
func (t *Tracker) requestList(namespace string, use *namespaceUse, cause cause) {
	use.requestList(t.clock(), cause)
	t.armTimer(namespace, use)
}

// armTimer sets the timer of a namespace's next list, unless a list is in progress or Start was not called yet. The
// caller holds the mutex.
func (t *Tracker) armTimer(namespace string, use *namespaceUse) {
	if use.timer != nil {
		use.timer.Stop()
	}
	if t.stop == nil || use.isListing {
		return
	}
	stop := t.stop
	use.timer = time.AfterFunc(use.nextStart().Sub(t.clock()), func() {
		select {
		case t.dueNamespaces <- namespace:
		case <-stop:
		}
	})
}

// refreshNamespace lists the revisions of a namespace and requests a reconcile of each VectorSidecar with an unused companion.
func (t *Tracker) refreshNamespace(ctx context.Context, namespace string) {
	names, cause := t.startList(namespace)
	if len(names) == 0 {
		return
	}
	result, err := t.list(ctx, namespace, names)
	if ctx.Err() != nil {
		return
	}
	logger := log.FromContext(ctx)
	if err != nil {
		logger.Error(err, "listing revisions", telemetry.KeyNamespace, namespace, "cause", cause)
	} else {
		logger.V(1).Info("listed revisions", telemetry.KeyNamespace, namespace, "cause", cause, "listed", result.Listed, "companions", len(names), "used", len(result.Names))
	}
	for _, sidecar := range t.finishList(namespace, names, result, err) {
		t.wake(sidecar)
	}
}

// startList returns the companions of a namespace to search for and the cause of the list. Without companions it drops
// the namespace.
func (t *Tracker) startList(namespace string) ([]string, cause) {
	t.mu.Lock()
	defer t.mu.Unlock()
	use := t.namespaces[namespace]
	switch now := t.clock(); {
	case use == nil || use.isListing:
		return nil, ""
	case now.Before(use.nextStart()): // A request delayed the list after the timer fired.
		t.armTimer(namespace, use)
		return nil, ""
	}
	if len(use.companions) == 0 {
		delete(t.namespaces, namespace)
		return nil, ""
	}
	return use.startList(t.clock())
}

// finishList records the result of a list. It returns the VectorSidecars to reconcile.
func (t *Tracker) finishList(namespace string, names []string, result Use, err error) []types.NamespacedName {
	t.mu.Lock()
	defer t.mu.Unlock()
	use := t.namespaces[namespace]
	wake := use.finishList(t.clock(), names, result, err)
	t.armTimer(namespace, use)
	return wake
}
