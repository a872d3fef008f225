// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// documents decodes the objects of a YAML string and sets their namespace.
func documents(t *testing.T, namespace, text string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for _, document := range strings.Split(text, "\n---\n") {
		object := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(document), &object.Object))
		if len(object.Object) == 0 || object.GetKind() == "Namespace" {
			continue
		}
		object.SetNamespace(namespace)
		objects = append(objects, object)
	}
	return objects
}

func TestVectorSidecar_RejectsInvalidSpecs(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	for name, test := range map[string]struct{ spec, want string }{
		"no selector":             {"{}", "spec.selector"},
		"an empty selector":       {"{selector: {}}", "would match every workload of the namespace"},
		"In without values":       {"{selector: {matchExpressions: [{key: a, operator: In}]}}", "In and NotIn need values"},
		"Exists with values":      {"{selector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}}", "Exists and DoesNotExist take none"},
		"an unknown operator":     {"{selector: {matchExpressions: [{key: a, operator: Near}]}}", "operator must be In, NotIn, Exists or DoesNotExist"},
		"two configurations":      {"{selector: {matchLabels: {a: b}}, sidecar: {config: {inline: x, configMapRef: {name: c}}}}", "give one of them"},
		"text and data":           {"{selector: {matchLabels: {a: b}}, sidecar: {config: {inline: x, raw: {sources: {}}}}}", "more than one of configMapRef, inline and raw"},
		"data that are a list":    {"{selector: {matchLabels: {a: b}}, sidecar: {config: {raw: [sources]}}}", "spec.sidecar.config.raw"},
		"an unknown socket mode":  {"{selector: {matchLabels: {a: b}}, sidecar: {socket: {mode: unix_datagram}}}", "spec.sidecar.socket.mode"},
		"a Secret without a name": {"{selector: {matchLabels: {a: b}}, sidecar: {secrets: {store: {name: s}}}}", "spec.sidecar.secrets.store"},
		"an image with a blank":   {"{selector: {matchLabels: {a: b}}, sidecar: {image: 'vector: 1'}}", "spec.sidecar.image"},
		"a container name":        {"{selector: {matchLabels: {a: b}}, sidecar: {name: Vector}}", "spec.sidecar.name"},
		"a number as a variable":  {"{selector: {matchLabels: {a: b}}, sidecar: {env: [{name: A, value: 1}]}}", "spec.sidecar.env[0].value"},
		"text as arguments":       {"{selector: {matchLabels: {a: b}}, sidecar: {args: --verbose}}", "spec.sidecar.args"},
		"a bad quantity":          {"{selector: {matchLabels: {a: b}}, sidecar: {resources: {limits: {cpu: lots}}}}", "spec.sidecar.resources.limits.cpu"},
		"a port out of range":     {"{selector: {matchLabels: {a: b}}, sidecar: {metrics: {port: 70000}}}", "spec.sidecar.metrics.port"},
		"an unknown log level":    {"{selector: {matchLabels: {a: b}}, sidecar: {logLevel: loud}}", "spec.sidecar.logLevel"},
		"an environment's name":   {"{selector: {matchLabels: {a: b}}, environment: Production}", "spec.environment"},
		"values that are no map":  {"{selector: {matchLabels: {a: b}}, values: [1]}", "spec.values"},
		"a relative log folder":   {"{selector: {matchLabels: {a: b}}, sidecar: {logs: {path: var/log}}}", "spec.sidecar.logs.path"},
		"an unknown native mode":  {"{selector: {matchLabels: {a: b}}, sidecar: {native: Sometimes}}", "spec.sidecar.native"},
		"a negative thread count": {"{selector: {matchLabels: {a: b}}, sidecar: {threads: -1}}", "spec.sidecar.threads"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := documents(t, namespace, "apiVersion: observability.kontroloop.ai/v1alpha1\nkind: VectorSidecar\nmetadata: {name: bad}\nspec: "+test.spec)[0]
			err := world.Client.Create(t.Context(), object)
			require.True(t, apierrors.IsInvalid(err), "%v", err)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestVectorSidecar_AcceptsEmptySelectorWithMatchAll(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	object := documents(t, namespace, "apiVersion: observability.kontroloop.ai/v1alpha1\nkind: VectorSidecar\nmetadata: {name: all}\nspec: {selector: {}, matchAll: true}")[0]
	require.NoError(t, world.Client.Create(t.Context(), object))
}

// Manifests in the form that an earlier VectorSidecar CRD had, every field of it
// used.
const earlierManifests = `
apiVersion: v1
kind: ConfigMap
metadata: {name: pipeline}
data:
  pipeline.yaml: |
    data_dir: /var/lib/vector
    sources: {app: {type: file, include: [/app/logs/*.log]}}
    sinks: {out: {type: console, inputs: [app], encoding: {codec: json}}}
---
apiVersion: observability.kontroloop.ai/v1alpha1
kind: VectorSidecar
metadata:
  name: referenced
spec:
  enabled: true
  selector:
    matchLabels: {observability: enabled}
    matchExpressions:
    - {key: tier, operator: In, values: [web, api]}
    - {key: batch, operator: DoesNotExist}
  sidecar:
    name: vector
    image: timberio/vector:0.35.0-alpine
    imagePullPolicy: IfNotPresent
    config:
      configMapRef: {name: pipeline, key: pipeline.yaml}
    args: ["--require-healthy", "false"]
    env:
    - {name: VECTOR_LOG, value: info}
    - name: NODE
      valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
    resources:
      requests: {cpu: 200m, memory: 256Mi}
      limits: {cpu: 1000m, memory: 512Mi}
    volumeMounts:
    - {name: app-logs, mountPath: /app/logs, readOnly: true}
    - {name: vector-data, mountPath: /var/lib/vector}
  initContainers:
  - name: prepare
    image: busybox:1.36
    command: [sh, -c, "true"]
  volumes:
  - name: app-logs
    emptyDir: {}
  - name: vector-data
    emptyDir: {sizeLimit: 1Gi}
---
apiVersion: observability.kontroloop.ai/v1alpha1
kind: VectorSidecar
metadata:
  name: inline
spec:
  enabled: true
  selector:
    matchLabels: {environment: dev}
  sidecar:
    name: vector
    image: timberio/vector:0.35.0
    config:
      inline: |
        sources:
          in: {type: demo_logs, format: json}
        sinks:
          console:
            type: console
            inputs: [in]
            encoding: {codec: json}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {observability: enabled, tier: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "registry.example/web:1"}]}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: dev
  labels: {environment: dev}
spec:
  selector: {matchLabels: {app: dev}}
  template:
    metadata: {labels: {app: dev}}
    spec: {containers: [{name: dev, image: "registry.example/dev:1"}]}
`

func TestVectorSidecar_AcceptsManifestsOfEarlierRelease(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	for _, object := range documents(t, namespace, earlierManifests) {
		require.NoError(t, world.Client.Create(t.Context(), object))
	}
	web := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
	dev := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "dev"}}

	harness.Until(t, world, web, "the sidecar", isInjected)
	harness.Until(t, world, dev, "the sidecar", isInjected)

	vector := web.Spec.Template.Spec.InitContainers[0]
	require.Equal(t, "timberio/vector:0.35.0-alpine", vector.Image)
	require.Equal(t, []string{"--config", "/etc/vector/pipeline.yaml", "--require-healthy", "false"}, vector.Args)
	require.Equal(t, "info", logLevel(web))
	at := map[string]string{}
	for _, mount := range vector.VolumeMounts {
		require.NotContains(t, at, mount.MountPath)
		at[mount.MountPath] = mount.Name
	}
	require.Equal(t, "vector-data", at["/var/lib/vector"], "the user's volume, not ours")
	require.Equal(t, "app-logs", at["/app/logs"])
	require.Equal(t, "prepare", web.Spec.Template.Spec.InitContainers[1].Name)
	require.Nil(t, vector.LivenessProbe, "this configuration enables no API to ask")
}

// The API server accepts each sample of the documentation. With the sample application, it becomes Ready.
func TestVectorSidecar_RollsOutEverySample(t *testing.T) {
	t.Parallel()
	root, err := harness.Root()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(root, "docs", "samples", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	application, err := os.ReadFile(filepath.Join(root, "docs", "samples", "app", "deployment.yaml"))
	require.NoError(t, err)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			namespace := world.Namespace(t)
			var sidecars []*v1alpha1.VectorSidecar
			var clusters []*v1alpha1.ClusterVectorSidecar
			for _, object := range append(documents(t, namespace, string(application)), documents(t, namespace, string(text))...) {
				if object.GetKind() == "VectorSidecar" {
					labelForSample(t, namespace, object)
					// The duration of a soak is not tested here.
					require.NoError(t, unstructured.SetNestedField(object.Object, "0s", "spec", "rollout", "soak"))
					sidecars = append(sidecars, &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: object.GetName()}})
				}
				if object.GetKind() == "ClusterVectorSidecar" {
					labelForSample(t, namespace, object)
					clusters = append(clusters, clusterSample(t, namespace, object))
					continue
				}
				require.NoError(t, world.Client.Create(t.Context(), object))
			}
			require.NotZero(t, len(sidecars)+len(clusters))
			for _, c := range clusters {
				harness.Until(t, world, c, "readiness", func(c *v1alpha1.ClusterVectorSidecar) bool {
					return isClusterReady(c) && c.Status.InjectedWorkloads == 1
				})
			}
			for _, vs := range sidecars {
				harness.Until(t, world, vs, "readiness", func(vs *v1alpha1.VectorSidecar) bool {
					return isReady(vs) && (!vs.Spec.IsEnabled() || vs.Status.InjectedDeployments == 1)
				})
			}
		})
	}
}

// clusterSample creates the ClusterVectorSidecar of a sample with a namespaceSelector for one namespace, because
// other tests have namespaces with the labels of the sample.
func clusterSample(t *testing.T, namespace string, sample *unstructured.Unstructured) *v1alpha1.ClusterVectorSidecar {
	t.Helper()
	c := &v1alpha1.ClusterVectorSidecar{}
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(sample.Object, c, true))
	c.Name, c.Namespace = namespace, ""
	harness.Change(t, world, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, func(n *corev1.Namespace) {
		for _, e := range c.Spec.NamespaceSelector.MatchExpressions {
			metav1.SetMetaDataLabel(&n.ObjectMeta, e.Key, "sample")
		}
	})
	c.Spec.NamespaceSelector.MatchExpressions = append(c.Spec.NamespaceSelector.MatchExpressions, metav1.LabelSelectorRequirement{
		Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: []string{namespace},
	})
	c.Spec.Rollout = &v1alpha1.RolloutSpec{Soak: &metav1.Duration{}} // No matter here.
	world.Create(t, c)
	return c
}

// labelForSample gives the sample application the labels that a sample selects.
func labelForSample(t *testing.T, namespace string, sample *unstructured.Unstructured) {
	t.Helper()
	var deployments appsv1.DeploymentList
	require.NoError(t, world.Client.List(t.Context(), &deployments, client.InNamespace(namespace)))
	labels, _, err := unstructured.NestedStringMap(sample.Object, "spec", "selector", "matchLabels")
	require.NoError(t, err)
	expressions, _, err := unstructured.NestedSlice(sample.Object, "spec", "selector", "matchExpressions")
	require.NoError(t, err)
	for i := range deployments.Items {
		harness.Change(t, world, &deployments.Items[i], func(d *appsv1.Deployment) {
			for key, value := range labels {
				metav1.SetMetaDataLabel(&d.ObjectMeta, key, value)
			}
			for _, expression := range expressions {
				e, _ := expression.(map[string]any)
				key, _ := e["key"].(string)
				switch e["operator"] {
				case "In":
					values, _ := e["values"].([]any)
					value, _ := values[0].(string)
					metav1.SetMetaDataLabel(&d.ObjectMeta, key, value)
				case "Exists":
					metav1.SetMetaDataLabel(&d.ObjectMeta, key, "any")
				}
			}
		})
	}
}
