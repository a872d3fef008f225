// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

// The account that the chart makes for a release of this name in this namespace. No
// test installs one of that name.
const (
	accountRelease   = "suite"
	AccountNamespace = "vector-system"
	Account          = accountRelease + "-vector-sidecar-operator"
)

// RunAsInstalled applies the roles of the chart for some workload kinds. Operators of this world then have only these
// permissions. It returns the manifests, with the role of the operator's work first.
func (w *World) RunAsInstalled(ctx context.Context, plane *controlplane.ControlPlane, kinds ...string) ([]byte, error) {
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: AccountNamespace}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: AccountNamespace, Name: Account}},
	} {
		if err := client.IgnoreAlreadyExists(w.Client.Create(ctx, object)); err != nil {
			return nil, err
		}
	}
	root, err := Root()
	if err != nil {
		return nil, err
	}
	manifest, err := tool(ctx, plane, nil, "helm", "template", accountRelease, filepath.Join(root, "chart"), "-n", AccountNamespace,
		"--set", "configValidation.job.enabled=true,vectorSidecars.enabled=true,rbac.optional.pods=true,rbac.optional.nodes=true,rbac.optional.serviceAccounts=true,rollout.halt.failedWorkloads=1,workloads.kinds={"+strings.Join(kinds, ",")+"}", "-s", "templates/role-work.yaml", "-s", "templates/role-home.yaml", "-s", "templates/clusterrole-nodes.yaml")
	if err != nil {
		return nil, err
	}
	if _, err := tool(ctx, plane, manifest, "kubectl", "--kubeconfig", plane.Kubeconfig(), "apply", "-f", "-"); err != nil {
		return nil, err
	}
	kubeconfig, err := plane.KubeconfigFor(ctx, AccountNamespace, Account)
	if err != nil {
		return nil, err
	}
	if w.Operator, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
		return nil, err
	}
	w.Operator.QPS = -1 // As the administrator's, so that no test waits for its client.
	return manifest, nil
}

// tool runs a program of the repository and returns its output.
func tool(ctx context.Context, plane *controlplane.ControlPlane, input []byte, name string, args ...string) ([]byte, error) {
	path, err := plane.Bin(name)
	if err != nil {
		return nil, err
	}
	var complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running %s %v: %w\n%s", name, args, err, &complaint)
	}
	return out, nil
}
