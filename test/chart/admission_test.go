// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// as is a client of a user with the given rights in a namespace.
func as(t *testing.T, user, namespace string, rules ...rbacv1.PolicyRule) client.Client {
	t.Helper()
	named := metav1.ObjectMeta{Name: "test-" + user, Namespace: namespace}
	role := &rbacv1.Role{ObjectMeta: named, Rules: rules}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: named, Subjects: []rbacv1.Subject{{Kind: "User", Name: user}},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: named.Name},
	}
	world.Create(t, role, binding)
	t.Cleanup(func() { kubectl(t, "delete", "role,rolebinding", named.Name, "-n", namespace) })
	config := plane.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	c, err := client.New(config, client.Options{Scheme: cluster.Scheme()})
	require.NoError(t, err)
	return c
}

var (
	mayWrite = rbacv1.PolicyRule{APIGroups: []string{"observability.kontroloop.ai"}, Resources: []string{"vectorsidecars"}, Verbs: []string{"*"}}
	mayPatch = rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"patch"}}
)

func TestOnlyWhoMayPatchDeploymentsMayWriteVectorSidecars(t *testing.T) {
	installed(t, chartDir)
	entitled := as(t, "entitled", "shop", mayWrite, mayPatch)
	stranger := as(t, "stranger", "shop", mayWrite)
	logs := example.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Build()

	// The API server takes a moment to know of a new policy.
	harness.Eventually(t, "the policy to work", func() bool {
		err := stranger.Create(t.Context(), logs.DeepCopy(), client.DryRunAll)
		return apierrors.IsForbidden(err)
	})
	err := stranger.Create(t.Context(), logs.DeepCopy())
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	require.ErrorContains(t, err, "user stranger may not create or change VectorSidecar shop/logs")
	require.ErrorContains(t, err, "may not patch Deployments in namespace shop; ask for a role with the verb patch on deployments")

	require.NoError(t, entitled.Create(t.Context(), logs))
	changed := logs.DeepCopy()
	changed.Spec.MatchAll = true
	require.True(t, apierrors.IsForbidden(stranger.Patch(t.Context(), changed.DeepCopy(), client.MergeFrom(logs))))
	require.NoError(t, entitled.Patch(t.Context(), changed, client.MergeFrom(logs)))

	labelled := changed.DeepCopy()
	labelled.Labels = map[string]string{"seen": "true"}
	require.NoError(t, stranger.Patch(t.Context(), labelled, client.MergeFrom(changed)), "a label changes no Deployment")
}

func TestThePolicyIsForTheNamespacesOfTheRelease(t *testing.T) {
	installed(t, chartDir, "--set", "watchNamespaces={shop}")
	inside, outside := as(t, "inside", "shop", mayWrite), as(t, "outside", "pay", mayWrite)
	harness.Eventually(t, "the policy to work", func() bool {
		return apierrors.IsForbidden(inside.Create(t.Context(), example.NewVectorSidecar("logs", "shop").Selecting("a", "b").Build(), client.DryRunAll))
	})
	harness.Eventually(t, "the policy of the release before to be gone", func() bool {
		return outside.Create(t.Context(), example.NewVectorSidecar("logs", "pay").Selecting("a", "b").Build(), client.DryRunAll) == nil
	})
}

func TestWhoMayEditMayEditVectorSidecars(t *testing.T) {
	installed(t, chartDir)
	for role, verbs := range map[string][]string{
		"view":  {"get", "list", "watch"},
		"edit":  {"get", "list", "watch", "create", "update", "patch", "delete"},
		"admin": {"get", "list", "watch", "create", "update", "patch", "delete"},
	} {
		binding := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "test-" + role, Namespace: "shop"},
			Subjects:   []rbacv1.Subject{{Kind: "User", Name: "user-" + role}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		}
		world.Create(t, binding)
		t.Cleanup(func() { kubectl(t, "delete", "rolebinding", binding.Name, "-n", "shop") })
		for _, verb := range []string{"get", "list", "watch", "create", "update", "patch", "delete"} {
			want := "no"
			for _, one := range verbs {
				if one == verb {
					want = "yes"
				}
			}
			// The roles are put together by a controller.
			harness.Eventually(t, role+" to "+verb+": "+want, func() bool {
				answer, _, _ := tryKubectl(t, "auth", "can-i", verb, "vectorsidecars", "-n", "shop", "--as", "user-"+role)
				return answer == want+"\n"
			})
		}
	}
}
