// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// releases is a cluster in which two operators serve namespaces of their own, and none serves another one.
func releases() *cluster {
	all := []client.Object{}
	for namespace, watched := range map[string]string{"a-system": "web", "b-system": "shop,pay"} {
		all = append(all, objects.NewDeployment("vso", namespace).Labeled("app.kubernetes.io/component", "operator").Pod(func(pod *corev1.PodSpec) {
			pod.Containers[0].Args = []string{"--environment=" + map[string]string{"web": "development", "shop,pay": "production"}[watched], "--environments-configmap=values", "--watch-namespaces=" + watched}
		}).Build(), objects.NewConfigMap("values", namespace, "rollout.yaml", "waves: [{name: first, namespaceSelector: {matchLabels: {a: b}}}]\n"))
	}
	for _, namespace := range []string{"web", "shop", "none"} {
		all = append(all, objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build(), objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build())
	}
	return &cluster{objects: all}
}

// If the cluster has several operators, the commands use the one that watches the namespace. If that is not known, a
// note names the operator that was used.
func TestSession_SelectsOperatorOfNamespace(t *testing.T) {
	const several, unserved = "found several operators", "does not watch namespace"
	for name, test := range map[string]struct {
		arguments []string
		has       []string
		not       []string
	}{
		"of the first":              {[]string{"explain", "cart", "-n", "web"}, []string{"development, from"}, []string{several, unserved}},
		"of the second":             {[]string{"explain", "cart", "-n", "shop"}, []string{"production, from"}, []string{several, unserved}},
		"of none":                   {[]string{"explain", "cart", "-n", "none"}, []string{several, "the operator a-system/vso does not watch namespace none (watchNamespaces), so nothing changes there"}, nil},
		"of a chosen one":           {[]string{"explain", "cart", "-n", "web", "--operator-namespace", "b-system"}, []string{"the operator b-system/vso does not watch namespace web"}, []string{several}},
		"of all":                    {[]string{"plan", "-A"}, []string{"found several operators: showing the decisions of a-system/vso; choose another operator with --operator-namespace: b-system/vso", "does not watch namespace shop", "does not watch namespace none"}, []string{"watch namespace web"}},
		"a rollout of one of them":  {[]string{"rollout", "pause"}, []string{"error: found several operators: a-system/vso, b-system/vso; choose one with --operator-namespace, or by --namespace with one that it watches"}, nil},
		"a rollout of a namespace":  {[]string{"rollout", "pause", "-n", "shop"}, []string{"configmap/values annotated"}, []string{several}},
		"a rollout of a chosen one": {[]string{"rollout", "pause", "--operator-namespace", "b-system"}, []string{"configmap/values annotated"}, []string{several}},
	} {
		t.Run(name, func(t *testing.T) {
			if test.arguments[0] != "rollout" {
				test.arguments = append(test.arguments, "--kube-version", "v1.36.0")
			}
			out, notes, _ := releases().runOutside(t, test.arguments...)
			shown := out + notes
			for _, part := range test.has {
				require.Contains(t, shown, part)
			}
			for _, part := range test.not {
				require.NotContains(t, shown, part)
			}
		})
	}
}

// A user with write access to a namespace can create a Deployment that looks like an operator, but cannot bind roles to
// it. So the commands prefer an operator with the roles of the chart, in any namespace.
func TestSession_RanksUnboundDeploymentLast(t *testing.T) {
	bound := func(to, namespace string) client.Object {
		name := metav1.ObjectMeta{Name: to, Namespace: namespace}
		if namespace == "" {
			return &rbacv1.ClusterRoleBinding{ObjectMeta: name}
		}
		return &rbacv1.RoleBinding{ObjectMeta: name}
	}
	for name, test := range map[string]struct {
		bound client.Object
		first string
	}{
		"everywhere":             {bound("z-system:vso", ""), "z-system/vso"},
		"in this namespace":      {bound("z-system:vso", "shop"), "z-system/vso"},
		"in its own namespace":   {bound("a-hostile:vso", "a-hostile"), "a-hostile/vso"},
		"by nobody who is known": {bound("other:vso", ""), "a-hostile/vso"},
	} {
		t.Run(name, func(t *testing.T) {
			all := []client.Object{test.bound, objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Build(), objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Build()}
			for _, namespace := range []string{"a-hostile", "z-system"} {
				all = append(all, objects.NewDeployment("vso", namespace).Labeled("app.kubernetes.io/component", "operator").Pod(func(pod *corev1.PodSpec) {
					pod.Containers[0].Args = []string{"--environment=production", "--environments-configmap=values"}
				}).Build(), objects.NewConfigMap("values", namespace, "rollout.yaml", ""))
			}
			made := &cluster{objects: all}
			_, notes, _ := made.run(t, "plan")
			require.Contains(t, notes, "found several operators: showing the decisions of "+test.first+";")
			out, notes, code := made.runOutside(t, "rollout", "pause", "-n", "shop")
			require.NotZero(t, code, out)
			require.Contains(t, notes, "found several operators: "+test.first)
		})
	}
}
