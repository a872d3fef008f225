// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/faults/wire"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

var (
	seed   = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of what owners do at random; a failure prints it")
	during = flag.Duration("during", 3*time.Minute, "how long owners do things at random in the full sweep")
)

// deed is a random change or fault.
type deed struct {
	name string
	do   action
	// isOwners is true if the deed changes the Deployment. The application owner makes the same change without an
	// operator.
	isOwners bool
}

// deeds draws a random deed.
func deeds(r *rand.Rand) deed {
	n := r.IntN(100)
	owners := func(name string, do action) deed { return deed{fmt.Sprintf("%s %d", name, n), do, true} }
	change := func(name string, change func(*v1alpha1.VectorSidecar)) deed {
		return deed{fmt.Sprintf("VectorSidecar: %s %d", name, n), sidecar("logs", change), false}
	}
	of := func(vs *v1alpha1.VectorSidecar) *v1alpha1.SidecarSpec {
		if vs.Spec.Sidecar == nil {
			vs.Spec.Sidecar = &v1alpha1.SidecarSpec{}
		}
		return vs.Spec.Sidecar
	}
	all := []deed{
		owners("label off", label("cart", "logs", "")),
		owners("label on", label("cart", "logs", "v")),
		owners("opt out", annotate("cart", meta.AnnotationInject, "false")),
		owners("opt in", annotate("cart", meta.AnnotationInject, "")),
		owners("scale", scale("cart", int32(n%3))),
		owners("set image", edit("cart", func(d *appsv1.Deployment) { app(d).Image = fmt.Sprintf("registry.example/app:%d", n) })),
		owners("set variable", edit("cart", func(d *appsv1.Deployment) {
			app(d).Env = []corev1.EnvVar{{Name: "COLOR", Value: fmt.Sprint(n)}}
		})),
		owners("restart", edit("cart", func(d *appsv1.Deployment) {
			metav1.SetMetaDataAnnotation(&d.Spec.Template.ObjectMeta, "kubectl.kubernetes.io/restartedAt", fmt.Sprint(n))
		})),
		owners("client-side apply", applyOnClient(manifest{version: n, more: n%2 == 0, unlabeled: n%5 == 0, folder: true}.text())),
		owners("server-side apply", applyByForce(manifest{version: n, more: n%2 == 0, unlabeled: n%5 == 0, folder: true}.text())),
		change("mounts", func(vs *v1alpha1.VectorSidecar) {
			of(vs).Logs = &v1alpha1.LogsSpec{Path: fmt.Sprintf("/var/log/%d", n%3), Containers: []string{"*"}}
		}),
		change("no mounts", func(vs *v1alpha1.VectorSidecar) { of(vs).Logs = nil }),
		change("variable", func(vs *v1alpha1.VectorSidecar) { of(vs).Env = []corev1.EnvVar{{Name: "FRUIT", Value: fmt.Sprint(n)}} }),
		change("no variable", func(vs *v1alpha1.VectorSidecar) { of(vs).Env = nil }),
		change("enabled or not", func(vs *v1alpha1.VectorSidecar) { on := n%2 == 0; vs.Spec.Enabled = &on }),
		change("reload", func(vs *v1alpha1.VectorSidecar) {
			of(vs).Reload = []v1alpha1.ReloadMode{v1alpha1.ReloadLive, v1alpha1.ReloadRestart}[n%2]
		}),
		{"the operator crashes", func(_ context.Context, p *place) error { p.crash(); return nil }, false},
		{"watches are held", func(_ context.Context, p *place) error { p.wire.Streams.Hold(); return nil }, false},
		{"watches go on", func(_ context.Context, p *place) error { p.wire.Streams.Release(); return nil }, false},
		{"watches are cut", func(_ context.Context, p *place) error { p.wire.Streams.Cut(); return nil }, false},
	}
	return all[r.IntN(len(all))]
}

// app is the application's own container.
func app(d *appsv1.Deployment) *corev1.Container {
	for i := range pod(d).Containers {
		if c := &pod(d).Containers[i]; c.Name == "app" {
			return c
		}
	}
	return &corev1.Container{}
}

// After random changes and faults, a workload equals the one in which its application owner had made all changes before
// the operator first ran.
func TestVectorSidecar_ConvergesAfterRandomEvents(t *testing.T) {
	onlyInFull(t)
	t.Logf("-seed=%d", *seed)
	group, until := errgroup.Group{}, time.Now().Add(*during)
	rounds := make([]int, *parallel)
	for worker := range *parallel {
		group.Go(func() error {
			for round := *seed + uint64(worker)<<32; time.Now().Before(until); round++ {
				if err := wander(t.Context(), round); err != nil {
					t.Errorf("seed %d: %v", round, err)
				}
				rounds[worker]++
				if *during < time.Second {
					break
				}
			}
			return nil
		})
	}
	_ = group.Wait() // Its functions report to the test.
	total := 0
	for _, n := range rounds {
		total += n
	}
	t.Logf("%d rounds", total)
}

// wander makes random changes, and compares the result with that of the same changes before the operator first ran.
func wander(ctx context.Context, seed uint64) (err error) {
	r := rand.New(rand.NewPCG(seed, 0))
	begin := create(initialObjects(func(ns string) client.Object { return cart(ns).WithInitContainer("migrate").Build() }))
	wild, err := newPlace(ctx, wire.New(nil), inProcess, "", nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, wild.end(context.WithoutCancel(ctx))) }()
	scratch, err := newPlace(ctx, wire.New(nil), inProcess, "", nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scratch.end(context.WithoutCancel(ctx))) }()
	done := []string{}
	both := func(do action) error { return errors.Join(do(ctx, wild), do(ctx, scratch)) }
	if err := errors.Join(both(begin), add(withLogs)(ctx, wild)); err != nil {
		return err
	}
	wild.start(ctx)
	for range 5 + r.IntN(15) {
		next := deeds(r)
		done = append(done, next.name)
		do := next.do(ctx, wild)
		if next.isOwners {
			do = errors.Join(do, next.do(ctx, scratch))
		}
		if do != nil {
			return fmt.Errorf("after %s: %w", strings.Join(done, ", "), do)
		}
		if r.IntN(2) == 0 {
			<-time.After(time.Duration(r.IntN(1500)) * time.Millisecond)
		}
	}
	if err := compareEnds(ctx, wild, scratch); err != nil {
		return fmt.Errorf("after %s: %w", strings.Join(done, ", "), err)
	}
	return nil
}

// compareEnds ends the faults, applies the final configuration in the place without an operator, and requires the
// same state of both.
func compareEnds(ctx context.Context, wild, scratch *place) error {
	wild.wire.Streams.Release()
	now, err := wild.look(ctx, true)
	if err != nil {
		return err
	}
	fresh := objects.NewVectorSidecar("logs", scratch.namespace).Build()
	fresh.Spec = now.sidecars["logs"].Spec
	if err := world.Client.Create(ctx, fresh); err != nil {
		return err
	}
	scratch.start(ctx)
	var should state
	versions, since := "", time.Now()
	err = scratch.until(ctx, func(s *seen) string {
		if still := s.unsettled(); still != "" || s.versions != versions {
			versions, since = s.versions, time.Now()
			return "something goes on: " + still
		}
		should = workloads(s)
		if time.Since(since) < calm {
			return "it is not calm"
		}
		return ""
	}, nil)
	if err != nil {
		return fmt.Errorf("from scratch: %w", err)
	}
	return wild.until(ctx, func(s *seen) string {
		if still := s.unsettled(); still != "" {
			return still
		}
		return differences(should, workloads(s))
	}, func(s *seen) bool { return wild.wire.Idle() > futile && s.unsettled() == "" })
}

// workloads returns the Deployments of a namespace without irrelevant differences that depend on the order of writes:
// the order of volumes, and the field manager of a shared map. Of managedFields, only the operator's entries are
// compared.
func workloads(s *seen) state {
	all := state{}
	for name, object := range s.workloads {
		m := ofAnyRun(metadataOf(object))
		m.ManagedFields = slices.DeleteFunc(m.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return !meta.IsManager(e.Manager) })
		for i := range m.ManagedFields {
			fields := strings.ReplaceAll(m.ManagedFields[i].FieldsV1.GetRawString(), `".":{},`, "")
			m.ManagedFields[i].FieldsV1 = metav1.NewFieldsV1(fields)
		}
		sorted, _ := object.DeepCopyObject().(workload.Object)
		slices.SortFunc(workload.PodTemplate(sorted).Spec.Volumes, func(a, b corev1.Volume) int { return cmp.Compare(a.Name, b.Name) })
		all["workload "+name] = s.text(specOf(sorted, m))
	}
	return all
}
