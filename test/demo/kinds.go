// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/freeport"
)

// kindred has workloads of other kinds than Deployment, and their VectorSidecar.
type kindred struct {
	file, sidecar string
	// workloads has the names by kind.
	workloads map[string]string
	// want is the expected state.
	want string
}

// shop is the namespace of these workloads.
const shop = "shop"

// rolloutDefinition is the CustomResourceDefinition of Argo Rollouts, of the same release as the controller.
const rolloutDefinition = "bin/rollouts-crds"

func (d *demo) otherKinds(ctx context.Context) error {
	all := []kindred{{
		"test/demo/kinds.yaml", "data", map[string]string{"StatefulSet": "db", "DaemonSet": "agent", "CronJob": "report"},
		"a StatefulSet and a DaemonSet that are ready and a CronJob that waits for its run",
	}}
	if d.hasRollouts {
		all = append(all, kindred{"test/demo/rollout.yaml", "web", map[string]string{"Rollout": "checkout"}, "a Rollout that is ready"})
	}
	for i := range all {
		if err := d.injectKindred(ctx, &all[i]); err != nil {
			return err
		}
	}
	return nil
}

// injectKindred injects the sidecar into workloads of other kinds, and removes it.
func (d *demo) injectKindred(ctx context.Context, of *kindred) error {
	if _, err := d.kubectl(ctx, "apply", "-f", of.file); err != nil {
		return err
	}
	name := types.NamespacedName{Namespace: shop, Name: of.sidecar}
	err := d.wait(ctx, "VectorSidecar "+name.String(), of.want, func(ctx context.Context) (finding, error) {
		var sidecar v1alpha1.VectorSidecar
		if err := d.client.Get(ctx, name, &sidecar); err != nil {
			return finding{}, err
		}
		return rolledOutOrHeld(sidecar.Status.Kinds, len(of.workloads)), nil
	})
	if err != nil {
		return err
	}
	kinds := slices.Sorted(maps.Keys(of.workloads))
	for _, kind := range kinds {
		if err := d.expectContainers(ctx, kind, of.workloads[kind], "vector", of.workloads[kind]); err != nil {
			return err
		}
		d.ok("%s %s/%s has the sidecar", kind, shop, of.workloads[kind])
	}
	if _, err := d.kubectl(ctx, "delete", definition, of.sidecar, "-n", shop, "--timeout=30s"); err != nil {
		return err
	}
	remove := []string{"delete", "-n", shop, "--cascade=foreground"} // Its pods, too, before the next step counts pods.
	for _, kind := range kinds {
		if err := d.expectContainers(ctx, kind, of.workloads[kind], of.workloads[kind]); err != nil {
			return err
		}
		d.ok("%s %s/%s has its own container alone", kind, shop, of.workloads[kind])
		remove = append(remove, strings.ToLower(kind)+"/"+of.workloads[kind])
	}
	_, err = d.kubectl(ctx, remove...)
	return err
}

// rolledOutOrHeld reports whether one workload of each of count kinds has the sidecar: in its pods, or for a
// CronJob in the template of its next Job.
func rolledOutOrHeld(kinds []v1alpha1.KindStatus, count int) finding {
	found := finding{state: "nothing"}
	for _, kind := range kinds {
		found.state = fmt.Sprintf("%d of %d kinds, %s: %d injected", len(kinds), count, kind.Kind, kind.Injected)
		if kind.Ready+kind.PodsOutdated != 1 {
			return found
		}
	}
	found.done = len(kinds) == count
	return found
}

// runRollouts installs Argo Rollouts, and runs its controller on this machine.
func (d *demo) runRollouts(ctx context.Context) error {
	if _, err := d.kubectl(ctx, "apply", "--server-side", "-f", rolloutDefinition); err != nil {
		return err
	}
	program, err := d.plane.Bin("rollouts-controller")
	if err != nil {
		return err
	}
	listens, err := freeAddresses()
	if err != nil {
		return err
	}
	serves := func(ctx context.Context) error {
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", listens.health)
		if err != nil {
			return fmt.Errorf("asking Argo Rollouts' controller: %w", err)
		}
		return connection.Close()
	}
	return d.plane.Run(ctx, "rollouts-controller", program, serves,
		"--kubeconfig="+d.plane.Kubeconfig(), "--leader-elect=false", "--healthzPort="+freeport.Port(listens.health), "--metricsPort="+freeport.Port(listens.metrics))
}

// expectContainers checks the names of the containers of a workload, init containers first.
func (d *demo) expectContainers(ctx context.Context, kind, name string, names ...string) error {
	object := workload.KindByName(kind).New()
	if err := d.client.Get(ctx, client.ObjectKey{Namespace: shop, Name: name}, object); err != nil {
		return err
	}
	var found []string
	spec := &workload.PodTemplate(object).Spec
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			found = append(found, list[i].Name)
		}
	}
	if !slices.Equal(names, found) {
		return mismatch{kind + " " + shop + "/" + name, fmt.Sprint("containers ", names), fmt.Sprint(found)}
	}
	return nil
}
