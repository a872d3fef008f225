// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// prometheus is a ServiceAccount with the permission to read the operator's metrics.
const prometheus = "prometheus"

// restartOperator shows that a new operator writes nothing. The operator's metrics show when it has reconciled
// everything, and how much it has written.
func (d *demo) restartOperator(ctx context.Context) error {
	return d.restart(ctx, func(ctx context.Context) (address string, err error) {
		if err := d.operator.stop(); err != nil {
			return "", err
		}
		d.ok("the operator has ended in order")
		return d.addresses.metrics, d.startOperator(ctx)
	})
}

// restart restarts the operator with again, which returns the address of its metrics, and checks that it writes
// nothing.
func (d *demo) restart(ctx context.Context, again func(context.Context) (address string, err error)) error {
	var before, after v1alpha1.VectorSidecar
	if err := d.client.Get(ctx, logs, &before); err != nil {
		return fmt.Errorf("reading %s: %w", logsObject, err)
	}
	token, err := d.metricsToken(ctx)
	if err != nil {
		return err
	}
	address, err := again(ctx)
	if err != nil {
		return err
	}
	if err := d.nothingWritten(ctx, newReader(address, token)); err != nil {
		return err
	}
	if err := d.client.Get(ctx, logs, &after); err != nil {
		return fmt.Errorf("reading %s: %w", logsObject, err)
	}
	if err := expect(logsObject, "resourceVersion", before.ResourceVersion, after.ResourceVersion); err != nil {
		return err
	}
	now, err := d.application(ctx)
	if err != nil {
		return err
	}
	if err := expect(cartObject, "resourceVersion", d.injected.resourceVersion, now.resourceVersion); err != nil {
		return err
	}
	if !slices.Equal(d.injected.replicaSets, now.replicaSets) {
		return mismatch{cartObject, "ReplicaSets " + strings.Join(d.injected.replicaSets, ", "), strings.Join(now.replicaSets, ", ")}
	}
	d.ok("%s: resourceVersion %s and generation %d as before, no new ReplicaSet", cartObject, now.resourceVersion, now.generation)
	return nil
}

// nothingWritten waits until the operator has reconciled everything, and requires no writes.
func (d *demo) nothingWritten(ctx context.Context, from *reader) error {
	var found metrics
	err := d.wait(ctx, "operator process", "a look at everything", func(ctx context.Context) (finding, error) {
		var err error
		if found, err = from.read(ctx); err != nil {
			return finding{}, err
		}
		return found.settled(), nil
	})
	if err != nil {
		return err
	}
	if err := expect("metrics of the operator", "PATCH and DELETE requests since its start:", 0, found.writes()); err != nil {
		return err
	}
	d.ok("by its own metrics the new operator has sent %d GET requests and 0 PATCH or DELETE", found.reads())
	return nil
}

// metricsToken gives a ServiceAccount the permission to read the operator's metrics, as in the chart's notes, and
// returns its token.
func (d *demo) metricsToken(ctx context.Context) (string, error) {
	var roles rbacv1.ClusterRoleList
	if err := d.client.List(ctx, &roles, client.MatchingLabels{"app.kubernetes.io/instance": release}); err != nil {
		return "", fmt.Errorf("looking for the chart's ClusterRoles: %w", err)
	}
	at := slices.IndexFunc(roles.Items, func(role rbacv1.ClusterRole) bool { return strings.HasSuffix(role.Name, ":metrics-reader") })
	if at < 0 {
		return "", mismatch{"release " + release, "a ClusterRole for readers of metrics", "none"}
	}
	if _, err := d.kubectl(ctx, "create", "serviceaccount", prometheus, "-n", namespace); err != nil {
		return "", err
	}
	if _, err := d.kubectl(ctx, "create", "clusterrolebinding", "vso-metrics",
		"--clusterrole="+roles.Items[at].Name, "--serviceaccount="+namespace+":"+prometheus); err != nil {
		return "", err
	}
	path, err := d.plane.KubeconfigFor(ctx, namespace, prometheus)
	if err != nil {
		return "", err
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return "", fmt.Errorf("reading the kubeconfig of ServiceAccount %q: %w", prometheus, err)
	}
	return config.BearerToken, nil
}

func (d *demo) changeLogLevel(ctx context.Context) error {
	if _, err := d.kubectl(ctx, "patch", "vectorsidecars", logs.Name, "-n", logs.Namespace, "--type=merge", "-p", `{"spec":{"sidecar":{"logLevel":"debug"}}}`); err != nil {
		return err
	}
	if err := d.sidecarReady(ctx, meta.ReasonUpToDate, 1, 1); err != nil {
		return err
	}
	now, err := d.application(ctx)
	if err != nil {
		return err
	}
	if err := d.showDiff(d.injected.template, now.template, 1); err != nil {
		return err
	}
	if err := d.rolledOut(ctx, 2); err != nil {
		return err
	}
	if now, err = d.application(ctx); err != nil {
		return err
	}
	if err := expect(cartObject, "one generation more:", d.injected.generation+1, now.generation); err != nil {
		return err
	}
	if err := expect(cartObject, "ReplicaSets:", len(d.injected.replicaSets)+1, len(now.replicaSets)); err != nil {
		return err
	}
	d.ok("one generation and one ReplicaSet more, and no second")
	return nil
}
