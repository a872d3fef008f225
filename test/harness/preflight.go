// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

// Preflight applies the objects of the chart for preflight.enabled: the policy that limits the operator to dry runs,
// and the permissions. It also applies those for admission injection, which have no effect without OverlaySets.
func (w *World) Preflight(ctx context.Context, plane *controlplane.ControlPlane, kinds ...string) error {
	_, err := w.withChart(ctx, plane, accountRelease, []string{
		"--kube-version", "1.36.0",
		"--set", "preflight.enabled=true,admissionInjection.enabled=true,configValidation.job.enabled=true,rbac.optional.pods=true,rbac.optional.serviceAccounts=true,workloads.kinds={" + strings.Join(kinds, ",") + "}",
	}, "preflight.yaml", "admissioninjection.yaml", "role-work.yaml")
	return err
}
