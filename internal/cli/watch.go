// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// settleTime is how long a watch waits for further changes before it refreshes, because several
// objects change together.
const settleTime = 200 * time.Millisecond

// pause is how long to wait until a watch that has ended begins again, as client-go does: the API server
// ends one after half an hour or more, but a proxy may end each at once.
var pause = wait.Backoff{Duration: 800 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 10, Cap: 30 * time.Second}

// pauseReset is how long a watch lasts before the pause is short again.
const pauseReset = 2 * time.Minute

// watched are the objects of a kind that a command prints: those of a namespace, or all.
type watched struct {
	list            client.ObjectList
	name, namespace string
	// isUnseen reports whether an error of the watch was told of when they were read; nil for none.
	isUnseen func(error) bool
}

func sidecarsIn(namespace string) watched {
	return watched{list: &v1alpha1.VectorSidecarList{}, name: "VectorSidecars", namespace: namespace}
}

func clusterSidecars() watched {
	return watched{list: &v1alpha1.ClusterVectorSidecarList{}, name: "ClusterVectorSidecars"}
}

// clusterSidecarsIfAny are those of a cluster that may have no such kind, for somebody who may not read
// them.
func clusterSidecarsIfAny() watched {
	of := clusterSidecars()
	of.isUnseen = func(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || isNoMatch(err) }
	return of
}

func workloadsIn(namespace string) (all []watched) {
	for _, kind := range workload.Kinds() {
		all = append(all, watched{list: kind.NewList(), name: kind.Plural, namespace: namespace, isUnseen: func(err error) bool {
			return apierrors.IsForbidden(err) && kind != workload.Default() || kind.Lacks(err)
		}})
	}
	return all
}

// watch prints what show returns, and again whenever it differs because one of the watched objects
// changed: in place on a terminal, otherwise one after another. It ends with the context, which is
// no error.
func (a *app) watch(ctx context.Context, cluster client.WithWatch, show func() ([]byte, error), what ...watched) error {
	w := &watcher{app: a, show: show}
	err := pause.DelayWithReset(clock.RealClock{}, pauseReset).Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		return false, w.round(ctx, cluster, what)
	})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // Somebody has seen enough.
	}
	return err
}

// watcher remembers what it has shown.
type watcher struct {
	app  *app
	show func() ([]byte, error)
	last []byte
}

// round is one watch, until it ends.
func (w *watcher) round(ctx context.Context, cluster client.WithWatch, what []watched) error {
	changed, stop, err := changes(ctx, cluster, what)
	if err != nil {
		return err
	}
	defer stop()
	// The first text is shown after the watch has begun, so that no change is missed.
	for open := true; open; open = next(ctx, changed) {
		text, err := w.show()
		if err != nil {
			return err
		}
		if !bytes.Equal(text, w.last) {
			w.app.redraw(text, w.last != nil)
			w.last = text
		}
	}
	return nil
}

// redraw replaces the last text by a new one.
func (a *app) redraw(text []byte, isAgain bool) {
	switch {
	case isAgain && isTerminal(a.Out):
		_ = control(a.Out, "\x1b[H\x1b[2J")
	case isAgain:
		_, _ = fmt.Fprintln(a.Out)
	}
	_, _ = a.Out.Write(text)
}

// changes begins the watches.
func changes(ctx context.Context, cluster client.WithWatch, what []watched) (changed chan struct{}, stop func(), err error) {
	var watches []watch.Interface
	stop = func() {
		for _, one := range watches {
			one.Stop()
		}
	}
	for _, of := range what {
		one, err := cluster.Watch(ctx, of.list, client.InNamespace(of.namespace))
		switch {
		case err == nil:
			watches = append(watches, one)
		case of.isUnseen == nil || !of.isUnseen(err):
			stop()
			return nil, nil, explainMissing(fmt.Errorf("watching %s: %w", of.name, err))
		}
	}
	changed = make(chan struct{}, 1)
	go forward(changed, watches)
	return changed, stop, nil
}

// forward signals events until one of the watches ends. Events that arrive before the receiver is
// ready are merged into one.
func forward(changed chan<- struct{}, watches []watch.Interface) {
	defer close(changed)
	merged, done := make(chan bool), make(chan struct{})
	defer close(done)
	for _, one := range watches {
		go func() {
			for open := true; open; {
				_, open = <-one.ResultChan()
				select {
				case merged <- open:
				case <-done:
					return
				}
			}
		}()
	}
	for <-merged {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
}

// next waits for a change and those that follow it shortly. It returns false when the watch has
// ended.
func next(ctx context.Context, changed <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case _, open := <-changed:
		if !open {
			return false
		}
	}
	timer := time.NewTimer(settleTime)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		case _, open := <-changed:
			if !open {
				return false
			}
		}
	}
}
