// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"path/filepath"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

// InjectAtAdmission makes what the chart makes for admissionInjection.enabled: the policies by which
// the API server injects, and the rights for it. It returns the manifest of the policies.
func (w *World) InjectAtAdmission(ctx context.Context, plane *controlplane.ControlPlane, kinds ...string) ([]byte, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	render := func(templates ...string) ([]byte, error) {
		args := []string{
			"template", accountRelease, filepath.Join(root, "chart"), "-n", AccountNamespace, "--kube-version", "1.36.0",
			"-a", "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy",
			"--set", "admissionInjection.enabled=true,configValidation.job.enabled=true,rbac.optional.pods=true,workloads.kinds={" + strings.Join(kinds, ",") + "}",
		}
		for _, name := range templates {
			args = append(args, "-s", "templates/"+name)
		}
		return tool(ctx, plane, nil, "helm", args...)
	}
	rights, err := render("role-work.yaml")
	if err != nil {
		return nil, err
	}
	policies, err := render("admissioninjection.yaml")
	if err != nil {
		return nil, err
	}
	for _, manifest := range [][]byte{rights, policies} {
		if _, err := tool(ctx, plane, manifest, "kubectl", "--kubeconfig", plane.Kubeconfig(), "apply", "-f", "-"); err != nil {
			return nil, err
		}
	}
	return policies, nil
}
