// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// checkNetwork reports the addresses that Vector listens on in this cluster.
func (d *Diagnosis) checkNetwork(ctx context.Context) Result {
	const check = "IP family"
	const help = "if pods have addresses of another family, set global.ipFamily in the installation's values"
	family, err := source.IPFamily(ctx, d.Cluster)
	if err != nil {
		return Result{check, Unknown, err.Error(), help}
	}
	return Result{check, OK, fmt.Sprintf("the Service default/kubernetes has the family %s: Vector listens on addresses of this family if global.ipFamily is Auto", family), ""}
}

// checkPlatform reports whether the cluster assigns user IDs.
func (d *Diagnosis) checkPlatform() Result {
	const check = "platform"
	platform, err := source.Platform(d.Cluster.RESTMapper())
	switch {
	case err != nil:
		return Result{check, Unknown, err.Error(), ""}
	case platform == render.OpenShift:
		return Result{check, OK, platform + ", which assigns users to pods: sidecars do not set a user if sidecar.user is Auto", ""}
	}
	return Result{check, OK, platform + ": sidecars run as the user of sidecar.securityContext if sidecar.user is Auto", ""}
}
