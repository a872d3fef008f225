// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"
	"path/filepath"

	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// NewWorkload is objects.NewWorkload, for Rollouts of Argo Rollouts as well.
func NewWorkload(kind, name, namespace string, labels map[string]string) client.Object {
	object := objects.NewWorkload(kind, name, namespace, labels)
	like, isDeployment := object.(*appsv1.Deployment)
	if kind != "Rollout" || !isDeployment {
		return object
	}
	return &workload.ArgoRollout{
		TypeMeta: metav1.TypeMeta{APIVersion: "argoproj.io/v1alpha1", Kind: kind}, ObjectMeta: like.ObjectMeta,
		Spec: workload.ArgoRolloutSpec{
			Replicas: like.Spec.Replicas, Selector: like.Spec.Selector, Template: like.Spec.Template,
			Strategy: workload.ArgoStrategy{Canary: &workload.ArgoCanary{}},
		},
	}
}

// ServeRollouts installs the definition of Rollouts of Argo Rollouts, changed if there are changes, and
// has the client know their type. Nobody rolls them out.
func (w *World) ServeRollouts(changes ...func(*apiextensionsv1.CustomResourceDefinition)) error {
	kubectl, err := controlplane.Bin("kubectl")
	if err != nil {
		return err
	}
	file := filepath.Join(filepath.Dir(kubectl), "rollouts-crds", "rollout-crd.yaml")
	options := envtest.CRDInstallOptions{Paths: []string{file}, ErrorIfPathMissing: true}
	if err := envtest.ReadCRDFiles(&options); err != nil {
		return fmt.Errorf("reading the definition of Rollouts (run \"make bin/rollouts-crds\" first): %w", err)
	}
	for _, definition := range options.CRDs {
		for _, change := range changes {
			change(definition)
		}
	}
	if _, err := envtest.InstallCRDs(w.Config, envtest.CRDInstallOptions{CRDs: options.CRDs}); err != nil {
		return fmt.Errorf("installing the definition of Rollouts (run \"make bin/rollouts-crds\" first): %w", err)
	}
	return workload.AddToScheme(w.Client.Scheme())
}
