// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

const (
	// startingPods is how long a rollout may go on before its pods are looked at: most
	// are done by then, and cost nothing.
	startingPods = 2 * time.Second
	// firstPodLook and lastPodLook are the waits between two looks, each half as long
	// again as the one before. Where it has been so for longer than newTrouble, the wait
	// grows on.
	firstPodLook, lastPodLook = 2 * time.Second, 30 * time.Second
	newTrouble                = 10 * time.Minute
	// lookedAt is at how many workloads of a VectorSidecar: those that a status names.
	lookedAt = 20
	// podsAtOnce bounds what one answer of the API server holds, and podPages how many
	// there are for a workload.
	podsAtOnce, podPages = 100, 10
	// podTimeout is for all requests of one look at a workload.
	podTimeout = 10 * time.Second
	// podLooks is how many workloads are looked at together.
	podLooks = 4
)

// pods looks at the pods of workloads that are not settled, for what keeps them from
// running. Pods are many and change all the time: they are not watched, and nothing of
// them is kept but the answer.
type pods struct {
	live client.Reader
	now  func() time.Time

	mu    sync.Mutex
	looks map[types.NamespacedName]map[types.UID]podLook
}

// podLook is the last look at the pods of a workload.
type podLook struct {
	// rollout is where the workload was then: elsewhere, it is looked at anew.
	rollout workload.Rollout
	next    time.Time
	wait    time.Duration
	isSeen  bool
	isTold  bool // that it cannot be seen
	fault   workload.Fault
}

func newPods(live client.Reader, now func() time.Time) *pods {
	return &pods{live: live, now: now, looks: map[types.NamespacedName]map[types.UID]podLook{}}
}

// look returns what is wrong with the pods of those workloads that carry the sidecar of
// an owner, are not settled, and could be looked at, now or a short while ago.
func (p *pods) look(ctx context.Context, owner types.NamespacedName, all []*workloadcache.Record) map[types.UID]workload.Fault {
	manager := meta.Manager(owner.Name)
	due := p.plan(owner, unsettledOf(all, manager))
	group := errgroup.Group{}
	group.SetLimit(podLooks)
	for _, record := range due {
		group.Go(func() error {
			fault, err := p.read(ctx, record, manager)
			if isNews := p.note(owner, record, fault, err == nil); isNews && ctx.Err() == nil {
				telemetry.Warn(log.FromContext(ctx), "pods cannot be read", telemetry.KeyWorkload, record.Name, "cause", err.Error())
			}
			return nil
		})
	}
	_ = group.Wait() // What went wrong is in the log; who is not seen is judged by time.
	p.mu.Lock()
	defer p.mu.Unlock()
	faults := map[types.UID]workload.Fault{}
	for uid, look := range p.looks[owner] {
		if look.isSeen {
			faults[uid] = look.fault
		}
	}
	return faults
}

// unsettledOf are the workloads to look at, those that have been so the longest first.
func unsettledOf(all []*workloadcache.Record, manager string) []*workloadcache.Record {
	var found []*workloadcache.Record
	for _, record := range all {
		if record.Rollout != workload.RolloutComplete && !record.IsDeleting() && slices.Contains(record.Managers(), manager) {
			found = append(found, record)
		}
	}
	slices.SortFunc(found, func(a, b *workloadcache.Record) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Name, b.Name))
	})
	return found[:min(len(found), lookedAt)]
}

// plan returns those of the workloads that are to be looked at now, and forgets what was
// seen of all others.
func (p *pods) plan(owner types.NamespacedName, all []*workloadcache.Record) []*workloadcache.Record {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, now := p.looks[owner], p.now()
	delete(p.looks, owner)
	var due []*workloadcache.Record
	for _, record := range all {
		look, known := before[record.UID]
		if !known || look.rollout != record.Rollout {
			look = podLook{rollout: record.Rollout, next: now}
			if record.Rollout == workload.RolloutProgressing {
				look.next = record.Since.Add(startingPods)
			}
		}
		if !now.Before(look.next) {
			longest := lastPodLook
			if record.For(now) > newTrouble {
				longest = lastRetry
			}
			look.wait = min(max(firstPodLook, look.wait*3/2), longest)
			look.next = now.Add(look.wait)
			due = append(due, record)
		}
		if p.looks[owner] == nil {
			p.looks[owner] = map[types.UID]podLook{}
		}
		p.looks[owner][record.UID] = look
	}
	return due
}

// note remembers an answer. It reports whether it is news that there was none.
func (p *pods) note(owner types.NamespacedName, record *workloadcache.Record, fault workload.Fault, isSeen bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	look := p.looks[owner][record.UID]
	isNews := !isSeen && !look.isTold
	look.fault, look.isSeen, look.isTold = fault, isSeen, !isSeen
	p.looks[owner][record.UID] = look
	return isNews
}

// next is when to look again, 0 for never.
func (p *pods) next(owner types.NamespacedName) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait, now := time.Duration(0), p.now()
	for _, look := range p.looks[owner] {
		wait = sooner(wait, max(look.next.Sub(now), atOnce))
	}
	return wait
}

func (p *pods) forget(owner types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.looks, owner)
}

// read looks at the pods of a workload's newest template.
func (p *pods) read(ctx context.Context, record *workloadcache.Record, manager string) (workload.Fault, error) {
	ctx, cancel := context.WithTimeout(ctx, podTimeout)
	defer cancel()
	var deployment appsv1.Deployment
	if err := p.live.Get(ctx, types.NamespacedName{Namespace: record.Namespace, Name: record.Name}, &deployment); err != nil {
		return workload.Fault{}, client.IgnoreNotFound(err)
	}
	if deployment.Status.ObservedGeneration < deployment.Generation {
		return workload.Fault{}, nil // Pods of the newest template are still to come.
	}
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil {
		return workload.Fault{}, fmt.Errorf("reading the selector of Deployment %s: %w", record.Name, err)
	}
	options := []client.ListOption{client.InNamespace(record.Namespace), client.MatchingLabelsSelector{Selector: selector}}
	newest, err := p.newest(ctx, &deployment, options)
	if newest == nil || err != nil {
		return workload.Fault{}, err
	}
	view := record.View()
	containers := view.Owned[manager].Containers
	page, first := &corev1.PodList{}, workload.Fault{}
	for range podPages {
		if err := p.live.List(ctx, page, append(options, client.Limit(podsAtOnce), client.Continue(page.Continue))...); err != nil {
			return workload.Fault{}, fmt.Errorf("listing pods: %w", err)
		}
		own := slices.DeleteFunc(page.Items, func(pod corev1.Pod) bool { return !metav1.IsControlledBy(&pod, newest) })
		fault := workload.FaultOf(own, containers)
		if first = cmp.Or(first, fault); fault.IsOurs || page.Continue == "" {
			return cmp.Or(ours(fault), first), nil
		}
	}
	return first, nil
}

// ours is a fault if it is one of ours, else none.
func ours(fault workload.Fault) workload.Fault {
	if fault.IsOurs {
		return fault
	}
	return workload.Fault{}
}

// newest is the ReplicaSet of a Deployment's current revision, nil if there is none yet.
func (p *pods) newest(ctx context.Context, deployment *appsv1.Deployment, options []client.ListOption) (*metav1.PartialObjectMetadata, error) {
	const revision = "deployment.kubernetes.io/revision"
	sets := &metav1.PartialObjectMetadataList{}
	sets.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("ReplicaSetList"))
	if err := p.live.List(ctx, sets, options...); err != nil {
		return nil, fmt.Errorf("listing ReplicaSets: %w", err)
	}
	for i := range sets.Items {
		if set := &sets.Items[i]; metav1.IsControlledBy(set, deployment) && set.Annotations[revision] == deployment.Annotations[revision] {
			return set, nil
		}
	}
	return nil, nil
}
