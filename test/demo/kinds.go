// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// kindsFile has a StatefulSet and a CronJob, and data, the VectorSidecar for them.
const kindsFile = "test/demo/kinds.yaml"

var data = types.NamespacedName{Namespace: "shop", Name: "data"}

// others are the workloads of that file, by kind.
var others = map[string]string{"StatefulSet": "db", "CronJob": "report"}

func (d *demo) otherKinds(ctx context.Context) error {
	if _, err := d.kubectl(ctx, "apply", "-f", kindsFile); err != nil {
		return err
	}
	err := d.wait(ctx, "VectorSidecar shop/data", "a StatefulSet that is ready and a CronJob that waits for its run", func(ctx context.Context) (finding, error) {
		var sidecar v1alpha1.VectorSidecar
		if err := d.client.Get(ctx, data, &sidecar); err != nil {
			return finding{}, err
		}
		return rolledOutOrHeld(sidecar.Status.Kinds), nil
	})
	if err != nil {
		return err
	}
	for kind, name := range others {
		if err := d.expectContainers(ctx, kind, name, "vector", name); err != nil {
			return err
		}
		d.ok("%s shop/%s has the sidecar", kind, name)
	}
	if _, err := d.kubectl(ctx, "delete", definition, data.Name, "-n", data.Namespace, "--timeout=30s"); err != nil {
		return err
	}
	for kind, name := range others {
		if err := d.expectContainers(ctx, kind, name, name); err != nil {
			return err
		}
		d.ok("%s shop/%s has its own container alone", kind, name)
	}
	_, err = d.kubectl(ctx, "delete", "statefulset/db", "cronjob/report", "-n", data.Namespace)
	return err
}

// rolledOutOrHeld says whether both have the sidecar: the StatefulSet in its pod, the
// CronJob for its next run.
func rolledOutOrHeld(kinds []v1alpha1.KindStatus) finding {
	found := finding{state: "nothing"}
	for _, kind := range kinds {
		found.state = fmt.Sprintf("%d of %d kinds, %s: %d injected", len(kinds), len(others), kind.Kind, kind.Injected)
		if kind.Ready+kind.Held != 1 {
			return found
		}
	}
	found.done = len(kinds) == len(others)
	return found
}

// expectContainers checks the names of the containers of a workload, init containers first.
func (d *demo) expectContainers(ctx context.Context, kind, name string, names ...string) error {
	object := workload.KindOf(kind).New()
	if err := d.client.Get(ctx, client.ObjectKey{Namespace: data.Namespace, Name: name}, object); err != nil {
		return err
	}
	var found []string
	spec := &workload.TemplateOf(object).Spec
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			found = append(found, list[i].Name)
		}
	}
	if !slices.Equal(names, found) {
		return mismatch{kind + " shop/" + name, fmt.Sprint("containers ", names), fmt.Sprint(found)}
	}
	return nil
}
