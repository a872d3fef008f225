// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"strings"

	"k8s.io/client-go/tools/clientcmd"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

// Scoped applies the objects of the chart for an operator of some namespaces with preflight, and returns a world in
// which operators have only these permissions.
func (w *World) Scoped(ctx context.Context, plane *controlplane.ControlPlane, kinds []string, namespaces ...string) (*World, error) {
	const scoped = "scoped"
	_, err := w.withChart(ctx, plane, scoped, []string{
		"--set", "watchNamespaces={" + strings.Join(namespaces, ",") + "},preflight.enabled=true,rbac.optional.serviceAccounts=true,workloads.kinds={" + strings.Join(kinds, ",") + "}",
	}, "serviceaccount.yaml", "role-work.yaml", "role-home.yaml", "preflight.yaml")
	if err != nil {
		return nil, err
	}
	kubeconfig, err := plane.KubeconfigFor(ctx, AccountNamespace, scoped+"-vector-sidecar-operator")
	if err != nil {
		return nil, err
	}
	seen := *w
	if seen.Operator, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
		return nil, err
	}
	seen.Operator.QPS = -1
	return &seen, nil
}
