// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// logs is the VectorSidecar of docs/samples/02-logs.yaml.
var logs = types.NamespacedName{Namespace: "shop", Name: "logs"}

const (
	logsFile   = "docs/samples/02-logs.yaml"
	logsObject = "VectorSidecar shop/logs"
)

// sidecarReady waits until the VectorSidecar is ready at its latest generation,
// and checks its counts and conditions.
func (d *demo) sidecarReady(ctx context.Context, reason string, matched, injected int32) error {
	var sidecar v1alpha1.VectorSidecar
	err := d.wait(ctx, logsObject, fmt.Sprintf("condition Ready=True (%s) with matchedDeployments %d", reason, matched), func(ctx context.Context) (finding, error) {
		if err := d.client.Get(ctx, logs, &sidecar); err != nil {
			return finding{}, err
		}
		found := readyFor(&sidecar, reason)
		found.done = found.done && sidecar.Status.MatchedDeployments == matched
		return found, nil
	})
	if err != nil {
		return err
	}
	status := &sidecar.Status
	if err := expect(logsObject, "injectedDeployments", injected, status.InjectedDeployments); err != nil {
		return err
	}
	for kind, expected := range map[string]metav1.ConditionStatus{
		meta.ConditionConfigValid: metav1.ConditionTrue, meta.ConditionError: metav1.ConditionFalse,
	} {
		found := metav1.ConditionUnknown
		if condition := apimeta.FindStatusCondition(status.Conditions, kind); condition != nil {
			found = condition.Status
		}
		if err := expect(logsObject, "condition "+kind, expected, found); err != nil {
			return err
		}
	}
	return nil
}

func readyFor(sidecar *v1alpha1.VectorSidecar, reason string) finding {
	ready := apimeta.FindStatusCondition(sidecar.Status.Conditions, meta.ConditionReady)
	if ready == nil {
		return finding{state: "no condition Ready yet"}
	}
	isCurrent := sidecar.Status.ObservedGeneration == sidecar.Generation
	return finding{
		done:  isCurrent && ready.Status == metav1.ConditionTrue && ready.Reason == reason,
		state: fmt.Sprintf("Ready=%s (%s): %s", ready.Status, ready.Reason, ready.Message),
	}
}

// showSidecar shows kubectl's output about the VectorSidecar, checks its columns, and shows the conditions.
func (d *demo) showSidecar(ctx context.Context, matched, injected int) error {
	output, err := d.kubectl(ctx, "get", "vectorsidecars", "-n", logs.Namespace)
	if err != nil {
		return err
	}
	_, rows, _ := strings.Cut(output, "\n")
	row := strings.Join(strings.Fields(rows), " ")
	expected := fmt.Sprintf("%s true production %d %d True", logs.Name, matched, injected)
	if !strings.HasPrefix(row, expected) {
		return mismatch{logsObject, "the columns " + expected, row}
	}
	return d.showConditions(ctx)
}

func (d *demo) showConditions(ctx context.Context) error {
	_, err := d.kubectl(ctx, "get", "vectorsidecars", logs.Name, "-n", logs.Namespace, "-o",
		`jsonpath={range .status.conditions[*]}{.type}={.status} {.reason}: {.message}{"\n"}{end}`)
	return err
}
