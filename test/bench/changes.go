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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// changesPerSecond is the rate at which labels are added.
const changesPerSecond = 50

// latency adds the selected label to one Deployment after the other, and measures the time until each has the
// sidecar.
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
	labeled := map[string]time.Time{}
	ticker := time.NewTicker(time.Second / changesPerSecond)
	defer ticker.Stop()
	patch := fmt.Appendf(nil, "{\"metadata\":{\"labels\":{%q:%q}}}", wantedKey, wantedValue)
	err = each(ctx, s.changes, func(ctx context.Context, n int) error {
		<-ticker.C
		_, err := b.cluster.set.AppsV1().Deployments(namespace).Patch(ctx, appName(n), types.MergePatchType, patch, metav1.PatchOptions{})
		mu.Lock()
		defer mu.Unlock()
		labeled[appName(n)] = time.Now()
		return err
	})
	if err != nil {
		return err
	}
	if err := seen.count(ctx, s.changes); err != nil {
		return err
	}
	var waits []time.Duration
	for name, at := range labeled {
		waits = append(waits, max(0, seen.at(name).Sub(at)))
	}
	slices.Sort(waits)
	half, most := percentile(waits, 50), percentile(waits, 99)
	b.find(finding{fmt.Sprintf("label added to %d Deployments, %d a second", s.changes, changesPerSecond), "p50 ≤ 10 ms, p99 ≤ 50 ms",
		fmt.Sprintf("p50 %s, p99 %s", rounded(half), rounded(most)), half <= 10*time.Millisecond && most <= 50*time.Millisecond, 0})
	return nil
}

// pace injects with running controllers and a limit of concurrent rollouts until all rollouts have finished, and
// measures the API server's latency for another client.
func (s sizes) pace(ctx context.Context, b *bench) (err error) {
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
	spent, err := harness.CPU(operator.pid())
	if err != nil {
		return err
	}
	began := time.Now()
	sidecar := referring(namespace, fmt.Sprint(s.budget))
	sidecar.Spec.Rollout.Soak.Duration = s.soak
	if err := b.cluster.Client.Create(ctx, sidecar); err != nil {
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
		unfinished, _, err := b.standing(ctx, namespace)
		if most = max(most, unfinished); err != nil {
			return false, err
		}
		err = b.cluster.Client.Get(ctx, client.ObjectKeyFromObject(sidecar), sidecar)
		return int(sidecar.Status.Total().Ready) == s.paced, err
	})
	if err != nil {
		return err
	}
	used, err := harness.CPU(operator.pid())
	if err != nil {
		return err
	}
	slices.Sort(felt)
	late := percentile(felt, 99)
	b.find(finding{fmt.Sprintf("%d Deployments with a budget of %d and a soak of %s, in %s, %s CPU of the operator", s.paced, s.budget, s.soak, rounded(time.Since(began)), rounded(used-spent)),
		fmt.Sprintf("never more than %d unfinished; a bystander's p99 ≤ 1 s", s.budget), fmt.Sprintf("at most %d; p99 %s", most, rounded(late)), most <= s.budget && late <= time.Second, 0})
	return nil
}
