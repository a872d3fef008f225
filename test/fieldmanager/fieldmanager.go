// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package fieldmanager makes Deployments with managed fields as an API server records
// them, without one. It does not judge what the product makes of them.
package fieldmanager

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"k8s.io/client-go/applyconfigurations"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

const application = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: cart
  namespace: shop
  labels: {app: cart}
  annotations:
    team: payments
    deployment.kubernetes.io/revision: "3"
spec:
  replicas: 2
  selector: {matchLabels: {app: cart}}
  template:
    metadata: {labels: {app: cart}}
    spec:
      initContainers:
      - {name: migrate, image: "cart:1"}
      containers:
      - name: cart
        image: cart:1
        ports: [{containerPort: 8080, name: http, protocol: TCP}]
        volumeMounts: [{name: logs, mountPath: /var/log/app, subPath: cart}]
      volumes:
      - {name: logs, emptyDir: {}}
`

// Sidecar is what a manager applies.
const Sidecar = `
metadata:
  annotations:
    vectorsidecar.observability.kontroloop.ai/injected: "true"
    vectorsidecar.observability.kontroloop.ai/injected-hash: abc
spec:
  template:
    metadata:
      annotations: {vectorsidecar.observability.kontroloop.ai/injected-env.logs: d}
    spec:
      initContainers:
      - name: vector
        image: vector:1
        restartPolicy: Always
        args: [--config, /etc/vector/vector.yaml]
        env:
        - {name: A, value: "1"}
        - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
        ports: [{containerPort: 9598, name: metrics}]
        resources: {requests: {cpu: 0.5, memory: 128Mi}}
        securityContext: {capabilities: {drop: [ALL]}}
        volumeMounts: [{name: vectorsidecar-vector-data, mountPath: /var/lib/vector}]
      volumes:
      - {name: vectorsidecar-vector-data, emptyDir: {sizeLimit: 256Mi}}
      - name: token
        projected: {sources: [{serviceAccountToken: {path: token}}]}
`

// Cluster is a Deployment to which is applied as an API server does it: with its own
// merge code, recording managed fields. Make one with New.
type Cluster struct {
	t       *testing.T
	manager managedfieldstest.TestFieldManager
}

// New returns a Cluster with a Deployment that kubectl has made.
func New(t *testing.T) *Cluster {
	t.Helper()
	converter := applyconfigurations.NewTypeConverter(scheme.Scheme)
	c := &Cluster{t, managedfieldstest.NewTestFieldManager(converter, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	require.NoError(t, c.manager.Update(c.object(application), "kubectl"))
	return c
}

func (c *Cluster) object(text string) *unstructured.Unstructured {
	c.t.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(c.t, yaml.Unmarshal([]byte(text), &object.Object))
	return object
}

// Apply returns what was applied, in the API server's spelling.
func (c *Cluster) Apply(manager, text string) map[string]any {
	c.t.Helper()
	var typed appsv1ac.DeploymentApplyConfiguration
	require.NoError(c.t, yaml.Unmarshal([]byte(text), &typed))
	canonical, err := json.Marshal(typed)
	require.NoError(c.t, err)
	body := c.object(string(canonical))
	applied := runtime.DeepCopyJSON(body.Object)
	body.SetAPIVersion("apps/v1")
	body.SetKind("Deployment")
	body.SetName("cart")
	body.SetNamespace("shop")
	require.NoError(c.t, c.manager.Apply(body, manager, false))
	return applied
}

// Live returns the object after the API server's defaults.
func (c *Cluster) Live() *appsv1.Deployment {
	c.t.Helper()
	text, err := json.Marshal(c.manager.Live())
	require.NoError(c.t, err)
	deployment := &appsv1.Deployment{}
	require.NoError(c.t, json.Unmarshal(text, deployment))
	pod := &deployment.Spec.Template.Spec
	for i := range pod.InitContainers {
		pod.InitContainers[i].TerminationMessagePath = "/dev/termination-log"
		for j := range pod.InitContainers[i].Ports {
			pod.InitContainers[i].Ports[j].Protocol = corev1.ProtocolTCP
		}
		for j := range pod.InitContainers[i].Env {
			if from := pod.InitContainers[i].Env[j].ValueFrom; from != nil {
				from.FieldRef.APIVersion = "v1"
			}
		}
	}
	for i := range pod.Volumes {
		if projected := pod.Volumes[i].Projected; projected != nil {
			hour := int64(3600)
			projected.Sources[0].ServiceAccountToken.ExpirationSeconds = &hour
		}
	}
	return deployment
}

// Update writes the Deployment as another manager does that does not apply.
func (c *Cluster) Update(deployment *appsv1.Deployment, manager string) {
	c.t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(deployment)
	require.NoError(c.t, err)
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	object.SetManagedFields(nil)
	require.NoError(c.t, c.manager.Update(object, manager))
}

// List is the annotation by which the pod template lists what of Sidecar is the manager's
// of the VectorSidecar logs.
const List = `{"manager":"vectorsidecar/logs","containers":["vector","gone"],"volumes":["vectorsidecar-vector-data"]}`

// Undone is a workload whose pod template came back from a revision: the sidecar is
// there, and a manager wrote it that is none of ours.
func Undone(t *testing.T, by string, annotations map[string]string) *appsv1.Deployment {
	t.Helper()
	c := New(t)
	c.Apply("vectorsidecar/logs", Sidecar)
	deployment := c.Live()
	deployment.Annotations = nil
	deployment.Spec.Template.Annotations = annotations
	deployment.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: by, Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:template":{"f:spec":{
			"f:initContainers":{"k:{\"name\":\"vector\"}":{".":{},"f:image":{},"f:name":{}}},
			"f:volumes":{"k:{\"name\":\"vectorsidecar-vector-data\"}":{".":{},"f:name":{}}}}}}}`),
	}}
	return deployment
}
