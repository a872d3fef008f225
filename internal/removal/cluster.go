// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Ejector removes all objects and fields of the operator from a cluster. All fields except Progress are required.
type Ejector struct {
	Client client.Client
	// MaxConcurrent is the maximum number of workloads that roll out at once.
	MaxConcurrent int
	// Timeout is the maximum time of a rollout before the next rollout may start.
	Timeout time.Duration
	// Progress is called for each finished workload, by one goroutine at a time.
	Progress func(Step)
}

// Step reports a finished workload.
type Step struct {
	// Finished is the number of finished workloads, and Total the number of all workloads.
	Finished, Total int
	Workload        workload.Ref
	// Err explains why the workload still has a sidecar, or why its rollout has not finished.
	Err error
}

// maxPasses is the maximum number of searches for remaining objects. One search is not sufficient for three reasons:
// the manifest of the application owner may also contain fields that the operator releases, ConfigMaps are deleted after
// the last workload that needs them, and a running operator may be in the middle of a reconcile.
const maxPasses = 5

// pollInterval is the time between two checks of a rollout.
const pollInterval = 500 * time.Millisecond

// Clean removes the operator's objects and fields from a namespace, or from all namespaces for "". It first removes
// admission overlays and VectorSidecars, so that no sidecar is injected again. It then removes sidecars at a limited
// pace. Finally, it removes finalizers, and the ConfigMaps that no workload needs anymore.
//
// If a sidecar cannot be removed, the other objects in its namespace and all ClusterVectorSidecars stay, and Clean
// continues with the other namespaces. Clean returns the objects and fields that it has found. The error is a
// *RemainingError if all requests succeeded, but something remains that Clean must not or cannot remove.
func (e *Ejector) Clean(ctx context.Context, namespace string) (*Traces, error) {
	var traces *Traces
	live := livelist.New(e.Client)
	failed := map[string]error{} // by namespace
	for rounds := 0; ; rounds++ {
		remaining, err := FindTraces(ctx, live, namespace)
		if err != nil {
			return traces, err
		}
		if traces == nil {
			traces = remaining
		}
		remaining.exclude(failed)
		failures := slices.Collect(maps.Values(failed))
		switch {
		case remaining.IsEmpty():
			return traces, sortErrors(failures)
		case rounds == maxPasses, remaining.isStuck():
			if len(failures) > 0 {
				return traces, sortErrors(append(failures, errors.New((&RemainingError{remaining}).Error())))
			}
			return traces, &RemainingError{remaining}
		}
		if err := e.cleanOnce(ctx, remaining, failed); err != nil {
			return traces, err
		}
	}
}

// sortErrors joins errors by their texts, nil for none.
func sortErrors(errs []error) error {
	return errors.Join(slices.SortedFunc(slices.Values(errs), func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })...)
}

// cleanOnce removes the objects and fields in traces once. It records each namespace with a sidecar that could not be
// removed, with the error. It then removes nothing else: the next search leaves these namespaces out.
func (e *Ejector) cleanOnce(ctx context.Context, traces *Traces, failed map[string]error) error {
	writer := apply.New(e.Client)
	for _, namespace := range traces.OverlaySets { // A removed sidecar must not be injected again.
		if err := writer.DeleteOverlaySet(ctx, namespace); err != nil {
			return err
		}
	}
	if err := deleteSidecars(ctx, writer, traces.Sidecars, false); err != nil {
		return err
	}
	if stuck := e.removeSidecars(ctx, writer, traces.Workloads); len(stuck) > 0 {
		maps.Copy(failed, stuck)
		return ctx.Err()
	}
	for key, users := range traces.Companions {
		if len(users) > 0 {
			continue // The list of users may be empty in the next pass.
		}
		if err := writer.DeleteCompanion(ctx, key); err != nil {
			return err
		}
	}
	for i := range traces.Sidecars {
		if err := e.releaseSidecar(ctx, writer, &traces.Sidecars[i]); err != nil {
			return fmt.Errorf("%s: %w", qualifiedName(&traces.Sidecars[i]), err)
		}
	}
	return nil
}

// releaseSidecar removes the finalizer. It retries if a running operator writes the object at the same time.
func (e *Ejector) releaseSidecar(ctx context.Context, writer *apply.Writer, sidecar *metav1.PartialObjectMetadata) error {
	return retry.OnError(staleBackoff, isStale, func() error {
		live := sidecar.DeepCopy()
		if err := e.Client.Get(ctx, client.ObjectKeyFromObject(live), live); err != nil {
			return client.IgnoreNotFound(err) // The object had no finalizer, or the finalizer was removed since.
		}
		return writer.RemoveFinalizer(ctx, live)
	})
}

// staleBackoff is the backoff after isStale, of 1.3 s in total. The status of a rollout changes several times in a second.
var staleBackoff = wait.Backoff{Steps: 7, Duration: 20 * time.Millisecond, Factor: 2, Jitter: 0.1}

// isStale reports whether the object has changed since it was read.
func isStale(err error) bool { return errors.Is(err, apply.ErrStale) }

// removeSidecars removes the sidecars, MaxConcurrent at a time. It continues after errors, and returns them by
// namespace.
func (e *Ejector) removeSidecars(ctx context.Context, writer *apply.Writer, carriers []Carrier) map[string]error {
	var mu sync.Mutex
	failed := map[string]error{}
	finished := 0
	group := errgroup.Group{}
	group.SetLimit(e.MaxConcurrent)
	for i := range carriers {
		ref := carriers[i].Ref
		group.Go(func() error {
			err := e.removeWorkload(ctx, writer, ref)
			var lateErr *lateError
			mu.Lock()
			defer mu.Unlock()
			if finished++; err != nil && !errors.As(err, &lateErr) {
				failed[ref.Namespace] = errors.Join(failed[ref.Namespace], err)
			}
			if e.Progress != nil {
				e.Progress(Step{Finished: finished, Total: len(carriers), Workload: ref, Err: err})
			}
			return nil
		})
	}
	_ = group.Wait() // The functions collect their errors in failed.
	return failed
}

// lateError is the error if a sidecar was removed from the pod template but not from all pods in time.
type lateError struct{ err error }

func (e *lateError) Error() string { return e.err.Error() }

// removeWorkload removes all sidecars of one workload and waits for its rollout.
func (e *Ejector) removeWorkload(ctx context.Context, writer *apply.Writer, ref workload.Ref) error {
	view, err := e.readView(ctx, ref)
	if view == nil {
		return err
	}
	managers := slices.Sorted(maps.Keys(view.Owned))
	for _, manager := range slices.Sorted(maps.Keys(view.Marks)) {
		if !slices.Contains(managers, manager) {
			managers = append(managers, manager)
		}
	}
	for _, manager := range managers {
		if err := e.removeManager(ctx, writer, ref, manager); errors.Is(err, apply.ErrGone) {
			return nil
		} else if err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, e.Timeout)
	defer cancel()
	failed := false
	err = wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		current, err := e.readView(ctx, ref)
		if current == nil {
			return err == nil, err
		}
		failed = current.Rollout == workload.RolloutFailed
		return failed || current.Paused || current.Rollout == workload.RolloutComplete || current.Rollout == workload.PodsNotReplaced, nil
	})
	switch {
	case err != nil:
		return &lateError{fmt.Errorf("the rollout has not finished within %s", e.Timeout)}
	case failed:
		return &lateError{errors.New("the rollout did not finish before its progress deadline")}
	}
	return nil
}

// removeManager removes the sidecar of one manager from a workload. It reads the workload again and retries if the workload
// has changed since, for example by an earlier removal or by the status of a rollout in progress.
func (e *Ejector) removeManager(ctx context.Context, writer *apply.Writer, ref workload.Ref, manager string) error {
	return retry.OnError(staleBackoff, isStale, func() error {
		view, err := e.readView(ctx, ref)
		if view == nil {
			return err
		}
		if _, err = Remove(ctx, writer, view, manager); errors.As(err, new(*ObstacleError)) {
			return fmt.Errorf("%s: %w", describeWorkload(&ref), err)
		}
		return err
	})
}

// readView reads a workload again and returns its view. It returns nil if the workload was deleted.
func (e *Ejector) readView(ctx context.Context, ref workload.Ref) (*workload.View, error) {
	live := ref.Adapter().New()
	if err := e.Client.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, live); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	view := newView(live)
	return &view, nil
}
