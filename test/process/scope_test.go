// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// worldForAccount returns the world with the permissions of a ServiceAccount.
func worldForAccount(namespace, account string) *harness.World {
	seen := *world
	seen.Config = rest.CopyConfig(world.Config)
	seen.Config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + namespace + ":" + account}
	return &seen
}

func TestOperator_NeedsPermissionsOnlyInWatchedNamespaces(t *testing.T) {
	first, second, other := world.Namespace(t), world.Namespace(t, meta.LabelEnvironment, "staging"), world.Namespace(t)
	inWatched := append(workRules(), rule("", "namespaces", "get"))
	account := serviceAccount(t, own, grants{rules: map[string][]policy{
		first: inWatched, second: inWatched, own: {rule("", "configmaps", "list", "watch", "create", "update")},
	}})
	world.SetValues(t, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: "scoped"},
		Data:       map[string]string{"development.yaml": "sidecar: {logLevel: trace}"},
	})
	deployments := map[string]*appsv1.Deployment{}
	for _, namespace := range []string{first, second, other} {
		deployments[namespace] = labeled(t, "cart", namespace)
		sidecar(t, namespace)
	}

	o := worldForAccount(own, account).StartOperator(t, operator.Options{
		Namespace: own, EnvironmentsConfigMap: "scoped", WatchNamespaces: []string{first, second},
	})

	harness.Until(t, world, deployments[first], "the sidecar", isInjected)
	harness.Until(t, world, deployments[second], "the sidecar", isInjected)
	inSecond := &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: second, Name: "logs"}}
	harness.Until(t, world, inSecond, "the environment of its namespace", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Environment == "staging" })
	inOther := &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: other, Name: "logs"}}
	world.Get(t, inOther)
	require.Empty(t, inOther.Status.Conditions, "nobody looks at it")
	world.Get(t, deployments[other])
	require.False(t, isInjected(deployments[other]))
	require.Contains(t, logLevel(deployments[first]), "trace", "the installation's values are read in the operator's namespace")
	for _, request := range append(o.Requests.Reads(""), o.Requests.Writes("")...) {
		isDiscovery := strings.Count(request.Path, "/") <= 3 && !strings.Contains(request.Path, "namespaces")
		inScope := strings.Contains(request.Path, "/namespaces/"+first) || strings.Contains(request.Path, "/namespaces/"+second) ||
			strings.HasPrefix(request.Path, "/api/v1/namespaces/"+own+"/configmaps")
		require.True(t, isDiscovery || inScope, "%s %s", request.Method, request.Path)
	}
}

// logLevel returns VECTOR_LOG of the sidecar.
func logLevel(d *appsv1.Deployment) string {
	pod := &d.Spec.Template.Spec
	for _, c := range append(pod.InitContainers, pod.Containers...) {
		for _, variable := range c.Env {
			if variable.Name == "VECTOR_LOG" {
				return variable.Value
			}
		}
	}
	return ""
}

// With Roles only, the operator cannot watch namespaces, because they are cluster-scoped. It still applies a changed
// environment label of a watched namespace.
func TestEnvironment_FollowsLabelOfWatchedNamespace(t *testing.T) {
	namespace := world.Namespace(t, meta.LabelEnvironment, "staging")
	account := serviceAccount(t, own, grants{rules: map[string][]policy{namespace: append(workRules(), rule("", "namespaces", "get"))}})
	cart := labeled(t, "cart", namespace)
	vs := sidecar(t, namespace)
	worldForAccount(own, account).StartOperator(t, operator.Options{WatchNamespaces: []string{namespace}})
	harness.Until(t, world, cart, "the sidecar", isInjected)
	require.Equal(t, "staging", environmentOf(t, vs))

	harness.Change(t, world, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, func(n *corev1.Namespace) {
		n.Labels[meta.LabelEnvironment] = "production"
	})

	harness.Until(t, world, vs, "the new environment", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Environment == "production" })
}

func environmentOf(t *testing.T, vs *v1alpha1.VectorSidecar) string {
	t.Helper()
	harness.Until(t, world, vs, "a status", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Environment != "" })
	return vs.Status.Environment
}

// With permissions in one namespace only, the operator cannot read the labels of the namespace. It uses the default
// environment.
func TestEnvironment_DefaultsForUnreadableNamespace(t *testing.T) {
	namespace := world.Namespace(t, meta.LabelEnvironment, "staging")
	account := serviceAccount(t, own, grants{rules: map[string][]policy{namespace: workRules()}})
	cart := labeled(t, "cart", namespace)
	vs := sidecar(t, namespace)

	worldForAccount(own, account).StartOperator(t, operator.Options{WatchNamespaces: []string{namespace}})

	harness.Until(t, world, cart, "the sidecar", isInjected)
	require.Equal(t, "development", environmentOf(t, vs))
}
