// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// inject measures the memory of an operator that injects a fifth of a fleet, and of one that starts afterwards.
func (s sizes) inject(ctx context.Context, b *bench) error {
	defer func() { b.program.memoryLimit = 0 }()
	for _, count := range s.fleets {
		b.program.memoryLimit = limitFor(count)
		if err := b.injectFifth(ctx, count); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) injectFifth(ctx context.Context, count int) error {
	var namespaces []string
	for n := range spread {
		namespace, err := b.cluster.namespace(ctx, "injected")
		if err != nil {
			return err
		}
		change := team(n)
		if n < spread/5 {
			change = scaledDown
		}
		if err := b.cluster.seedFrom(ctx, namespace, n*count/spread, (n+1)*count/spread, change); err != nil {
			return err
		}
		namespaces = append(namespaces, namespace)
	}
	peak, err := b.injectAll(ctx, namespaces[:spread/5], count/5)
	if err != nil {
		return err
	}
	again, err := b.settle(ctx)
	if err != nil {
		return err
	}
	goal := int64(160 << 20)
	if count > 10_000 {
		goal = 340 << 20
	}
	b.find(finding{fmt.Sprintf("%d injected, with %d Deployments: resident memory at most", count/5, count), "≤ " + mebibytes(goal),
		fmt.Sprintf("%s; %s after a restart", mebibytes(peak), mebibytes(again.resident)), peak <= goal, 0})
	for _, namespace := range namespaces {
		err = errors.Join(err, b.empty(ctx, namespace))
	}
	return err
}

// injectAll creates a VectorSidecar in each namespace while an operator runs, and returns the most memory that was
// resident.
func (b *bench) injectAll(ctx context.Context, namespaces []string, count int) (peak int64, err error) {
	operator, err := b.program.start(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, operator.stop()) }()
	_, err = b.measure(ctx, metav1.NamespaceAll, count, operator.pid(), func(ctx context.Context) error {
		return each(ctx, len(namespaces), func(ctx context.Context, n int) error { return b.cluster.Client.Create(ctx, logs(namespaces[n])) })
	})
	if err != nil {
		return 0, err
	}
	return harness.Memory(operator.pid(), "VmHWM")
}
