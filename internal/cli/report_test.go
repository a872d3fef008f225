// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// installed are the values of an operator installed for production, with an environment of the
// platform's own.
var installed = map[string]string{
	"production.yaml": "sidecar: {resources: {requests: {cpu: 123m}}}\n",
	"qa.yaml":         "sidecar: {logLevel: debug}\n",
}

// cluster has objects, and a fault for those that may not be read.
type cluster struct {
	objects []client.Object
	fault   func(kind string, key client.ObjectKey) error
}

func kindOf(object runtime.Object) string {
	switch o := object.(type) {
	case *appsv1.Deployment, *appsv1.DeploymentList:
		return "deployments"
	case *corev1.ConfigMap, *corev1.ConfigMapList:
		return "configmaps"
	case *corev1.Namespace, *corev1.NamespaceList:
		return "namespaces"
	case *metav1.PartialObjectMetadata:
		if o.Kind == "Namespace" {
			return "namespaces"
		}
	}
	return "vectorsidecars"
}

// limited has the permissions of edit in namespace shop, and no others.
func limited(kind string, key client.ObjectKey) error {
	if key.Namespace == "shop" {
		return nil
	}
	return apierrors.NewForbidden(schema.GroupResource{Resource: kind}, key.Name, nil)
}

// app returns the plugin on the cluster.
func (c *cluster) app(t *testing.T, stdout, stderr *bytes.Buffer) *app {
	t.Helper()
	known := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(known))
	require.NoError(t, v1alpha1.AddToScheme(known))
	fault := func(object runtime.Object, key client.ObjectKey) error {
		if c.fault == nil {
			return nil
		}
		return c.fault(kindOf(object), key)
	}
	builder := fake.NewClientBuilder().WithScheme(known).WithReturnManagedFields()
	for _, object := range c.objects {
		copied, ok := object.DeepCopyObject().(client.Object)
		require.True(t, ok)
		builder = builder.WithObjects(copied)
	}
	a := newApp(genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: stdout, ErrOut: stderr}, Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test")
	a.cluster = builder.WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, live client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
			if err := fault(into, key); err != nil {
				return err
			}
			return live.Get(ctx, key, into, options...)
		},
		List: func(ctx context.Context, live client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
			if err := fault(into, client.ObjectKey{Namespace: (&client.ListOptions{}).ApplyOptions(options).Namespace}); err != nil {
				return err
			}
			return live.List(ctx, into, options...)
		},
	}).Build()
	return a
}

// run runs the plugin in namespace shop.
func (c *cluster) run(t *testing.T, arguments ...string) (out, notes string, code int) {
	t.Helper()
	return c.runOutside(t, append(arguments, "-n", "shop", "--kube-version", "v1.36.0")...)
}

// runOutside runs the plugin in no namespace.
func (c *cluster) runOutside(t *testing.T, arguments ...string) (out, notes string, code int) {
	t.Helper()
	t.Setenv("KUBECONFIG", os.DevNull)
	var stdout, stderr bytes.Buffer
	code = c.app(t, &stdout, &stderr).run(t.Context(), arguments)
	return stdout.String(), stderr.String(), code
}

// operated returns a cluster with an operator for staging, a namespace, a VectorSidecar, and a
// workload with its sidecar, all with the operator's status.
func operated(t *testing.T, environment string) *cluster {
	t.Helper()
	values := objects.NewConfigMap("environments", "vector-system", "policy", "")
	values.Data = installed
	operator := objects.NewDeployment("vso", "vector-system").Labeled("app.kubernetes.io/component", "operator").Pod(func(pod *corev1.PodSpec) {
		pod.Containers[0].Args = []string{"--environment=staging", "--environments-configmap=environments"}
	}).Build()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{meta.LabelEnvironment: environment}}}
	sidecar := objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Build()
	sidecar.Generation = 1
	c := &cluster{objects: []client.Object{values, operator, namespace, sidecar}}
	c.objects = append(c.objects, objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Build())
	decided := c.decide(t)
	require.Nil(t, decided.rulings[0].decision.Invalid)
	for _, change := range decided.changes {
		deployment := &appsv1.Deployment{}
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(change.after.Object, deployment))
		workload.SetFinishedStatus(deployment)
		c.objects[len(c.objects)-1] = deployment
	}
	for _, companion := range decided.rulings[0].decision.Companions {
		c.objects = append(c.objects, &companion)
	}
	sidecar.Status = status.NewSidecarStatus(status.Facts{Sidecar: sidecar, Decision: c.decide(t).rulings[0].decision}, metav1.Now())
	require.Equal(t, int32(1), sidecar.Status.InjectedDeployments)
	return c
}

// decide returns what a reader of everything would decide.
func (c *cluster) decide(t *testing.T) *mergedResult {
	t.Helper()
	seeing := &cluster{objects: c.objects}
	a := seeing.app(t, &bytes.Buffer{}, &bytes.Buffer{})
	*a.kube.Namespace = "shop"
	scene, err := (&inputs{app: a, renderFlags: renderFlags{kubeVersion: "v1.36.0"}}).openSession(t.Context())
	require.NoError(t, err)
	decided, err := scene.mergeSidecars(t.Context())
	require.NoError(t, err)
	return decided
}

// A user with the role edit can read neither the labels of the namespace nor the installation. The command explain then
// shows the state that the operator reports in the status.
func TestByReport_ShowsStateReportedByOperator(t *testing.T) {
	for _, environment := range []string{"production", "qa"} {
		t.Run(environment, func(t *testing.T) {
			c := operated(t, environment)
			all, notes, code := c.run(t, "explain", "cart")
			require.Zero(t, code, notes)
			require.Contains(t, all, "Deployment shop/cart: UpToDate")
			c.fault = limited

			out, notes, code := c.run(t, "explain", "cart", "-o", "json")

			require.Zero(t, code, notes)
			var explained explanation
			require.NoError(t, json.Unmarshal([]byte(out), &explained))
			require.Equal(t, meta.ReasonUpToDate, explained.Reason, explained.Message)
			one := explained.VectorSidecars[0]
			require.Equal(t, environment, one.Environment)
			require.Contains(t, one.EnvironmentFrom, "status of VectorSidecar logs")
			require.Equal(t, "None", one.Action)
			require.Equal(t, one.InjectedHash, one.WantedHash)
			require.NotEmpty(t, one.InjectedHash)
			require.Contains(t, one.Assumed, "the operator reports")
			require.Contains(t, notes, "could not read the values of the installation")

			out, notes, code = c.run(t, "diff")
			require.Zero(t, code, notes)
			require.Empty(t, out)
			out, _, _ = c.run(t, "plan")
			require.Contains(t, out, "0 pods would restart in 0 batches: none 1")
			out, _, _ = c.run(t, "tree")
			require.Contains(t, out, "Deployment cart  Updated")
		})
	}
}

// If the VectorSidecar has changed since the last report of the operator, explain uses the built-in values, and a note
// states this.
func TestByReport_AssumesBuiltInValuesForChangedSpec(t *testing.T) {
	c := operated(t, "production")
	c.fault = limited
	for _, object := range c.objects {
		if sidecar, is := object.(*v1alpha1.VectorSidecar); is {
			sidecar.Generation++
		}
	}
	out, notes, code := c.run(t, "explain", "cart")
	require.Zero(t, code, notes)
	require.Contains(t, out, "production, from the status of VectorSidecar logs: no permission to read the labels of namespace shop")
	require.Contains(t, out, "the built-in values, because the installation's values cannot be read")

	c = operated(t, "qa")
	c.fault = limited
	for _, object := range c.objects {
		if sidecar, is := object.(*v1alpha1.VectorSidecar); is {
			sidecar.Generation++
		}
	}
	_, notes, code = c.run(t, "explain", "cart")
	require.NotZero(t, code)
	require.Contains(t, notes, "cannot be evaluated without the installation's values")
}

// A user with few permissions also sees an error that the operator reports in the status.
func TestByReport_ShowsReportedErrors(t *testing.T) {
	for state, action := range map[v1alpha1.WorkloadState]string{
		v1alpha1.StateConflict: "Conflict", v1alpha1.StateBlocked: "Blocked", v1alpha1.StateFailed: "None", v1alpha1.StateWaiting: "Update",
	} {
		t.Run(string(state), func(t *testing.T) {
			c := operated(t, "production")
			c.fault = limited
			for _, object := range c.objects {
				if sidecar, is := object.(*v1alpha1.VectorSidecar); is {
					sidecar.Status.Workloads = []v1alpha1.WorkloadStatus{{Name: "cart", State: state, Reason: "SomeReason", Message: "it is so"}}
				}
			}
			out, notes, code := c.run(t, "explain", "cart", "-o", "json")
			require.Zero(t, code, notes)
			var explained explanation
			require.NoError(t, json.Unmarshal([]byte(out), &explained))
			one := explained.VectorSidecars[0]
			require.Equal(t, action, one.Action)
			require.Equal(t, "SomeReason", one.Reason)
			require.Equal(t, "it is so (as the operator reports)", one.Message)
			require.Equal(t, string(state), one.State)
		})
	}
}

// If the API server cannot be reached, a command fails. It does not continue as if no object existed.
func TestRun_FailsOnUnreachableAPIServer(t *testing.T) {
	for _, kind := range []string{"namespaces", "deployments", "configmaps", "vectorsidecars"} {
		t.Run(kind, func(t *testing.T) {
			c := operated(t, "production")
			c.fault = func(of string, _ client.ObjectKey) error {
				if of == kind {
					return apierrors.NewTimeoutError("the API server is busy", 1)
				}
				return nil
			}
			out, notes, code := c.run(t, "explain", "cart")
			require.NotZero(t, code)
			require.Empty(t, out)
			require.Contains(t, notes, "the API server is busy")
		})
	}
}
