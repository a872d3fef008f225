// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/faults/wire"
)

// place is the namespace of a run with an operator that watches only this namespace. If the operator crashes, another
// one starts, as in a pod.
type place struct {
	namespace string
	wire      *wire.Wire
	rollouts  *rollouts
	kind      *workload.Kind
	// program is the program under test.
	program program
	// waits delays the start of the next operator after a crash until resume is closed.
	waits  bool
	resume chan struct{}

	stop    context.CancelFunc
	stopped sync.WaitGroup

	mu   sync.Mutex
	life *wire.Life
	// chart is the operator's built-in chart; nil means the default.
	chart fs.FS
}

// program runs an operator for a place until the context or its life ends. It returns when no request of the operator
// can reach the API server any more.
type program func(ctx context.Context, p *place, life *wire.Life)

// newPlace creates a namespace with the ConfigMap of the installation's values, which has data. No operator runs
// before start. kind is the kind of its workloads; empty means Deployment.
func newPlace(ctx context.Context, w *wire.Wire, runs program, kind string, data map[string]string) (*place, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "run-"}}
	if err := world.Client.Create(ctx, namespace); err != nil {
		return nil, fmt.Errorf("making a namespace: %w", err)
	}
	installation := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: environments}, Data: data}
	if err := world.ApplyValues(ctx, installation); err != nil {
		return nil, fmt.Errorf("creating the installation's values: %w", err)
	}
	p := &place{namespace: namespace.Name, wire: w, program: runs, resume: make(chan struct{}, 1), stop: func() {}, kind: cmp.Or(workload.KindByName(kind), workload.Default())}
	var err error
	p.rollouts, err = countRollouts(ctx, namespace.Name, p.kind)
	return p, err
}

// start runs an operator until the end of the run.
func (p *place) start(ctx context.Context) {
	ctx, p.stop = context.WithCancel(ctx)
	life := p.begin()
	p.stopped.Go(func() {
		for ctx.Err() == nil {
			p.program(ctx, p, life)
			if p.waits && ctx.Err() == nil {
				select {
				case <-p.resume:
				case <-ctx.Done():
				}
			}
			life = p.begin()
		}
	})
}

func (p *place) begin() *wire.Life {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.life = p.wire.Begin()
	return p.life
}

// inProcess runs an operator in the process of the tests, which is fast. Its transport, cache and state are lost in a
// crash.
func inProcess(ctx context.Context, p *place, life *wire.Life) {
	runIn(ctx, p, life, operator.Options{
		Namespace: p.namespace, WatchNamespaces: []string{p.namespace}, EnvironmentsConfigMap: environments, WorkloadKinds: []string{p.kind.Kind},
	})
}

// runIn runs an operator with options in the process of the tests.
func runIn(ctx context.Context, p *place, life *wire.Life, options operator.Options) {
	options.Concurrency = 1 // What two passes write at once would have no order.
	seen := *world
	seen.Operator, seen.Chart = through(life, world.Operator), p.builtIn()
	running := seen.RunOperator(options)
	select {
	case <-ctx.Done():
	case <-life.Crashed():
		life.Crash()
	}
	p.stopped.Go(func() { _ = running.Stop() }) // How one ends that has crashed is of no matter.
}

// through returns a config that sends a program's requests through a life.
func through(life *wire.Life, config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(life.Through)
	return config
}

// crash ends the operator at once.
func (p *place) crash() {
	p.mu.Lock()
	life := p.life
	p.mu.Unlock()
	life.Crash()
}

// upgrade replaces the running operator by one with another built-in chart.
func (p *place) upgrade(chart fs.FS) {
	p.mu.Lock()
	p.chart = chart
	p.mu.Unlock()
	p.crash()
}

func (p *place) builtIn() fs.FS {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.chart
}

// job runs another program on the same wire with the administrator's permissions, and again after each crash.
func (p *place) job(ctx context.Context, run func(ctx context.Context, config *rest.Config) error) error {
	for {
		life := p.wire.Begin()
		once, cancel := context.WithCancel(ctx)
		ended := make(chan struct{})
		var err error
		go func() {
			defer close(ended)
			err = run(once, through(life, world.Config))
		}()
		select {
		case <-life.Crashed():
			life.Crash()
		case <-ended:
		}
		cancel()
		<-ended
		select {
		case <-life.Crashed():
		default:
			return err
		}
	}
}

// end stops the operator and deletes the objects that use resources.
func (p *place) end(ctx context.Context) error {
	p.stop()
	p.rollouts.stop()
	p.wire.Streams.Release()
	var sidecars v1alpha1.VectorSidecarList
	failure := world.Client.List(ctx, &sidecars, client.InNamespace(p.namespace))
	for i := range sidecars.Items {
		before := sidecars.Items[i].DeepCopy()
		sidecars.Items[i].Finalizers = nil
		failure = errors.Join(failure, client.IgnoreNotFound(world.Client.Patch(ctx, &sidecars.Items[i], client.MergeFrom(before))))
	}
	for _, object := range []client.Object{&v1alpha1.VectorSidecar{}, p.kind.New()} {
		failure = errors.Join(failure, world.Client.DeleteAllOf(ctx, object, client.InNamespace(p.namespace), client.PropagationPolicy(metav1.DeletePropagationBackground)))
	}
	p.stopped.Wait()
	return failure
}

// pause waits before the next check.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(150 * time.Millisecond):
		return nil
	}
}
