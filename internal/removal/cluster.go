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
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Ejector removes everything of the operator from a cluster. All fields but Progress are
// required.
type Ejector struct {
	Client client.Client
	// MaxConcurrent is how many workloads may be rolling out at once.
	MaxConcurrent int
	// Patience is how long one rollout may take before the next may begin.
	Patience time.Duration
	// Progress is called for each workload that is done, by one goroutine at a time.
	Progress func(Step)
}

// Step reports a workload that is done.
type Step struct {
	// Done of Total workloads.
	Done, Total int
	Workload    workload.Ref
	// Err says why it still has a sidecar, or why its rollout has not finished.
	Err error
}

// maxPasses is how often the search for leftovers is repeated: what the operator gives up may be
// in its owner's manifest, too, ConfigMaps go when nothing needs them any more, and an operator that
// is still running may have been in the middle of a reconcile.
const maxPasses = 5

// pollInterval is how often a rollout is checked.
const pollInterval = 500 * time.Millisecond

// Clean removes everything from a namespace, "" for all: first what the API server injects,
// and VectorSidecars, so that nothing is injected again; then sidecars, at a limited pace; then
// finalizers, and the ConfigMaps that no workload needs any more. If a sidecar cannot be removed,
// what is in its namespace stays, and ClusterVectorSidecars do; other namespaces are cleaned. It
// returns what it found. The error is a *LeftError if nothing has failed and something is there
// that it must not, or cannot, remove.
func (e *Ejector) Clean(ctx context.Context, namespace string) (*Traces, error) {
	var found *Traces
	live := livelist.New(e.Client)
	failed := map[string]error{} // by namespace
	for passes := 0; ; passes++ {
		left, err := FindTraces(ctx, live, namespace)
		if err != nil {
			return found, err
		}
		if found == nil {
			found = left
		}
		left.leaveOut(failed)
		failures := slices.Collect(maps.Values(failed))
		switch {
		case left.None():
			return found, inOrder(failures)
		case passes == maxPasses, left.isStuck():
			if len(failures) > 0 {
				return found, inOrder(append(failures, errors.New((&LeftError{left}).Error())))
			}
			return found, &LeftError{left}
		}
		if err := e.pass(ctx, left, failed); err != nil {
			return found, err
		}
	}
}

// inOrder joins errors by their texts, nil for none.
func inOrder(all []error) error {
	return errors.Join(slices.SortedFunc(slices.Values(all), func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })...)
}

// pass cleans once what it is given. It adds the namespaces in which a sidecar could not be removed
// to failed; then nothing else is removed before the next pass, which leaves those out.
func (e *Ejector) pass(ctx context.Context, traces *Traces, failed map[string]error) error {
	writer := apply.New(e.Client)
	for _, namespace := range traces.OverlaySets { // What is taken out must not be put in again.
		if err := writer.DeleteOverlaySet(ctx, namespace); err != nil {
			return err
		}
	}
	for i := range traces.Sidecars {
		if err := writer.Retire(ctx, &traces.Sidecars[i], false); err != nil {
			return err
		}
	}
	if stuck := e.removeAll(ctx, writer, traces.Workloads); len(stuck) > 0 {
		maps.Copy(failed, stuck)
		return ctx.Err()
	}
	for key, users := range traces.Companions {
		if len(users) > 0 {
			continue // After the next pass it may have none.
		}
		if err := writer.DeleteCompanion(ctx, key); err != nil {
			return err
		}
	}
	for i := range traces.Sidecars {
		if err := e.release(ctx, writer, &traces.Sidecars[i]); err != nil {
			return fmt.Errorf("%s: %w", nameOf(&traces.Sidecars[i]), err)
		}
	}
	return nil
}

// release removes the finalizer, again if an operator that still runs writes in between.
func (e *Ejector) release(ctx context.Context, writer *apply.Writer, sidecar *metav1.PartialObjectMetadata) error {
	return retry.OnError(retry.DefaultBackoff, isStale, func() error {
		live := sidecar.DeepCopy()
		if err := e.Client.Get(ctx, client.ObjectKeyFromObject(live), live); err != nil {
			return client.IgnoreNotFound(err) // It had no finalizer, or it was removed in the meantime.
		}
		return writer.RemoveFinalizer(ctx, live)
	})
}

// isStale reports whether somebody has written in between.
func isStale(err error) bool { return errors.Is(err, apply.ErrStale) }

// removeAll removes the sidecars, MaxConcurrent at a time, and continues after failures, which it
// returns by namespace.
func (e *Ejector) removeAll(ctx context.Context, writer *apply.Writer, carriers []Carrier) map[string]error {
	var mu sync.Mutex
	failed := map[string]error{}
	done := 0
	group := errgroup.Group{}
	group.SetLimit(e.MaxConcurrent)
	for i := range carriers {
		ref := carriers[i].Ref
		group.Go(func() error {
			err := e.remove(ctx, writer, ref)
			var late *lateError
			mu.Lock()
			defer mu.Unlock()
			if done++; err != nil && !errors.As(err, &late) {
				failed[ref.Namespace] = errors.Join(failed[ref.Namespace], err)
			}
			if e.Progress != nil {
				e.Progress(Step{Done: done, Total: len(carriers), Workload: ref, Err: err})
			}
			return nil
		})
	}
	_ = group.Wait() // The functions collect their errors in failed.
	return failed
}

// lateError says that a sidecar is removed, but not yet from all pods.
type lateError struct{ err error }

func (e *lateError) Error() string { return e.err.Error() }

// remove removes all sidecars of one workload and waits for its rollout.
func (e *Ejector) remove(ctx context.Context, writer *apply.Writer, ref workload.Ref) error {
	view, err := e.read(ctx, ref)
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
		if err := e.removeOne(ctx, writer, view, manager); errors.Is(err, apply.ErrGone) {
			return nil
		} else if err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, e.Patience)
	defer cancel()
	failed := false
	err = wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		current, err := e.read(ctx, ref)
		if current == nil {
			return err == nil, err
		}
		failed = current.Rollout == workload.RolloutFailed
		return failed || current.Paused || current.Rollout == workload.RolloutComplete || current.Rollout == workload.PodsNotReplaced, nil
	})
	switch {
	case err != nil:
		return &lateError{fmt.Errorf("its rollout has not finished within %s", e.Patience)}
	case failed:
		return &lateError{errors.New("its rollout did not finish before its progress deadline")}
	}
	return nil
}

// removeOne removes one manager's sidecar from a workload. It retries if others have written
// the workload in between, as an earlier removal has, or the status of a rollout that goes on.
func (e *Ejector) removeOne(ctx context.Context, writer *apply.Writer, view *workload.View, manager string) error {
	isFresh := true
	return retry.OnError(retry.DefaultBackoff, isStale, func() error {
		if !isFresh {
			again, err := e.read(ctx, view.Ref)
			if again == nil {
				return err
			}
			*view = *again
		}
		isFresh = false
		removal := plan.ForRemoval(manager, view)
		switch removal.Action {
		case plan.None:
			return nil
		case plan.Blocked:
			return fmt.Errorf("%s %s/%s: %s", view.Kind, view.Namespace, view.Name, removal.Message)
		default:
		}
		_, err := writer.Workload(ctx, &removal)
		return err
	})
}

// read reads a workload again; it returns nil if it was deleted or on an error.
func (e *Ejector) read(ctx context.Context, of workload.Ref) (*workload.View, error) {
	live := of.Adapter().New()
	if err := e.Client.Get(ctx, client.ObjectKey{Namespace: of.Namespace, Name: of.Name}, live); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	view := viewOf(live)
	return &view, nil
}
