// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

const (
	// mendPatience is how long a relist of the cache may take.
	mendPatience = time.Minute
	// auditRetry is when to retry a list that failed.
	auditRetry = 10 * time.Second
	// auditTold is how many differing workloads are named.
	auditTold = 10
)

// auditor lists the workloads live and compares them with the cache, which otherwise relies on the
// watch alone. If they differ, it makes the cache relist. It runs on the leader only.
type auditor struct {
	*instruments
	*liveDiff

	options *Options
	memory  *state.Memory
	resyncs *resyncs
	events  *announcer
	log     logr.Logger
	woken   chan struct{}

	mu sync.Mutex
	// asked holds, by namespace, the VectorSidecars that request a live list of it, each with the
	// value of the annotation that requests it.
	asked map[string]map[types.NamespacedName]string
}

// hasAnswered reports whether the workloads of a VectorSidecar's namespace have been listed since
// an annotation requested it. If not, they will be soon, and a pass follows.
func (a *auditor) hasAnswered(name types.NamespacedName, by string) bool {
	if a.memory.Of(name).LiveListed() == by {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asked[name.Namespace] == nil {
		a.asked[name.Namespace] = map[types.NamespacedName]string{}
	}
	a.asked[name.Namespace][name] = by
	select {
	case a.woken <- struct{}{}:
	default: // It has been woken already.
	}
	return false
}

// forget drops the requests of a VectorSidecar that is gone.
func (a *auditor) forget(name types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.asked[name.Namespace], name)
}

// Start audits periodically and on request, until the context ends.
func (a *auditor) Start(ctx context.Context) error {
	ctx = log.IntoContext(ctx, a.log)
	hasRead := func(context.Context) (bool, error) { return a.workloads.IsSynced(), nil }
	_ = wait.PollUntilContextCancel(ctx, auditPoll, true, hasRead) // Its only error is that of the context.
	regular := a.next()
	for ctx.Err() == nil {
		var retry <-chan time.Time
		if !a.answer(ctx) {
			retry = time.After(auditRetry)
		}
		select {
		case <-ctx.Done():
		case <-retry:
		case <-a.woken:
		case <-regular:
			if regular = a.next(); !a.auditScope(ctx) {
				regular = time.After(state.LastRetry)
			}
		}
	}
	return nil
}

// next fires when all namespaces are to be audited; nil means never.
func (a *auditor) next() <-chan time.Time {
	if a.options.LiveListInterval == 0 {
		return nil
	}
	return time.After(wait.Jitter(a.options.LiveListInterval, 0.2))
}

// auditScope audits all namespaces that the operator watches.
func (a *auditor) auditScope(ctx context.Context) (isDone bool) {
	if len(a.options.WatchNamespaces) == 0 {
		return a.audit(ctx, "")
	}
	isDone = true
	for _, namespace := range a.options.WatchNamespaces {
		isDone = a.audit(ctx, namespace) && isDone
	}
	return isDone
}

// answer audits the requested namespaces, one after another. It returns false if one could not be
// listed.
func (a *auditor) answer(ctx context.Context) (isDone bool) {
	a.mu.Lock()
	asked := a.asked
	a.asked = map[string]map[types.NamespacedName]string{}
	a.mu.Unlock()
	isDone = true
	for namespace, by := range asked {
		if !a.audit(ctx, namespace) {
			isDone = false
			a.postpone(namespace, by)
			continue
		}
		for name, annotation := range by {
			a.memory.Of(name).HasLiveListed(annotation)
			a.resyncs.ask(ctx, name)
		}
	}
	return isDone
}

// postpone puts the requests for a namespace back, unless newer ones exist.
func (a *auditor) postpone(namespace string, by map[types.NamespacedName]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.Copy(by, a.asked[namespace])
	a.asked[namespace] = by
}

// audit compares the workloads of a namespace, or all if "", with the cache, and makes it relist if
// they differ. It returns false if the live ones could not be listed.
func (a *auditor) audit(ctx context.Context, namespace string) bool {
	found, err := a.differences(ctx, namespace)
	if err != nil {
		a.Metrics.AuditFailed()
		if ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "comparing the cache with the live workloads", telemetry.KeyNamespace, namespace)
		}
		return false
	}
	a.Metrics.Audited(len(found))
	if len(found) == 0 {
		log.FromContext(ctx).V(1).Info("the cache matches the live workloads", telemetry.KeyNamespace, namespace)
		return true
	}
	a.tellDifferences(ctx, found)
	a.options.Relist()
	if err := a.untilMended(ctx, found); err != nil && ctx.Err() == nil {
		log.FromContext(ctx).Error(err, "relisting the cache")
	}
	return true
}

func (a *auditor) tellDifferences(ctx context.Context, found []difference) {
	var names []string
	for i := range found {
		names = append(names, status.Object(found[i].Ref))
		if i < auditTold {
			a.events.Eventf(reference(found[i].Ref), nil, corev1.EventTypeWarning, meta.ReasonCacheDiffered, string(plan.None),
				"the operator's cache had %s of it, and the API server has %s: no watch had told of that; the cache is listed anew",
				versionOr(found[i].cached, "nothing"), versionOr(found[i].live, "nothing"))
		}
	}
	telemetry.Warn(log.FromContext(ctx), "the cache differs from the live workloads, and is listed anew", "count", len(found), "workloads", strings.Join(humanize.First(names, mostNames, len(names)), ", "))
}

func versionOr(version, none string) string {
	if version == "" {
		return none
	}
	return "resource version " + version
}

// untilMended waits until the cache has caught up on the differences.
func (a *auditor) untilMended(ctx context.Context, found []difference) error {
	err := wait.PollUntilContextTimeout(ctx, auditPoll, mendPatience, true, func(context.Context) (bool, error) {
		found = a.left(found)
		return len(found) == 0, nil
	})
	if err != nil {
		return errors.New("the cache still differs from the live workloads: " + status.Object(found[0].Ref))
	}
	return nil
}
