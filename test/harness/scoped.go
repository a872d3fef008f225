// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"path/filepath"
	"strings"

	"k8s.io/client-go/tools/clientcmd"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

// Scoped makes what the chart makes for an operator of some namespaces with preflight, and returns
// the world in which operators run with its rights and nothing else.
func (w *World) Scoped(ctx context.Context, plane *controlplane.ControlPlane, kinds []string, namespaces ...string) (*World, error) {
	const scoped = "scoped"
	root, err := Root()
	if err != nil {
		return nil, err
	}
	args := []string{"template", scoped, filepath.Join(root, "chart"), "-n", AccountNamespace, "--set", "watchNamespaces={" + strings.Join(namespaces, ",") +
		"},preflight.enabled=true,rbac.optional.serviceAccounts=true,workloads.kinds={" + strings.Join(kinds, ",") + "}"}
	for _, name := range []string{"serviceaccount", "role-work", "role-home", "preflight"} {
		args = append(args, "-s", "templates/"+name+".yaml")
	}
	made, err := tool(ctx, plane, nil, "helm", args...)
	if err != nil {
		return nil, err
	}
	if _, err := tool(ctx, plane, made, "kubectl", "--kubeconfig", plane.Kubeconfig(), "apply", "-f", "-"); err != nil {
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
