// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

// InjectAtAdmission applies the objects of the chart for admissionInjection.enabled: the mutating policies and the
// permissions. It returns the manifest of the policies.
func (w *World) InjectAtAdmission(ctx context.Context, plane *controlplane.ControlPlane, kinds ...string) ([]byte, error) {
	const policies = "admissioninjection.yaml"
	made, err := w.withChart(ctx, plane, accountRelease, []string{
		"--kube-version", "1.36.0",
		"--set", "admissionInjection.enabled=true,configValidation.job.enabled=true,rbac.optional.pods=true,rbac.optional.nodes=true,rbac.optional.serviceAccounts=true,workloads.kinds={" + strings.Join(kinds, ",") + "}",
	}, "role-work.yaml", policies)
	return made[policies], err
}
