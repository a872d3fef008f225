// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

const (
	// tenantLabel has another value for each VectorSidecar of the tenant.
	tenantLabel = "tenant-logs"
	// probeInterval is the time between two Deployments in the other namespace.
	probeInterval = 500 * time.Millisecond
	// probePatience is how long a Deployment waits for its sidecar before the run fails.
	probePatience = 10 * time.Minute
)

// probes are the durations of one phase in the other namespace.
type probes struct {
	phase string
	// injections and writes are from the creation of a Deployment until a watch shows its sidecar: applied by the
	// operator, and by a plain client with one server-side apply. A busy API server delays the events of both watches.
	injections, writes []time.Duration
}

// prober creates Deployments in a namespace at fixed times, whether or not the ones before have their sidecars.
type prober struct {
	b         *bench
	namespace string
	seen      *observer
	plain     *overlay

	mu    sync.Mutex
	count int
}

// besideTenant measures how long a namespace waits for sidecars while the tenant of another one creates and relabels.
func (s sizes) besideTenant(count int) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) (err error) {
		operator, err := b.program.start(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, operator.stop()) }()
		p, err := newProber(ctx, b)
		if err != nil {
			return err
		}
		defer p.seen.stop()
		tenant, err := b.cluster.namespace(ctx, "tenant")
		if err != nil {
			return err
		}
		injected, err := b.cluster.observe(ctx, tenant)
		if err != nil {
			return err
		}
		defer injected.stop()
		still := func(ctx context.Context) error { return pause(ctx, s.still) }
		var measured []*probes
		for _, phase := range []struct {
			name string
			run  func(context.Context) error
		}{
			{"warming up", still},
			{"at rest", still},
			{"creation", func(ctx context.Context) error { return b.createTenant(ctx, injected, tenant, count) }},
			{"relabeling", func(ctx context.Context) error { return b.relabelTenant(ctx, injected, tenant, count) }},
			{"afterwards", still},
		} {
			made, err := p.during(ctx, phase.name, phase.run)
			if err != nil {
				return fmt.Errorf("%s: %w", phase.name, err)
			}
			measured = append(measured, made)
		}
		b.judgeTenants(count, measured[1], measured[2:])
		return b.empty(ctx, tenant)
	}
}

func newProber(ctx context.Context, b *bench) (*prober, error) {
	namespace, err := b.cluster.namespace(ctx, "other")
	if err != nil {
		return nil, err
	}
	p := &prober{b: b, namespace: namespace}
	if err := b.cluster.Client.Create(ctx, logs(namespace)); err != nil {
		return nil, err
	}
	if err := b.settled(ctx, namespace, "logs", func(sidecar *v1alpha1.VectorSidecar) bool { return sidecar.Status.ObservedGeneration > 0 }); err != nil {
		return nil, err
	}
	if p.plain, err = newOverlay(ctx, logs(namespace), nil, b.kubeVersion); err != nil {
		return nil, err
	}
	p.seen, err = b.cluster.observe(ctx, namespace)
	return p, err
}

// during probes until a phase has ended and all Deployments of the phase have their sidecars.
func (p *prober) during(ctx context.Context, phase string, run func(context.Context) error) (*probes, error) {
	made := &probes{phase: phase}
	group, ctx := errgroup.WithContext(ctx)
	ended := make(chan error, 1)
	began := time.Now()
	go func() { ended <- run(ctx) }()
	ticker := time.NewTicker(probeInterval)
	defer ticker.Stop()
	var err error
	for isOver := false; !isOver; {
		select {
		case err = <-ended:
			isOver = true
		case <-ticker.C:
			group.Go(func() error { return p.probe(ctx, made) })
		}
	}
	took := time.Since(began)
	err = errors.Join(err, group.Wait())
	slices.Sort(made.injections)
	slices.Sort(made.writes)
	p.b.tell("%s took %s, with %d probes", phase, rounded(took), len(made.injections))
	return made, err
}

// probe creates a Deployment without and one with the operator.
func (p *prober) probe(ctx context.Context, into *probes) error {
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	p.mu.Lock()
	p.count++
	plain, name := fmt.Sprintf("plain-%05d", p.count), appName(p.count)
	p.mu.Unlock()
	deployments := p.b.cluster.set.AppsV1().Deployments(p.namespace)
	create := func(name string, change func(int, *appsv1.Deployment)) error {
		object := application(name, p.namespace)
		object.Spec.Replicas = new(int32)
		change(0, object)
		_, err := deployments.Create(ctx, object, metav1.CreateOptions{FieldManager: "helm"})
		return err
	}
	manifest, err := p.plain.manifest(p.namespace, plain)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := create(plain, func(int, *appsv1.Deployment) {}); err != nil {
		return err
	}
	if _, err := deployments.Patch(ctx, plain, types.ApplyPatchType, manifest, metav1.PatchOptions{FieldManager: "floor"}); err != nil {
		return err
	}
	if err := p.seen.wait(ctx, "the sidecar of "+plain, func() bool { return !p.seen.injected[plain].IsZero() }); err != nil {
		return err
	}
	written := p.seen.at(plain).Sub(began)
	began = time.Now()
	if err := create(name, scaledDown); err != nil {
		return err
	}
	if err := p.seen.wait(ctx, "the sidecar of "+name, func() bool { return !p.seen.injected[name].IsZero() }); err != nil {
		return err
	}
	p.mu.Lock()
	into.injections = append(into.injections, p.seen.at(name).Sub(began))
	into.writes = append(into.writes, written)
	p.mu.Unlock()
	background := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{PropagationPolicy: &background}
	return errors.Join(deployments.Delete(ctx, plain, options), deployments.Delete(ctx, name, options))
}

func tenantValue(n int) string { return fmt.Sprintf("logs-%05d", n) }

// createTenant creates VectorSidecars, each with a Deployment, and waits until these have their sidecars.
func (b *bench) createTenant(ctx context.Context, injected *observer, namespace string, count int) error {
	err := each(ctx, count, func(ctx context.Context, n int) error {
		sidecar := objects.NewVectorSidecar(tenantValue(n), namespace).Selecting(tenantLabel, tenantValue(n)).WithLogs("/var/log/app").WithMaxConcurrent("100%").Build()
		if err := b.cluster.Client.Create(ctx, sidecar); err != nil {
			return err
		}
		object := application(appName(n), namespace)
		object.Spec.Replicas = new(int32)
		metav1.SetMetaDataLabel(&object.ObjectMeta, tenantLabel, tenantValue(n))
		_, err := b.cluster.set.AppsV1().Deployments(namespace).Create(ctx, object, metav1.CreateOptions{FieldManager: "helm"})
		return err
	})
	if err != nil {
		return err
	}
	return injected.count(ctx, count)
}

// relabelTenant makes each Deployment match the next VectorSidecar, and waits until it has that one's sidecar.
func (b *bench) relabelTenant(ctx context.Context, injected *observer, namespace string, count int) error {
	injected.mu.Lock()
	before := make([]string, count)
	for n := range count {
		before[n] = injected.versions[appName(n)]
	}
	injected.mu.Unlock()
	err := each(ctx, count, func(ctx context.Context, n int) error {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]string{tenantLabel: tenantValue((n + 1) % count)}}})
		if err != nil {
			return err
		}
		_, err = b.cluster.set.AppsV1().Deployments(namespace).Patch(ctx, appName(n), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "helm"})
		return err
	})
	if err != nil {
		return err
	}
	return injected.wait(ctx, "the next sidecar in every Deployment", func() bool {
		for n := range count {
			if version := injected.versions[appName(n)]; version == "" || version == before[n] {
				return false
			}
		}
		return true
	})
}

// judgeTenants compares the phases with the time at rest.
func (b *bench) judgeTenants(count int, rest *probes, phases []*probes) {
	t := table{
		title: fmt.Sprintf("Injection in another namespace beside a tenant with %d VectorSidecars", count),
		head:  []string{"phase", "probes", "injection p50", "p99", "max", "own plain writes p50", "p99", "limit", "p99 ÷ limit"},
	}
	for _, phase := range append([]*probes{rest}, phases...) {
		p99, plain := percentile(phase.injections, 99), percentile(phase.writes, 99)
		limit := 2*percentile(rest.injections, 99) + plain
		ratio := float64(p99) / float64(limit)
		t.add(phase.phase, len(phase.injections), rounded(median(phase.injections)), rounded(p99), rounded(phase.injections[len(phase.injections)-1]),
			rounded(median(phase.writes)), rounded(plain), rounded(limit), fmt.Sprintf("%.2f", ratio))
		if phase != rest {
			b.find(finding{
				fmt.Sprintf("injection in another namespace, %s of %d VectorSidecars", phase.phase, count), "p99 ≤ 2 × p99 at rest + own plain writes",
				fmt.Sprintf("%s of %s", rounded(p99), rounded(limit)), p99 <= limit, 0,
			})
		}
	}
	b.tables = append(b.tables, t)
}
