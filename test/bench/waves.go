// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

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

// flip changes a ConfigMap that many Deployments refer to: a few times, compared with the floor, and then every
// second for a while.
func (s sizes) flip(ctx context.Context, b *bench) (err error) {
	ours, err := b.cluster.namespace(ctx, "flips")
	if err != nil {
		return err
	}
	floors, err := b.cluster.namespace(ctx, "flips-floor")
	if err != nil {
		return err
	}
	err = errors.Join(b.cluster.configure(ctx, ours, "0"),
		b.cluster.seed(ctx, ours, s.flipped, scaledDown), b.cluster.seed(ctx, floors, s.flipped, scaledDown))
	if err != nil {
		return err
	}
	operator, err := b.program.start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, operator.stop(), b.empty(ctx, ours), b.empty(ctx, floors)) }()
	seen, err := b.cluster.observe(ctx, ours)
	if err != nil {
		return err
	}
	defer seen.stop()
	if err := b.cluster.Client.Create(ctx, referring(ours, "100%")); err != nil {
		return err
	}
	if err := seen.same(ctx, s.flipped, ""); err != nil {
		return err
	}
	if err := b.waves(ctx, s, seen, ours, floors); err != nil {
		return err
	}
	return b.flutter(ctx, s, seen, ours)
}

// wave is the time that one change of a configuration took, from its write to the first and last Deployment.
type wave struct{ first, last time.Duration }

// waves changes the configuration, and compares the operator with a plain loop that applies the same manifests,
// both in injected Deployments. They alternate.
func (b *bench) waves(ctx context.Context, s sizes, ours *observer, namespace, floors string) error {
	theirs, err := b.cluster.observe(ctx, floors)
	if err != nil {
		return err
	}
	defer theirs.stop()
	if err := b.applyConfigured(ctx, floors, s.flipped, "0"); err != nil {
		return err
	}
	if err := theirs.same(ctx, s.flipped, ""); err != nil {
		return err
	}
	var firsts, lasts, least []time.Duration
	for n := range s.rounds {
		message := fmt.Sprint("wave ", n)
		floor, err := b.wave(ctx, theirs, s.flipped, func() error { return b.applyConfigured(ctx, floors, s.flipped, message) })
		if err != nil {
			return err
		}
		made, err := b.wave(ctx, ours, s.flipped, func() error { return b.cluster.configure(ctx, namespace, message) })
		if err != nil {
			return err
		}
		b.tell("%d Deployments, wave %d: floor in %s; operator in %s, the first after %s", s.flipped, n+1,
			rounded(floor.last), rounded(made.last), rounded(made.first))
		firsts, lasts, least = append(firsts, made.first), append(lasts, made.last), append(least, floor.last)
	}
	for _, all := range [][]time.Duration{firsts, lasts, least} {
		slices.Sort(all)
	}
	first, ratio := median(firsts), float64(median(lasts))/float64(median(least))
	b.find(finding{"ConfigMap change to the first patch", "≤ 50 ms", rounded(first), first <= 50*time.Millisecond, 0})
	b.find(finding{fmt.Sprintf("ConfigMap change to the last of %d patches", s.flipped), "≤ 1.10 × the floor", fmt.Sprintf("%.2f ×", ratio), ratio <= 1.10, ratio})
	return nil
}

// wave makes a change, and waits until it has reached all Deployments.
func (b *bench) wave(ctx context.Context, seen *observer, count int, change func() error) (made wave, err error) {
	if _, err := b.cluster.quiet(ctx, time.Second); err != nil {
		return made, err
	}
	before := seen.version()
	seen.again()
	began := time.Now()
	if err := change(); err != nil {
		return made, err
	}
	if err := seen.same(ctx, count, before); err != nil {
		return made, err
	}
	return wave{first: seen.earliest().Sub(began), last: time.Since(began)}, nil
}

// applyConfigured applies the operator's manifests for a configuration.
func (b *bench) applyConfigured(ctx context.Context, namespace string, count int, message string) error {
	configuration := objects.NewConfigMap("vector", namespace, "vector.yaml", objects.VectorConfig(message))
	o, err := newOverlay(ctx, referring(namespace, "100%"), configuration, b.kubeVersion)
	if err != nil {
		return err
	}
	return b.cluster.applyAll(ctx, o, namespace, count)
}

// applyAll applies an overlay to all Deployments of a namespace in a plain loop.
func (c *cluster) applyAll(ctx context.Context, o *overlay, namespace string, count int) error {
	body, err := o.manifest(namespace, "NAME")
	if err != nil {
		return err
	}
	return each(ctx, count, func(ctx context.Context, n int) error {
		name := appName(n)
		patch := bytes.Replace(body, []byte("\"NAME\""), []byte("\""+name+"\""), 1)
		_, err := c.set.AppsV1().Deployments(namespace).
			Patch(ctx, name, types.ApplyPatchType, patch, metav1.PatchOptions{FieldManager: "floor"})
		return err
	})
}

// flutter changes the configuration every second, before the previous change has reached all Deployments.
func (b *bench) flutter(ctx context.Context, s sizes, seen *observer, namespace string) error {
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
