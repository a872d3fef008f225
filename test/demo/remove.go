// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

const definition = "vectorsidecars.observability.kontroloop.ai"

func (d *demo) remove(ctx context.Context) error {
	if _, err := d.kubectl(ctx, "label", "deployment", cart.Name, "-n", cart.Namespace, label+"-"); err != nil {
		return err
	}
	if err := d.sidecarReady(ctx, meta.ReasonNoMatch, 0, 0); err != nil {
		return err
	}
	if err := d.rolledOut(ctx, 1); err != nil {
		return err
	}
	if _, err := d.kubectl(ctx, "delete", definition, logs.Name, "-n", logs.Namespace, "--timeout=30s"); err != nil {
		return err
	}
	var gone v1alpha1.VectorSidecar
	if err := d.client.Get(ctx, logs, &gone); !apierrors.IsNotFound(err) {
		return mismatch{logsObject, "it to be gone", fmt.Sprintf("finalizers %v", gone.Finalizers)}
	}
	d.ok("%s is gone, its finalizer did not hold it", logsObject)
	if err := d.nothingOfOurs(ctx); err != nil {
		return err
	}
	return d.noConfigMaps(ctx)
}

// nothingOfOurs requires that the Deployment is as its application owner wrote it.
func (d *demo) nothingOfOurs(ctx context.Context) error {
	now, err := d.application(ctx)
	if err != nil {
		return err
	}
	d.line("spec.template before  sha256 %s", d.original.digest())
	d.line("spec.template now     sha256 %s", now.digest())
	if !bytes.Equal(d.original.template, now.template) {
		if err := d.showDiff(d.original.template, now.template, 2); err != nil {
			return err
		}
		return mismatch{cartObject, "spec.template byte for byte as before", "the difference above, or one that YAML does not show: " + string(now.template)}
	}
	d.ok("byte for byte the same")
	for key := range now.annotations {
		if strings.HasPrefix(key, meta.Group+"/") {
			return mismatch{cartObject, "no annotation of the operator's", key}
		}
	}
	if at := slices.IndexFunc(now.managers, meta.IsManager); at >= 0 {
		return mismatch{cartObject, "no field manager of the operator's", now.managers[at]}
	}
	d.ok("no annotation and no field manager of the operator's is left on the Deployment")
	if err := expect(cartObject, "pods of the ReplicaSet from before,", d.original.replicaSet, now.replicaSet); err != nil {
		return err
	}
	d.ok("the pods belong to ReplicaSet %s again: for Kubernetes too the template is the same", now.replicaSet)
	return nil
}

// noConfigMaps waits for the garbage collector, which has its own schedule.
func (d *demo) noConfigMaps(ctx context.Context) error {
	err := d.wait(ctx, "Namespace shop", "no ConfigMap of the operator's", func(ctx context.Context) (finding, error) {
		var found corev1.ConfigMapList
		if err := d.client.List(ctx, &found, client.InNamespace(cart.Namespace)); err != nil {
			return finding{}, err
		}
		var names []string
		for i := range found.Items {
			if name := found.Items[i].Name; name != "kube-root-ca.crt" {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			return finding{done: true}, nil
		}
		return finding{state: "still there: " + strings.Join(names, ", ")}, nil
	})
	if err != nil {
		return err
	}
	d.ok("no ConfigMap of the operator's is left in the namespace")
	return nil
}

// uninstall uninstalls the release while the operator runs, and stops the operator with its Deployment.
func (d *demo) uninstall(ctx context.Context) error {
	d.line("a Job looks for VectorSidecars first (uninstall.policy); its pod is simulated, so its program runs here, too")
	if err := d.uninstallRelease(ctx); err != nil {
		return err
	}
	d.block(strings.Join(d.hooks.Said(), "\n"))
	d.endHooks()
	err := d.operator.stop()
	d.operator = nil
	return err
}

// uninstallRelease shows that the chart removes all of its objects except the CustomResourceDefinition.
func (d *demo) uninstallRelease(ctx context.Context) error {
	d.command("helm", "uninstall", release, "-n", namespace)
	output, err := d.quietly(ctx, "helm", "uninstall", release, "-n", namespace)
	if err != nil {
		return err
	}
	d.block(output)
	if err := d.wait(ctx, "release "+release, "its Deployment to be gone", d.deploymentIsGone); err != nil {
		return err
	}
	if _, err := d.kubectl(ctx, "get", "crd", definition); err != nil {
		return err
	}
	d.ok("the CustomResourceDefinition is kept; crds.keep=false would let it go")
	return nil
}

// deploymentIsGone reports whether the operator's Deployment is deleted.
func (d *demo) deploymentIsGone(ctx context.Context) (finding, error) {
	var left appsv1.DeploymentList
	err := d.client.List(ctx, &left, client.InNamespace(namespace))
	return finding{done: err == nil && len(left.Items) == 0, state: fmt.Sprintf("%d Deployments", len(left.Items))}, err
}
