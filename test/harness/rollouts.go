// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"
	"path/filepath"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
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
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(like)
	if err != nil {
		panic(err) // A Deployment can be converted.
	}
	spec, _ := fields["spec"].(map[string]any)
	spec["strategy"] = map[string]any{"canary": map[string]any{}}
	delete(fields, "status")
	rollout := &unstructured.Unstructured{Object: fields}
	rollout.SetGroupVersionKind(workload.KindByName(kind).GroupVersionKind)
	return rollout
}

// ChangeTemplate changes the pod template of a workload.
func ChangeTemplate(object client.Object, change func(*corev1.PodTemplateSpec)) {
	one, _ := workload.ToObject(object)
	template := workload.PodTemplate(one)
	change(template)
	rollout, isRollout := object.(*unstructured.Unstructured)
	if !isRollout {
		return
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(template)
	if err == nil {
		err = unstructured.SetNestedMap(rollout.Object, fields, workload.KindByName("Rollout").Template...)
	}
	if err != nil {
		panic(err) // A pod template can be converted.
	}
}

// ServeRollouts installs the definition of Argo Rollouts, with changes if there are some. No controller rolls them
// out.
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
	return nil
}
