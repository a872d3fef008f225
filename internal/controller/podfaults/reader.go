// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package podfaults finds the errors that keep the pods of workloads from running. The input is the workloads of a
// VectorSidecar; the output is an error for each of them, read from pods and events of the API server.
package podfaults

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
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

const (
	// lookedAt is the maximum number of unready workloads of a VectorSidecar for which pods are read. A status names
	// the same number.
	lookedAt = 20
	// mostPods and mostEvents are the maximum numbers of pods and events that are read for a workload. longestEvent
	// is the maximum length of the message of an event, in bytes.
	mostPods, mostEvents, longestEvent = 1000, 100, 1 << 10
	// noProgress is the time without progress after which the events of a workload are read.
	noProgress = 10 * time.Second
	// podTimeout is the timeout for all requests about one workload together.
	podTimeout = 10 * time.Second
	// podLooks is the number of workloads that are read concurrently.
	podLooks = 4
)

// errUnobserved reports a workload with a newest generation that its controller has not observed. If the pod template
// is unchanged, the last result for its pods still applies. For another template, the result is unknown.
var errUnobserved = errors.New("the controller has not observed the newest generation of the workload")

// Reader reads the pods of workloads to find errors that keep the pods from running. It reads unready workloads, and
// ready workloads that are watched. The many pods change often, so they are not watched, and only the result is stored.
type Reader struct {
	live   *livelist.Client
	access *Access
	now    func() time.Time
}

// NewReader returns a Reader.
func NewReader(live *livelist.Client, access *Access, clock func() time.Time) *Reader {
	return &Reader{live: live, access: access, now: clock}
}

// FindFaults returns the pod errors of the workloads with the sidecar of a field manager, read now or a short while ago. It
// reads unready workloads. If restarts are watched, it reads ready workloads, too. Workloads that could not be read are
// missing.
func (r *Reader) FindFaults(ctx context.Context, sidecarState *state.Sidecar, manager string, watch *workload.RestartRule, records []*workloadcache.Record) map[types.UID]workload.Fault {
	dueRecords := sidecarState.PodsDue(notReadyRecords(records, manager), watchedRecords(records, manager, watch))
	group := errgroup.Group{}
	group.SetLimit(podLooks)
	for _, record := range dueRecords {
		group.Go(func() error {
			fault, err := r.readFault(ctx, record, manager, watch)
			if errors.Is(err, errUnobserved) {
				return nil
			}
			if apierrors.IsForbidden(err) {
				r.access.forget(record.Namespace)
			}
			if isNews := sidecarState.SetFault(record.UID, fault, err == nil); isNews && ctx.Err() == nil {
				telemetry.Warn(log.FromContext(ctx), "cannot list pods", telemetry.KeyWorkload, record.Name, "cause", err.Error())
			}
			return nil
		})
	}
	_ = group.Wait() // Errors are logged. For workloads that could not be read, the time without progress counts.
	return sidecarState.Faults()
}

// notReadyRecords returns the unready workloads with a sidecar of the manager, those that have been unready for the
// longest time first. It returns at most lookedAt of them.
func notReadyRecords(records []*workloadcache.Record, manager string) []*workloadcache.Record {
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

// compareHeld sorts workloads with settings that keep pods of an earlier template behind all others, because they may
// stay unready for weeks.
func compareHeld(a, b *workloadcache.Record) int {
	rank := func(record *workloadcache.Record) int {
		if record.Rollout() == workload.PodsNotReplaced {
			return 1
		}
		return 0
	}
	return cmp.Compare(rank(a), rank(b))
}

// watchedRecords returns the ready workloads with a sidecar of the manager, which are read because restarts of their
// containers count. watch is nil if restarts do not count; the result is then empty.
func watchedRecords(records []*workloadcache.Record, manager string, watch *workload.RestartRule) (watched state.WatchedWorkloads) {
	if watch == nil {
		return watched
	}
	watched.RetryTime = watch.RetriedAt
	for _, record := range records {
		if record.Rollout() == workload.RolloutComplete && !record.IsDeleting() && slices.Contains(record.Managers(), manager) {
			watched.Records = append(watched.Records, record)
		}
	}
	return watched
}

// readFault reads the pods of a workload that have its newest template, and returns their worst error. The zero value
// means that no error was found. errUnobserved means that the pods cannot be compared yet.
func (r *Reader) readFault(ctx context.Context, record *workloadcache.Record, manager string, watch *workload.RestartRule) (workload.Fault, error) {
	ctx, cancel := context.WithTimeout(ctx, podTimeout)
	defer cancel()
	ref := record.Ref
	if runner := record.Runner(); runner != nil {
		ref = runner.Ref
	}
	live := ref.Adapter().New()
	if err := r.live.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, live); err != nil {
		return workload.Fault{}, client.IgnoreNotFound(err)
	}
	content, _ := workload.Read(live)
	if !content.Observed {
		return workload.Fault{}, errUnobserved
	}
	if content.Kind.Revisions == nil && content.Kind.Traits.ReportsByEvent {
		return r.addEventFault(ctx, live, nil, workload.Fault{}), nil // The pods belong to the Jobs of the workload.
	}
	if content.Selector == nil {
		return workload.Fault{}, nil // The workload does not own pods.
	}
	selector, err := metav1.LabelSelectorAsSelector(content.Selector)
	if err != nil {
		return workload.Fault{}, fmt.Errorf("reading the selector of %s %s: %w", ref.Kind, ref.Name, err)
	}
	options := []client.ListOption{client.InNamespace(record.Namespace), client.MatchingLabelsSelector{Selector: selector}}
	newest, err := r.newestRevision(ctx, content.Kind, live, options)
	if newest == nil || err != nil {
		return workload.Fault{}, err
	}
	view := record.View()
	isOf := func(pod *corev1.Pod) bool { return content.Kind.Revisions.HasPod(live, newest, pod) }
	containers := view.Owned[manager].Containers
	fault, err := r.listFaults(ctx, options, isOf, func(pods []corev1.Pod) workload.Fault {
		fault := workload.FindFault(pods, containers, r.now())
		if watch == nil || fault.IsSidecarFault {
			return fault
		}
		return cmp.Or(watch.FindFault(pods, containers), fault)
	})
	state := record.State()
	isStuck := content.Missing > 0 || state.Rollout != workload.RolloutComplete && state.TimeInState(r.now()) >= noProgress
	if fault.IsSidecarFault || err != nil || !isStuck || !content.Kind.Traits.ReportsByEvent {
		return fault, err
	}
	return r.addEventFault(ctx, live, newest, fault), nil
}

// listFaults lists pods and returns the worst error that check finds among the pods for which isOf returns true. An
// error of the sidecar is worse than a scheduling error.
func (r *Reader) listFaults(ctx context.Context, options []client.ListOption, isOf func(*corev1.Pod) bool, check func([]corev1.Pod) workload.Fault) (workload.Fault, error) {
	var worst workload.Fault
	read := 0
	_, err := livelist.Contains(ctx, r.live, &corev1.PodList{}, func(listed client.Object) bool {
		read++
		pod, ok := listed.(*corev1.Pod)
		if ok && isOf(pod) {
			fault := check([]corev1.Pod{*pod})
			if fault.Reason != "" || worst.Reason == "" { // An error of the sidecar ends the list.
				worst = fault
			}
		}
		return worst.IsSidecarFault || read == mostPods
	}, options...)
	if err != nil {
		return workload.Fault{}, fmt.Errorf("listing pods: %w", err)
	}
	return worst, nil
}

// addEventFault returns the error that the events of a workload report, or else the error of its pods. If events
// cannot be read, the error of the pods is marked as partial.
func (r *Reader) addEventFault(ctx context.Context, live workload.Object, newest metav1.Object, podFault workload.Fault) workload.Fault {
	var events []corev1.Event
	_, err := livelist.Contains(ctx, r.live, &corev1.EventList{}, func(listed client.Object) bool {
		if event, ok := listed.(*corev1.Event); ok {
			events = append(events, corev1.Event{
				InvolvedObject: corev1.ObjectReference{UID: event.InvolvedObject.UID}, Reason: event.Reason, Message: event.Message[:min(len(event.Message), longestEvent)],
				LastTimestamp: event.LastTimestamp, EventTime: event.EventTime, Series: event.Series.DeepCopy(),
			})
		}
		return len(events) == mostEvents
	}, client.InNamespace(live.GetNamespace()), client.MatchingFields(workload.EventFields(live)))
	if err != nil {
		log.FromContext(ctx).V(1).Info("cannot read events", telemetry.KeyWorkload, live.GetName(), "cause", err.Error())
		podFault.IsPartial = true
		return podFault
	}
	return cmp.Or(workload.FaultInEvents(live, newest, events), podFault)
}

// newestRevision returns the object with the current revision of a workload, such as a ReplicaSet. It returns nil if
// the object does not exist yet, and for kinds without revisions.
func (r *Reader) newestRevision(ctx context.Context, kind *workload.Kind, live workload.Object, options []client.ListOption) (metav1.Object, error) {
	if kind.Revisions == nil {
		return nil, nil
	}
	var newest metav1.Object
	_, err := livelist.Contains(ctx, r.live, kind.Revisions.NewList(), func(listed client.Object) bool {
		candidates := []metav1.Object{listed}
		if newest != nil {
			candidates = []metav1.Object{newest, listed}
		}
		if latest := kind.Revisions.Newest(live, candidates); latest == metav1.Object(listed) {
			newest, _ = listed.DeepCopyObject().(metav1.Object) // The copy releases the page of the list.
		}
		return false
	}, options...)
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", kind.Revisions.Plural, err)
	}
	return newest, nil
}
