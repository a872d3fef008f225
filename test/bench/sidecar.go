// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// logs returns the VectorSidecar of a fan-out. It reads a log directory, so that its templates read each workload,
// and changes all workloads at once.
func logs(namespace string) *v1alpha1.VectorSidecar {
	return objects.NewVectorSidecar("logs", namespace).Selecting(wantedKey, wantedValue).WithLogs("/var/log/app").WithMaxConcurrent("100%").Build()
}

// referring returns a VectorSidecar whose configuration is in a ConfigMap.
func referring(namespace, budget string) *v1alpha1.VectorSidecar {
	return objects.NewVectorSidecar("logs", namespace).Selecting(wantedKey, wantedValue).WithConfigMap("vector", "vector.yaml").WithMaxConcurrent(budget).Build()
}

// overlay is the operator's apply for a workload, for contenders without an operator.
type overlay struct {
	body       map[string]any
	companions []corev1.ConfigMap
}

// newOverlay computes the apply with the operator's code. configuration is the ConfigMap that the VectorSidecar
// refers to, nil if there is none.
func newOverlay(ctx context.Context, sidecar *v1alpha1.VectorSidecar, configuration *corev1.ConfigMap, kubeVersion string) (*overlay, error) {
	chart, err := render.LoadChart(vectorsidecar.FS)
	if err != nil {
		return nil, err
	}
	deployment := application("app", sidecar.Namespace)
	wanted(0, deployment)
	configMaps := objects.ConfigMapSet{}
	if configuration != nil {
		configMaps[client.ObjectKeyFromObject(configuration)] = configuration
	}
	decided, err := decision.Decide(ctx, &decision.Input{
		Inputs: desired.Inputs{
			Sidecar: sidecar, ConfigMaps: configMaps, Accounts: source.Reader{Reader: source.NewObjectOverlay(nil)},
			Platform: desired.NewPlatform(chart, "", nil), Settings: desired.Settings{DefaultEnvironment: "development", KubeVersion: kubeVersion},
		},
		Workloads: []*workloadcache.Record{workloadcache.NewRecord(deployment)},
	}, nil)
	if err != nil {
		return nil, err
	}
	if decided.Invalid != nil || len(decided.Plans) != 1 || decided.Plans[0].Write.Patch != nil {
		return nil, fmt.Errorf("deciding what to apply: %+v, %v", decided, decided.Invalid)
	}
	return &overlay{body: decided.Plans[0].Body(), companions: decided.Companions}, nil
}

// manifest returns the manifest to apply to one Deployment.
func (o *overlay) manifest(namespace, name string) ([]byte, error) {
	body := maps.Clone(o.body)
	metadata := map[string]any{"name": name, "namespace": namespace}
	if given, ok := body["metadata"].(map[string]any); ok {
		maps.Copy(metadata, given)
	}
	body["apiVersion"], body["kind"], body["metadata"] = "apps/v1", "Deployment", metadata
	return json.Marshal(body)
}

// template returns the same as Go types.
func (o *overlay) template() (*corev1.PodTemplateSpec, map[string]string, error) {
	text, err := json.Marshal(o.body)
	if err != nil {
		return nil, nil, err
	}
	var typed struct {
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct{ Template corev1.PodTemplateSpec }
	}
	if err := json.Unmarshal(text, &typed); err != nil {
		return nil, nil, err
	}
	return &typed.Spec.Template, typed.Annotations, nil
}
