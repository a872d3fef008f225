// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// changesPerSecond is how fast labels are added.
const changesPerSecond = 50

// latency adds the selected label to one Deployment after the other, and sees how
// soon each has the sidecar.
func (s sizes) latency(ctx context.Context, b *bench) (err error) {
	namespace, err := b.cluster.namespace(ctx, "latency")
	if err != nil {
		return err
	}
	if err := b.cluster.seed(ctx, namespace, s.changes, nil); err != nil {
		return err
	}
	operator, err := b.program.start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, operator.stop(), b.empty(ctx, namespace)) }()
	if err := b.cluster.Client.Create(ctx, logs(namespace)); err != nil {
		return err
	}
	if err := b.settled(ctx, namespace, "logs", isReady); err != nil {
		return err
	}
	seen, err := b.cluster.observe(ctx, namespace)
	if err != nil {
		return err
	}
	defer seen.stop()
	var mu sync.Mutex
	labelled := map[string]time.Time{}
	ticker := time.NewTicker(time.Second / changesPerSecond)
	defer ticker.Stop()
	patch := fmt.Appendf(nil, "{\"metadata\":{\"labels\":{%q:%q}}}", wantedKey, wantedValue)
	err = each(ctx, s.changes, seeders, func(ctx context.Context, n int) error {
		<-ticker.C
		_, err := b.cluster.set.AppsV1().Deployments(namespace).Patch(ctx, appName(n), types.MergePatchType, patch, metav1.PatchOptions{})
		mu.Lock()
		defer mu.Unlock()
		labelled[appName(n)] = time.Now()
		return err
	})
	if err != nil {
		return err
	}
	if err := seen.count(ctx, s.changes); err != nil {
		return err
	}
	var waits []time.Duration
	for name, at := range labelled {
		waits = append(waits, max(0, seen.at(name).Sub(at)))
	}
	slices.Sort(waits)
	half, most := percentile(waits, 50), percentile(waits, 99)
	b.find(finding{fmt.Sprintf("label added to %d Deployments, %d a second", s.changes, changesPerSecond), "p50 ≤ 10 ms, p99 ≤ 50 ms",
		fmt.Sprintf("p50 %s, p99 %s", rounded(half), rounded(most)), half <= 10*time.Millisecond && most <= 50*time.Millisecond, 0})
	return nil
}

// referring is a VectorSidecar whose configuration is in a ConfigMap.
func referring(namespace, budget string) *v1alpha1.VectorSidecar {
	most := intstr.Parse(budget)
	sidecar := objects.NewVectorSidecar("logs", namespace).Selecting(wantedKey, wantedValue).WithConfigMap("vector", "vector.yaml").Build()
	sidecar.Spec.Rollout = &v1alpha1.RolloutSpec{MaxConcurrent: &most}
	return sidecar
}

// configure writes the ConfigMap.
func (c *cluster) configure(ctx context.Context, namespace, message string) error {
	object := objects.NewConfigMap("vector", namespace, "vector.yaml", objects.VectorConfig(message))
	maps := c.set.CoreV1().ConfigMaps(namespace)
	if message == "0" {
		_, err := maps.Create(ctx, object, metav1.CreateOptions{})
		return err
	}
	_, err := maps.Update(ctx, object, metav1.UpdateOptions{})
	return err
}

// flips changes a referenced ConfigMap once, and then every second for a while.
func (s sizes) flip(ctx context.Context, b *bench) (err error) {
	namespace, err := b.cluster.namespace(ctx, "flips")
	if err != nil {
		return err
	}
	if err := errors.Join(b.cluster.configure(ctx, namespace, "0"), b.cluster.seed(ctx, namespace, s.flipped, wanted)); err != nil {
		return err
	}
	operator, err := b.program.start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, operator.stop(), b.empty(ctx, namespace)) }()
	seen, err := b.cluster.observe(ctx, namespace)
	if err != nil {
		return err
	}
	defer seen.stop()
	if err := b.cluster.Client.Create(ctx, referring(namespace, "100%")); err != nil {
		return err
	}
	if err := seen.same(ctx, s.flipped, ""); err != nil {
		return err
	}
	if err := b.once(ctx, s, seen, namespace); err != nil {
		return err
	}
	before, err := b.cluster.quiet(ctx, time.Second)
	if err != nil {
		return err
	}
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for n := range s.flips {
		<-ticker.C
		if err := b.cluster.configure(ctx, namespace, fmt.Sprint("flip ", n)); err != nil {
			return err
		}
	}
	after, err := b.cluster.quiet(ctx, 5*time.Second)
	if err != nil {
		return err
	}
	writes, most := after.since(before)["APPLY deployments"], s.flips*s.flipped
	distinct := seen.distinct()
	b.find(finding{fmt.Sprintf("ConfigMap flipping each second, %d times, over %d Deployments", s.flips, s.flipped),
		fmt.Sprintf("≤ %d writes, and the last state everywhere", most), fmt.Sprintf("%d writes, %d states in the end", writes, distinct), writes <= most && distinct == 1, 0})
	return nil
}

// once changes the ConfigMap once, and holds the wave against the floor.
func (b *bench) once(ctx context.Context, s sizes, seen *observer, namespace string) error {
	before := seen.version()
	seen.again()
	began := time.Now()
	if err := b.cluster.configure(ctx, namespace, "once"); err != nil {
		return err
	}
	changed := time.Now()
	if err := seen.same(ctx, s.flipped, before); err != nil {
		return err
	}
	wall, first := time.Since(began), seen.earliest().Sub(changed)
	floor, err := b.compete(ctx, s.flipped, 1, floorContender)
	if err != nil {
		return err
	}
	ratio := float64(wall) / float64(floor.walls(byFloor)[0])
	b.find(finding{"ConfigMap change to the first patch", "≤ 50 ms", rounded(first), first <= 50*time.Millisecond, 0})
	b.find(finding{fmt.Sprintf("ConfigMap change to the last of %d patches", s.flipped), "≤ 1.10 × the floor", fmt.Sprintf("%.2f ×", ratio), ratio <= 1.10, ratio})
	return nil
}

// paced injects with controllers at work and a budget, and sees what a bystander
// of the API server feels.
func (s sizes) pace(ctx context.Context, b *bench) (err error) {
	const budget = 20
	namespace, err := b.cluster.namespace(ctx, "paced")
	if err != nil {
		return err
	}
	if err := errors.Join(b.cluster.configure(ctx, namespace, "0"), b.cluster.seed(ctx, namespace, s.paced, wanted)); err != nil {
		return err
	}
	if err := b.rolledOut(ctx, namespace, s.paced); err != nil {
		return err
	}
	operator, err := b.program.start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, operator.stop(), b.empty(ctx, namespace)) }()
	spent, err := cpuOf(operator.pid())
	if err != nil {
		return err
	}
	began := time.Now()
	if err := b.cluster.Client.Create(ctx, referring(namespace, fmt.Sprint(budget))); err != nil {
		return err
	}
	var felt []time.Duration
	most := 0
	err = until(ctx, "the rollout to end", func() (bool, error) {
		asked := time.Now()
		_, err := b.cluster.set.CoreV1().Namespaces().Update(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: namespace, Labels: map[string]string{corev1.LabelMetadataName: namespace, "bystander": fmt.Sprint(len(felt))}}}, metav1.UpdateOptions{})
		felt = append(felt, time.Since(asked))
		if err != nil {
			return false, err
		}
		unfinished, updated, err := b.standing(ctx, namespace)
		most = max(most, unfinished)
		return updated == s.paced && unfinished == 0, err
	})
	if err != nil {
		return err
	}
	used, err := cpuOf(operator.pid())
	if err != nil {
		return err
	}
	slices.Sort(felt)
	late := percentile(felt, 99)
	b.find(finding{fmt.Sprintf("%d Deployments with a budget of %d, in %s, %s CPU of the operator", s.paced, budget, rounded(time.Since(began)), rounded(used-spent)),
		"never more than 20 unfinished; a bystander's p99 ≤ 1 s", fmt.Sprintf("at most %d; p99 %s", most, rounded(late)), most <= budget && late <= time.Second, 0})
	return nil
}
