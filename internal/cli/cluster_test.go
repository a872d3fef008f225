// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A preview uses the properties of the connected cluster, unless flags override them. For properties that it cannot
// read, it uses defaults and reports that.
func TestClusterFlags_OverridesDetectedCluster(t *testing.T) {
	kubernetes := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "kubernetes", Namespace: "default"},
		Spec:       corev1.ServiceSpec{IPFamilies: []corev1.IPFamily{corev1.IPv6Protocol}},
	}
	const assumed = "assuming IPv4"
	for name, test := range map[string]struct {
		fault     func(string, client.ObjectKey) error
		arguments []string
		listens   string
		isAssumed bool
	}{
		"that of its Service":  {listens: "'[::]:9598'"},
		"another one":          {arguments: []string{"--ip-family", "IPv4"}, listens: "0.0.0.0:9598"},
		"one that may not say": {fault: limited, listens: "0.0.0.0:9598", isAssumed: true},
		"one that need not":    {fault: limited, arguments: []string{"--ip-family", "IPv6"}, listens: "'[::]:9598'"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &cluster{fault: test.fault, objects: []client.Object{
				kubernetes, objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Build(),
				objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Build(),
			}}
			out, notes, code := c.run(t, append([]string{"render", "cart"}, test.arguments...)...)
			require.Zero(t, code, notes)
			require.Contains(t, out, "address: "+test.listens)
			if test.isAssumed {
				require.Contains(t, notes, assumed)
			} else {
				require.NotContains(t, notes, assumed)
			}
		})
	}
}

// If the namespace selector of a ClusterVectorSidecar is invalid, render reports an error for this ClusterVectorSidecar
// and still previews the others.
func TestNewRender_SkipsInvalidNamespaceSelector(t *testing.T) {
	broken := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "platform"}}
	broken.Spec.NamespaceSelector.MatchLabels = map[string]string{"team": "not a label"}
	broken.Spec.Selector.MatchLabels = map[string]string{"audit": "vector"}
	c := &cluster{objects: []client.Object{
		broken, objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Build(),
		objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Build(),
	}}
	out, notes, code := c.run(t, "render", "cart")
	require.Zero(t, code, notes)
	require.Contains(t, out, "name: vector")

	file := filepath.Join(t.TempDir(), "platform.yaml")
	text, err := yaml.Marshal(broken)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append([]byte("apiVersion: "+v1alpha1.GroupVersion.String()+"\nkind: ClusterVectorSidecar\n"), text...), 0o600))
	_, notes, code = c.run(t, "render", "--sidecar", file, "cart")
	require.Equal(t, 2, code, notes)
	require.Contains(t, notes, "ClusterVectorSidecar platform: spec.namespaceSelector")
}

func TestClusterFlags_RejectsUnknownValues(t *testing.T) {
	for _, arguments := range [][]string{{"--ip-family", "IPv5"}, {"--platform", "openshift"}} {
		_, notes, code := (&cluster{}).run(t, append([]string{"render"}, arguments...)...)
		require.NotZero(t, code)
		require.Contains(t, notes, arguments[0])
		require.Contains(t, notes, "must be one of")
	}
}

// Objects that are missing in the files are read from the cluster, in the namespace that the files name.
func TestInputs_ReadsMissingObjectsFromNamespace(t *testing.T) {
	logs := func(namespace string) *v1alpha1.VectorSidecar {
		return objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	}
	cart := func(namespace string) client.Object {
		return objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	}
	c := &cluster{objects: []client.Object{logs("shop"), logs("web"), cart("shop"), cart("web")}}
	const several = "error: the files have objects of the namespaces shop, web: set one with --namespace, or take all with --all-namespaces"
	for name, test := range map[string]struct {
		given     []client.Object
		arguments []string
		has, not  string
		code      int
	}{
		"a workload of another one":      {given: []client.Object{cart("web")}, arguments: []string{"diff"}, has: "web/cart: inject", code: 1},
		"VectorSidecars of two":          {given: []client.Object{logs("shop"), logs("web")}, arguments: []string{"plan"}, has: several, code: 2},
		"workloads of two":               {given: []client.Object{cart("shop"), cart("web")}, arguments: []string{"plan"}, has: several, code: 2},
		"one of them":                    {given: []client.Object{logs("shop"), logs("web")}, arguments: []string{"diff", "-n", "shop"}, has: "shop/cart: inject", not: "web/cart", code: 1},
		"all of them":                    {given: []client.Object{logs("shop"), logs("web")}, arguments: []string{"plan", "-A"}, has: "inject 2"},
		"one that is in none, and a set": {given: []client.Object{logs("web"), logs("")}, arguments: []string{"diff"}, has: "web/cart: inject", not: "shop/cart", code: 1},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "given.yaml")
			var written string
			for _, object := range test.given {
				written += "---\n" + text(t, object)
			}
			require.NoError(t, os.WriteFile(file, []byte(written), 0o600))
			out, notes, code := c.runOutside(t, append(test.arguments, "-f", file, "--kube-version", "v1.36.0")...)
			require.Equal(t, test.code, code, out+notes)
			require.Contains(t, out+notes, test.has)
			if test.not != "" {
				require.NotContains(t, out, test.not)
			}
		})
	}
}

// A list without items is printed as an empty list, not as null.
func TestPrint_WritesEmptyListWithoutNull(t *testing.T) {
	c := &cluster{}
	for _, arguments := range [][]string{{"render"}, {"render", "--only-overlay"}, {"render", "--explain-values"}, {"get"}, {"tree"}, {"plan"}} {
		if arguments[0] != "get" {
			arguments = append(arguments, "--kube-version", "v1.36.0")
		}
		out, notes, code := c.runOutside(t, append(arguments, "-o", "json")...)
		require.Zero(t, code, notes)
		require.NotContains(t, out, "null", arguments)
	}
}

// If the user interrupts the command reconcile, the error states that, not that the operator does not respond.
func TestAwaitReconciles_ReportsInterruption(t *testing.T) {
	var out, notes bytes.Buffer
	a := (&cluster{objects: []client.Object{objects.NewVectorSidecar("logs", "shop").Build()}}).app(t, &out, &notes)
	ctx, cancel := context.WithCancel(t.Context())
	a.cluster = interceptor.NewClient(a.cluster, interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		cancel()
		return ctx.Err()
	}})
	require.Equal(t, exitError, a.run(ctx, []string{"reconcile", "logs", "-n", "shop"}))
	require.Contains(t, notes.String(), "error: waiting for the operator: context canceled")
}

// All commands accept the names that -o name prints and kubectl accepts.
func TestParseSidecarName_AcceptsKubectlForms(t *testing.T) {
	cluster := &cluster{objects: []client.Object{
		objects.NewVectorSidecar("logs", "shop").Build(), objects.NewVectorSidecar("traces", "shop").Build(),
		&v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "all"}}, &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "other"}},
	}}
	for argument, want := range map[string]string{
		"logs": "logs", "vs/logs": "logs", "VectorSidecar/logs": "logs", "vectorsidecars/logs": "logs",
		"vectorsidecar.observability.kontroloop.ai/logs": "logs",
		"clustervectorsidecar/all":                       "all", "ClusterVectorSidecars/all": "all",
		"clustervectorsidecars.observability.kontroloop.ai/all": "all",
	} {
		verbs := [][]string{{"get"}, {"rollout", "pause"}, {"rollout", "resume"}}
		if want == "logs" {
			verbs = append(verbs, []string{"reconcile", "--timeout", "0"})
		}
		if strings.Contains(argument, "/") {
			verbs = append(verbs, []string{"rollout", "retry"})
		}
		for _, verb := range verbs {
			out, notes, code := cluster.runOutside(t, append(verb, argument, "-n", "shop")...)
			require.Zero(t, code, "%v %s: %s", verb, argument, notes)
			require.NotContains(t, out, "traces", argument)
			require.NotContains(t, out, "other", argument)
		}
		printed, _, _ := cluster.runOutside(t, "get", argument, "-n", "shop", "-o", "name")
		require.Regexp(t, `^(cluster)?vectorsidecar\.observability\.kontroloop\.ai/`+want+"\n$", printed)
		again, notes, code := cluster.runOutside(t, "get", strings.TrimSpace(printed), "-n", "shop", "-o", "name")
		require.Zero(t, code, notes)
		require.Equal(t, printed, again)
	}
	_, notes, code := cluster.runOutside(t, "get", "deployment/cart", "-n", "shop")
	require.Equal(t, exitError, code)
	require.Contains(t, notes, `VectorSidecar "deployment/cart" does not exist in namespace shop`)
}
