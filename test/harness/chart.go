// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"path/filepath"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

// withChart applies objects of some chart templates, rendered for a release with some values, and returns them by
// template.
func (w *World) withChart(ctx context.Context, plane *controlplane.ControlPlane, release string, arguments []string, templates ...string) (map[string][]byte, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	made := map[string][]byte{}
	for _, name := range templates {
		args := append([]string{"template", release, filepath.Join(root, "chart"), "-n", AccountNamespace, "-s", "templates/" + name}, arguments...)
		if made[name], err = tool(ctx, plane, nil, "helm", args...); err != nil {
			return nil, err
		}
		if _, err := tool(ctx, plane, made[name], "kubectl", "--kubeconfig", plane.Kubeconfig(), "apply", "-f", "-"); err != nil {
			return nil, err
		}
	}
	return made, nil
}
