// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

// ServeRollouts installs the definition of Rollouts of Argo Rollouts, and has the client know their
// type. Nobody rolls them out.
func (w *World) ServeRollouts() error {
	kubectl, err := controlplane.Bin("kubectl")
	if err != nil {
		return err
	}
	file := filepath.Join(filepath.Dir(kubectl), "rollouts-crds", "rollout-crd.yaml")
	if _, err := envtest.InstallCRDs(w.Config, envtest.CRDInstallOptions{Paths: []string{file}, ErrorIfPathMissing: true}); err != nil {
		return fmt.Errorf("installing the definition of Rollouts (run \"make bin/rollouts-crds\" first): %w", err)
	}
	return workload.AddToScheme(w.Client.Scheme())
}
