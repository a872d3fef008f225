// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package companionuse knows which old companions a workload can be rolled back to, because a revision of a workload or a Job
// refers to them. In go the old companions of VectorSidecars and the changes of workloads; out come the companions that
// nothing refers to. It lists the revisions of a namespace once for all of its VectorSidecars, and only after a change.
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

// maxAge is how long after the start of a list a companion may be deleted because of it: revisions of workloads that are not
// the VectorSidecar's may refer to it later.
const maxAge = time.Minute

// Options are the dependencies of a Tracker.
type Options struct {
	Live  *livelist.Client
	Kinds []*workload.Kind
	// Wake requests a reconcile of a VectorSidecar that has an unused companion, or whose revisions cannot be listed.
	Wake  func(context.Context, types.NamespacedName)
	Clock func() time.Time
}

// Tracker holds, for each namespace with old companions, which of them revisions refer to, and when and why they are listed
// next. It is a Runnable of the leader, and safe for concurrent use.
type Tracker struct {
	list  func(ctx context.Context, namespace string, names []string) (Use, error)
	wake  func(context.Context, types.NamespacedName)
	clock func() time.Time
	// dueNamespaces receives the namespaces to list.
	dueNamespaces chan string

	mu sync.Mutex
	// stop is closed when no more lists may start; nil until they may.
	stop       <-chan struct{}
	namespaces map[string]*namespaceUse
	// rolling are the workloads whose rollout of another pod template has not finished.
	rolling map[types.UID]bool
}

// New returns a Tracker that lists nothing until Start.
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

// Start lists the revisions of namespaces when they are due, until the context ends.
func (t *Tracker) Start(ctx context.Context) error {
	var lists sync.WaitGroup
	defer lists.Wait()
	t.mu.Lock()
	t.stop = ctx.Done()
	for name, use := range t.namespaces {
		t.arm(name, use)
	}
	t.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			return nil
		case namespace := <-t.dueNamespaces:
			lists.Go(func() { t.refresh(ctx, namespace) })
		}
	}
}

// UnusedCompanions returns those of a VectorSidecar's old companions that nothing refers to according to a list that started after the
// last change of its workloads. The others count as used, and the VectorSidecar is woken if a later list does not find them.
// It returns the error of the last list if that failed.
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
		t.request(sidecar.Namespace, use, causeRequested)
	}
	return unused, use.err
}

// Forget drops the companions of a VectorSidecar that does not exist any more.
func (t *Tracker) Forget(sidecar types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if use := t.namespaces[sidecar.Namespace]; use != nil {
		delete(use.companions, sidecar)
	}
}

// Observe records a change of a workload, which may have added revisions or removed them. before is nil for a new workload,
// after for a deleted one.
func (t *Tracker) Observe(before, after *workloadcache.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case before != nil && (after == nil || after.UID != before.UID):
		delete(t.rolling, before.UID)
		t.change(before, causeDeleted)
	case before != nil && before.HistoryLimit() != after.HistoryLimit():
		t.change(before, causeHistoryLimit)
	}
	if after == nil {
		return
	}
	isComplete := after.Rollout() == workload.RolloutComplete
	if before == nil || after.UID != before.UID || !after.HasSameTemplate(before) {
		t.rolling[after.UID] = true
		t.change(after, "")
	}
	if t.rolling[after.UID] && isComplete {
		delete(t.rolling, after.UID)
		t.change(after, causeRolledOut)
	}
}

// change records a change of a workload, and requests a list if there is a cause.
func (t *Tracker) change(record *workloadcache.Record, cause cause) {
	use := t.namespaces[record.Namespace]
	if use == nil {
		return // Nobody has an old companion.
	}
	use.change(record.UID)
	if cause != "" {
		t.request(record.Namespace, use, cause)
	}
}

// request requests a list of a namespace soon.
func (t *Tracker) request(namespace string, use *namespaceUse, cause cause) {
	use.request(t.clock(), cause)
	t.arm(namespace, use)
}

// arm sets the timer of a namespace's next list, if lists may start and none is in progress.
func (t *Tracker) arm(namespace string, use *namespaceUse) {
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

// refresh lists the revisions of a namespace, and wakes the VectorSidecars that have an unused companion.
func (t *Tracker) refresh(ctx context.Context, namespace string) {
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
		t.wake(ctx, sidecar)
	}
}

// startList returns the companions to look for in a namespace, and why. Without any it drops the namespace.
func (t *Tracker) startList(namespace string) ([]string, cause) {
	t.mu.Lock()
	defer t.mu.Unlock()
	use := t.namespaces[namespace]
	switch now := t.clock(); {
	case use == nil || use.isListing:
		return nil, ""
	case now.Before(use.nextStart()): // It has been put off since the timer fired.
		t.arm(namespace, use)
		return nil, ""
	}
	if len(use.companions) == 0 {
		delete(t.namespaces, namespace)
		return nil, ""
	}
	return use.startList(t.clock())
}

// finishList records the result of a list. It returns the VectorSidecars to wake.
func (t *Tracker) finishList(namespace string, names []string, result Use, err error) []types.NamespacedName {
	t.mu.Lock()
	defer t.mu.Unlock()
	use := t.namespaces[namespace]
	wake := use.finishList(t.clock(), names, result, err)
	t.arm(namespace, use)
	return wake
}
