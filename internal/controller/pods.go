// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

const (
	// lookedAt is the number of workloads of a VectorSidecar whose pods are read: as many as a
	// status names.
	lookedAt = 20
	// mostPods is how many pods of a workload are read, mostEvents how many events, and longestEvent how many bytes of
	// the message of each.
	mostPods, mostEvents, longestEvent = 1000, 100, 1 << 10
	// noProgress is how long a workload must have made no progress before its events are read.
	noProgress = 10 * time.Second
	// podTimeout covers all requests for one workload.
	podTimeout = 10 * time.Second
	// podLooks is how many workloads are read concurrently.
	podLooks = 4
)

// errUnobserved is the answer for a workload whose controller has not seen its newest generation. The template may be the
// same, so what is known of its pods stays; for another template nothing is known.
var errUnobserved = errors.New("the controller has not observed the newest generation")

// pods reads the pods of unsettled workloads to find what keeps them from running, and those of
// settled ones that are watched. Pods are many and change all the time, so they are not watched
// themselves, and only the result is kept.
type pods struct {
	live   *livelist.Client
	access *podAccess
	now    func() time.Time
}

// look returns what is wrong with the pods of those workloads that carry an owner's sidecar and
// could be read, now or a short while ago: of unsettled ones, and if there is a watch of all.
func (p *pods) look(ctx context.Context, sidecarState *state.Sidecar, manager string, watch *workload.RestartRule, records []*workloadcache.Record) map[types.UID]workload.Fault {
	dueRecords := sidecarState.PodsDue(unsettledOf(records, manager), watchedOf(records, manager, watch))
	group := errgroup.Group{}
	group.SetLimit(podLooks)
	for _, record := range dueRecords {
		group.Go(func() error {
			fault, err := p.read(ctx, record, manager, watch)
			if errors.Is(err, errUnobserved) {
				return nil
			}
			if apierrors.IsForbidden(err) {
				p.access.forget(record.Namespace)
			}
			if isNews := sidecarState.SetFault(record.UID, fault, err == nil); isNews && ctx.Err() == nil {
				telemetry.Warn(log.FromContext(ctx), "cannot list pods", telemetry.KeyWorkload, record.Name, "cause", err.Error())
			}
			return nil
		})
	}
	_ = group.Wait() // Errors are logged; workloads that could not be read are judged by time.
	return sidecarState.Faults()
}

// unsettledOf returns the workloads to read, those that have been unsettled longest first.
func unsettledOf(records []*workloadcache.Record, manager string) []*workloadcache.Record {
	var unsettled []*workloadcache.Record
	for _, record := range records {
		if record.Rollout() != workload.RolloutComplete && !record.IsDeleting() && slices.Contains(record.Managers(), manager) {
			unsettled = append(unsettled, record)
		}
	}
	slices.SortFunc(unsettled, func(a, b *workloadcache.Record) int {
		return cmp.Or(compareHeld(a, b), a.StateSince().Compare(b.StateSince()), strings.Compare(a.Name, b.Name))
	})
	return unsettled[:min(len(unsettled), lookedAt)]
}

// compareHeld sorts workloads that keep pods with another template by their own settings last: they may do so for weeks.
func compareHeld(a, b *workloadcache.Record) int {
	rank := func(record *workloadcache.Record) int {
		if record.Rollout() == workload.PodsNotReplaced {
			return 1
		}
		return 0
	}
	return cmp.Compare(rank(a), rank(b))
}

// watchedOf returns the settled workloads to read, none without a watch.
func watchedOf(records []*workloadcache.Record, manager string, watch *workload.RestartRule) (watched state.Watched) {
	if watch == nil {
		return watched
	}
	watched.After = watch.RetriedAt
	for _, record := range records {
		if record.Rollout() == workload.RolloutComplete && !record.IsDeleting() && slices.Contains(record.Managers(), manager) {
			watched.Records = append(watched.Records, record)
		}
	}
	return watched
}

// read reads the pods of a workload's newest template.
func (p *pods) read(ctx context.Context, record *workloadcache.Record, manager string, watch *workload.RestartRule) (workload.Fault, error) {
	ctx, cancel := context.WithTimeout(ctx, podTimeout)
	defer cancel()
	ref := record.Ref()
	if runner := record.Runner(); runner != nil {
		ref = runner.Ref()
	}
	live := ref.Adapter().New()
	if err := p.live.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, live); err != nil {
		return workload.Fault{}, client.IgnoreNotFound(err)
	}
	content, _ := workload.Read(live)
	if !content.Observed {
		return workload.Fault{}, errUnobserved
	}
	if content.Kind.Revisions == nil && content.Kind.Traits.ReportsByEvent {
		return p.withEvents(ctx, live, nil, workload.Fault{}), nil // Its pods are those of its Jobs.
	}
	if content.Selector == nil {
		return workload.Fault{}, nil // It has no pods of its own.
	}
	selector, err := metav1.LabelSelectorAsSelector(content.Selector)
	if err != nil {
		return workload.Fault{}, fmt.Errorf("reading the selector of %s %s: %w", ref.Kind, ref.Name, err)
	}
	options := []client.ListOption{client.InNamespace(record.Namespace), client.MatchingLabelsSelector{Selector: selector}}
	newest, err := p.newest(ctx, content.Kind, live, options)
	if newest == nil || err != nil {
		return workload.Fault{}, err
	}
	view := record.View()
	isOf := func(pod *corev1.Pod) bool { return content.Kind.Revisions.HasPod(live, newest, pod) }
	containers := view.Owned[manager].Containers
	fault, err := p.faultOf(ctx, options, isOf, func(pods []corev1.Pod) workload.Fault {
		fault := workload.FindFault(pods, containers, p.now())
		if watch == nil || fault.IsOurs {
			return fault
		}
		return cmp.Or(watch.FindFault(pods, containers), fault)
	})
	state := record.State()
	isStuck := content.Missing > 0 || state.Rollout != workload.RolloutComplete && state.TimeInState(p.now()) >= noProgress
	if fault.IsOurs || err != nil || !isStuck || !content.Kind.Traits.ReportsByEvent {
		return fault, err
	}
	return p.withEvents(ctx, live, newest, fault), nil
}

// faultOf lists pods, and returns the fault of those that are of a template: one of the sidecar before others, and one of
// a container before one of scheduling.
func (p *pods) faultOf(ctx context.Context, options []client.ListOption, isOf func(*corev1.Pod) bool, check func([]corev1.Pod) workload.Fault) (workload.Fault, error) {
	var worst workload.Fault
	read := 0
	_, err := livelist.Contains(ctx, p.live, &corev1.PodList{}, func(listed client.Object) bool {
		read++
		pod, ok := listed.(*corev1.Pod)
		if ok && isOf(pod) {
			fault := check([]corev1.Pod{*pod})
			isWorse := worst.Reason == "" || worst.Reason == meta.ReasonUnschedulable && fault.Reason != ""
			if fault.IsOurs || isWorse {
				worst = fault
			}
		}
		return worst.IsOurs || read == mostPods
	}, options...)
	if err != nil {
		return workload.Fault{}, fmt.Errorf("listing pods: %w", err)
	}
	return worst, nil
}

// withEvents returns the fault that the events of a workload report, or else that of its pods.
func (p *pods) withEvents(ctx context.Context, live workload.Object, newest metav1.Object, podFault workload.Fault) workload.Fault {
	var events []corev1.Event
	_, err := livelist.Contains(ctx, p.live, &corev1.EventList{}, func(listed client.Object) bool {
		if event, ok := listed.(*corev1.Event); ok {
			events = append(events, corev1.Event{
				InvolvedObject: corev1.ObjectReference{UID: event.InvolvedObject.UID}, Reason: event.Reason, Message: event.Message[:min(len(event.Message), longestEvent)],
				LastTimestamp: event.LastTimestamp, EventTime: event.EventTime, Series: event.Series.DeepCopy(),
			})
		}
		return len(events) == mostEvents
	}, client.InNamespace(live.GetNamespace()), client.MatchingFields(workload.EventFields(live)))
	if err != nil {
		log.FromContext(ctx).V(1).Info("events cannot be read", telemetry.KeyWorkload, live.GetName(), "cause", err.Error())
		podFault.IsPartial = true
		return podFault
	}
	return cmp.Or(workload.FaultInEvents(live, newest, events), podFault)
}

// newest returns the object that holds a workload's current revision, nil if there is none yet.
func (p *pods) newest(ctx context.Context, kind *workload.Kind, live workload.Object, options []client.ListOption) (metav1.Object, error) {
	if kind.Revisions == nil {
		return nil, nil
	}
	var newest metav1.Object
	_, err := livelist.Contains(ctx, p.live, kind.Revisions.NewList(), func(listed client.Object) bool {
		candidates := []metav1.Object{listed}
		if newest != nil {
			candidates = []metav1.Object{newest, listed}
		}
		if latest := kind.Revisions.Newest(live, candidates); latest == metav1.Object(listed) {
			newest, _ = listed.DeepCopyObject().(metav1.Object) // Without the page around it.
		}
		return false
	}, options...)
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", kind.Revisions.Plural, err)
	}
	return newest, nil
}
