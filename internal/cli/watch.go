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

// settleTime is the time for which a watch waits for further changes before it prints again, because often several
// objects change together.
const settleTime = 200 * time.Millisecond

// pause is the delay before an ended watch is restarted, as in client-go. The API server ends a watch after half an
// hour or more, but a proxy may end each watch immediately.
var pause = wait.Backoff{Duration: 800 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 10, Cap: 30 * time.Second}

// pauseReset is the duration of a watch after which the pause is reset to its initial value.
const pauseReset = 2 * time.Minute

// watched are the objects of one kind that a command prints and watches, in one namespace or in all namespaces.
type watched struct {
	list            client.ObjectList
	name, namespace string
	// isUnseen reports whether an error of the watch is ignored, because reading the objects has already reported it.
	// It is nil if no error is ignored.
	isUnseen func(error) bool
}

// watchSidecars returns the watch of the VectorSidecars in a namespace, or in all namespaces for "".
func watchSidecars(namespace string) watched {
	return watched{list: &v1alpha1.VectorSidecarList{}, name: "VectorSidecars", namespace: namespace}
}

// watchClusterSidecars returns the watch of all ClusterVectorSidecars.
func watchClusterSidecars() watched {
	return watched{list: &v1alpha1.ClusterVectorSidecarList{}, name: "ClusterVectorSidecars"}
}

// watchClusterSidecarsIfAny returns the watch of all ClusterVectorSidecars. It ignores the errors if the kind is not
// installed, or if the user may not read it.
func watchClusterSidecarsIfAny() watched {
	target := watchClusterSidecars()
	target.isUnseen = func(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || isNoMatch(err) }
	return target
}

// watchWorkloads returns the watches of the workloads of all kinds in a namespace. It ignores errors if the cluster
// lacks a kind, or if the user may not list a kind other than the default one.
func watchWorkloads(namespace string) (targets []watched) {
	for _, kind := range workload.Kinds() {
		targets = append(targets, watched{list: kind.NewList(), name: kind.Plural, namespace: namespace, isUnseen: func(err error) bool {
			return apierrors.IsForbidden(err) && kind != workload.Default() || kind.IsMissingAPI(err)
		}})
	}
	return targets
}

// watch prints the result of show, and prints it again when the watched objects change it. On a terminal, the new text
// replaces the previous one. It returns nil when the context ends.
func (a *app) watch(ctx context.Context, cluster client.WithWatch, show func() ([]byte, error), targets ...watched) error {
	w := &watcher{app: a, show: show}
	err := pause.DelayWithReset(clock.RealClock{}, pauseReset).Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		return false, w.watchOnce(ctx, cluster, targets)
	})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // The user stopped the command.
	}
	return err
}

// watcher prints a text again when it has changed.
type watcher struct {
	app  *app
	show func() ([]byte, error)
	last []byte
}

// watchOnce runs one watch until it ends.
func (w *watcher) watchOnce(ctx context.Context, cluster client.WithWatch, targets []watched) error {
	changed, stop, err := watchChanges(ctx, cluster, targets)
	if err != nil {
		return err
	}
	defer stop()
	// The objects are read after the watch has started, so that no change is missed.
	for open := true; open; open = waitForChange(ctx, changed) {
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
		_ = writeControl(a.Out, "\x1b[H\x1b[2J")
	case isAgain:
		_, _ = fmt.Fprintln(a.Out)
	}
	_, _ = a.Out.Write(text)
}

// watchChanges starts the watches.
func watchChanges(ctx context.Context, cluster client.WithWatch, targets []watched) (changed chan struct{}, stop func(), err error) {
	var watches []watch.Interface
	stop = func() {
		for _, kindWatch := range watches {
			kindWatch.Stop()
		}
	}
	for _, target := range targets {
		kindWatch, err := cluster.Watch(ctx, target.list, client.InNamespace(target.namespace))
		switch {
		case err == nil:
			watches = append(watches, kindWatch)
		case target.isUnseen == nil || !target.isUnseen(err):
			stop()
			return nil, nil, explainMissing(fmt.Errorf("watching %s: %w", target.name, err))
		}
	}
	changed = make(chan struct{}, 1)
	go forwardEvents(changed, watches)
	return changed, stop, nil
}

// forwardEvents sends a signal for events until one of the watches ends. It merges events that arrive before the
// receiver is ready into one signal.
func forwardEvents(changed chan<- struct{}, watches []watch.Interface) {
	defer close(changed)
	merged, done := make(chan bool), make(chan struct{})
	defer close(done)
	for _, kindWatch := range watches {
		go func() {
			for open := true; open; {
				_, open = <-kindWatch.ResultChan()
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

// waitForChange waits for a change, and for further changes within settleTime. It returns false when the watch has
// ended.
func waitForChange(ctx context.Context, changed <-chan struct{}) bool {
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
