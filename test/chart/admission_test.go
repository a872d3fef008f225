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

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// newUserClient returns a client that acts as a user with some permissions in a namespace.
func newUserClient(t *testing.T, user, namespace string, rules ...rbacv1.PolicyRule) client.Client {
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
	mayWrite  = rbacv1.PolicyRule{APIGroups: []string{"observability.kontroloop.ai"}, Resources: []string{"vectorsidecars"}, Verbs: []string{"*"}}
	mayPatch  = rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"patch"}}
	mayDelete = rbacv1.PolicyRule{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"delete"}}
)

func TestVectorSidecar_RequiresPermissionToPatchDeployments(t *testing.T) {
	installed(t, chartDir)
	entitled := newUserClient(t, "entitled", "shop", mayWrite, mayPatch)
	stranger := newUserClient(t, "stranger", "shop", mayWrite)
	logs := example.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Build()

	// A new policy takes effect after a moment.
	harness.Eventually(t, "an effective policy", func() bool {
		err := stranger.Create(t.Context(), logs.DeepCopy(), client.DryRunAll)
		return apierrors.IsForbidden(err)
	})
	err := stranger.Create(t.Context(), logs.DeepCopy())
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	require.ErrorContains(t, err, "user stranger may not create or change VectorSidecar shop/logs")
	require.ErrorContains(t, err, "it changes deployments, and the user may not patch these in namespace shop; ask for a role with the verb patch on deployments there")

	require.NoError(t, entitled.Create(t.Context(), logs))
	changed := logs.DeepCopy()
	changed.Spec.MatchAll = true
	require.True(t, apierrors.IsForbidden(stranger.Patch(t.Context(), changed.DeepCopy(), client.MergeFrom(logs))))
	require.NoError(t, entitled.Patch(t.Context(), changed, client.MergeFrom(logs)))

	labeled := changed.DeepCopy()
	labeled.Labels = map[string]string{"seen": "true"}
	require.NoError(t, stranger.Patch(t.Context(), labeled, client.MergeFrom(changed)), "a label changes no Deployment")
	for _, key := range []string{meta.AnnotationUndoRollout, meta.AnnotationPromoteRollout, meta.AnnotationRetryRollout} {
		annotated := labeled.DeepCopy()
		annotated.Annotations = map[string]string{key: "0123456789"}
		require.True(t, apierrors.IsForbidden(stranger.Patch(t.Context(), annotated.DeepCopy(), client.MergeFrom(labeled))), "%s has workloads changed", key)
		require.NoError(t, entitled.Patch(t.Context(), annotated, client.MergeFrom(labeled)))
		again := annotated.DeepCopy()
		again.Annotations = nil
		require.True(t, apierrors.IsForbidden(stranger.Patch(t.Context(), again.DeepCopy(), client.MergeFrom(annotated))), "and so does its removal")
		require.NoError(t, entitled.Patch(t.Context(), again, client.MergeFrom(annotated)))
		labeled = again
	}

	for kind, resource := range map[v1alpha1.WorkloadKind]string{"StatefulSet": "statefulsets", "DaemonSet": "daemonsets", "CronJob": "cronjobs", "Job": "jobs", "Rollout": "rollouts"} {
		t.Run(string(kind), func(t *testing.T) { requireRightsOn(t, kind, resource, entitled) })
	}
}

// A user needs permission to patch workloads in the whole cluster to create a ClusterVectorSidecar, because it may
// select any namespace.
func TestClusterVectorSidecar_RequiresClusterWidePermission(t *testing.T) {
	installed(t, chartDir)
	mayWriteThem := rbacv1.PolicyRule{APIGroups: []string{"observability.kontroloop.ai"}, Resources: []string{"clustervectorsidecars"}, Verbs: []string{"*"}}
	everywhere := asOfCluster(t, "everywhere", mayWriteThem, mayPatch)
	remover := asOfCluster(t, "everywhere-remover", mayWriteThem, mayDelete)
	ofShop := asOfCluster(t, "of-shop", mayWriteThem)
	newUserClient(t, "of-shop", "shop", mayPatch)
	logs := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "logs"}}
	logs.Spec.NamespaceSelector.MatchLabels = map[string]string{"kubernetes.io/metadata.name": "shop"}
	logs.Spec.Selector.MatchLabels = map[string]string{"logs": "nothing"}

	harness.Eventually(t, "an effective policy", func() bool {
		return apierrors.IsForbidden(ofShop.Create(t.Context(), logs.DeepCopy(), client.DryRunAll))
	})
	err := ofShop.Create(t.Context(), logs.DeepCopy())
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	require.ErrorContains(t, err, "user of-shop may not create or change ClusterVectorSidecar logs")
	require.ErrorContains(t, err, "it changes deployments, and the user may not patch these in all namespaces")
	harness.Eventually(t, "an effective role", func() bool { return everywhere.Create(t.Context(), logs.DeepCopy(), client.DryRunAll) == nil })
	require.NoError(t, everywhere.Create(t.Context(), logs))

	wider := logs.DeepCopy()
	wider.Spec.NamespaceSelector.MatchLabels = nil
	require.True(t, apierrors.IsForbidden(ofShop.Patch(t.Context(), wider.DeepCopy(), client.MergeFrom(logs))))
	require.True(t, apierrors.IsForbidden(ofShop.Delete(t.Context(), logs.DeepCopy(), client.DryRunAll)))
	require.NoError(t, remover.Delete(t.Context(), logs.DeepCopy(), client.DryRunAll))
	// The operator adds its finalizer and writes the status with its own ServiceAccount.
	harness.Eventually(t, "a reconcile by the operator", func() bool {
		world.Get(t, logs)
		return len(logs.Finalizers) == 1 && logs.Status.ObservedGeneration == logs.Generation
	})
	bare := logs.DeepCopy()
	bare.Finalizers = nil
	err = ofShop.Patch(t.Context(), bare, client.MergeFrom(logs))
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	require.NoError(t, everywhere.Delete(t.Context(), logs))
	harness.Eventually(t, "the deletion", func() bool {
		return apierrors.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(logs), logs))
	})
}

// asOfCluster returns a client that acts as a user with some permissions in all namespaces.
func asOfCluster(t *testing.T, user string, rules ...rbacv1.PolicyRule) client.Client {
	t.Helper()
	named := metav1.ObjectMeta{Name: "test-cluster-" + user}
	world.Create(t, &rbacv1.ClusterRole{ObjectMeta: named, Rules: rules}, &rbacv1.ClusterRoleBinding{
		ObjectMeta: named, Subjects: []rbacv1.Subject{{Kind: "User", Name: user}},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: named.Name},
	})
	t.Cleanup(func() { kubectl(t, "delete", "clusterrole,clusterrolebinding", named.Name) })
	config := plane.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	c, err := client.New(config, client.Options{Scheme: cluster.Scheme()})
	require.NoError(t, err)
	return c
}

// requireRightsOn requires that a user who may patch only Deployments is denied to write a VectorSidecar that lists
// another kind, to remove that kind from it, and to delete it.
func requireRightsOn(t *testing.T, kind v1alpha1.WorkloadKind, resource string, ofDeployments client.Client) {
	t.Helper()
	named := "of-" + resource
	mayPatchIt := rbacv1.PolicyRule{APIGroups: []string{"apps", "batch", "argoproj.io"}, Resources: []string{resource}, Verbs: []string{"patch"}}
	mayDeleteIt := rbacv1.PolicyRule{APIGroups: []string{"apps", "batch", "argoproj.io"}, Resources: []string{resource}, Verbs: []string{"delete"}}
	ofBoth := newUserClient(t, named, "shop", mayWrite, mayPatch, mayPatchIt)
	remover := newUserClient(t, named+"-remover", "shop", mayWrite, mayDelete, mayDeleteIt)
	both := example.NewVectorSidecar(named, "shop").Selecting("logs", named).For("Deployment", kind).Build()

	err := ofDeployments.Create(t.Context(), both.DeepCopy())
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	require.ErrorContains(t, err, resource)
	// A new role takes effect after a moment.
	harness.Eventually(t, "an effective role", func() bool { return ofBoth.Create(t.Context(), both.DeepCopy(), client.DryRunAll) == nil })
	require.NoError(t, ofBoth.Create(t.Context(), both))

	without := both.DeepCopy()
	without.Spec.Workloads = []v1alpha1.WorkloadKind{"Deployment"}
	err = ofDeployments.Patch(t.Context(), without, client.MergeFrom(both))
	require.True(t, apierrors.IsForbidden(err), "its sidecars would be taken out: %v", err)
	err = ofDeployments.Delete(t.Context(), both.DeepCopy())
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	require.ErrorContains(t, err, "the user may neither patch nor delete ")
	require.NoError(t, remover.Delete(t.Context(), both.DeepCopy(), client.DryRunAll))
	require.NoError(t, ofBoth.Delete(t.Context(), both))
}

// Each way to remove a VectorSidecar rolls all of its Deployments, so the user needs a permission on Deployments.
func TestVectorSidecar_RequiresPermissionForRemoval(t *testing.T) {
	installed(t, chartDir)
	_, logs := injected(t)
	entitled := newUserClient(t, "entitled", "shop", mayWrite, mayPatch)
	remover := newUserClient(t, "remover", "shop", mayWrite, mayDelete)
	stranger := newUserClient(t, "stranger", "shop", mayWrite)
	tried := func() *v1alpha1.VectorSidecar { return logs.DeepCopy() }
	patched := func(change func(*v1alpha1.VectorSidecar)) (*v1alpha1.VectorSidecar, client.Patch) {
		changed := tried()
		change(changed)
		return changed, client.MergeFrom(logs)
	}
	harness.Eventually(t, "an effective policy", func() bool {
		return apierrors.IsForbidden(stranger.Delete(t.Context(), tried(), client.DryRunAll))
	})

	t.Run("by deleting it", func(t *testing.T) {
		err := stranger.Delete(t.Context(), tried())
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		require.ErrorContains(t, err, "user stranger may not delete VectorSidecar shop/logs")
		require.ErrorContains(t, err, "ask for a role with the verb patch or delete on deployments there")
		err = stranger.DeleteAllOf(t.Context(), tried(), client.InNamespace("shop"))
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		require.ErrorContains(t, err, "VectorSidecar shop/logs", "one of many is named, too")
		require.NoError(t, remover.Delete(t.Context(), tried(), client.DryRunAll))
		require.NoError(t, entitled.Delete(t.Context(), tried(), client.DryRunAll))
	})
	t.Run("by taking its finalizer", func(t *testing.T) {
		without := func(vs *v1alpha1.VectorSidecar) { vs.Finalizers = nil }
		after, patch := patched(without)
		err := stranger.Patch(t.Context(), after, patch)
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		require.ErrorContains(t, err, "may not take finalizer "+meta.Finalizer+" from VectorSidecar shop/logs")
		after, patch = patched(without)
		require.True(t, apierrors.IsForbidden(remover.Patch(t.Context(), after, patch)), "what is injected would stay for ever")
		after, patch = patched(without)
		require.NoError(t, entitled.Patch(t.Context(), after, patch, client.DryRunAll))
		after, patch = patched(func(vs *v1alpha1.VectorSidecar) { vs.Finalizers = append(vs.Finalizers, "example.com/own") })
		require.NoError(t, stranger.Patch(t.Context(), after, patch, client.DryRunAll), "another finalizer is not ours to guard")
	})
	t.Run("by an owner that is not there, whose garbage it would be", func(t *testing.T) {
		orphaned := func(vs *v1alpha1.VectorSidecar) {
			vs.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "gone"}}
		}
		after, patch := patched(orphaned)
		require.True(t, apierrors.IsForbidden(stranger.Patch(t.Context(), after, patch)))
		after, patch = patched(orphaned)
		require.NoError(t, entitled.Patch(t.Context(), after, patch, client.DryRunAll))
	})

	// The operator can remove its finalizer.
	require.NoError(t, remover.Delete(t.Context(), tried()))
	kubectl(t, "wait", "--for=delete", "vectorsidecars.observability.kontroloop.ai/logs", "-n", "shop", "--timeout=60s")
}

func TestChart_LimitsAdmissionPolicyToWatchedNamespaces(t *testing.T) {
	installed(t, chartDir, "--set", "watchNamespaces={shop}")
	inside, outside := newUserClient(t, "inside", "shop", mayWrite), newUserClient(t, "outside", "pay", mayWrite)
	harness.Eventually(t, "an effective policy", func() bool {
		return apierrors.IsForbidden(inside.Create(t.Context(), example.NewVectorSidecar("logs", "shop").Selecting("a", "b").Build(), client.DryRunAll))
	})
	harness.Eventually(t, "the deletion of the previous release's policy", func() bool {
		return outside.Create(t.Context(), example.NewVectorSidecar("logs", "pay").Selecting("a", "b").Build(), client.DryRunAll) == nil
	})
}

// The cluster roles view, edit and admin include the permissions on VectorSidecars.
func TestChart_AggregatesRolesForVectorSidecars(t *testing.T) {
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
			// A controller aggregates the roles.
			harness.Eventually(t, role+" to "+verb+": "+want, func() bool {
				answer, _, _ := tryKubectl(t, "auth", "can-i", verb, "vectorsidecars", "-n", "shop", "--as", "user-"+role)
				return answer == want+"\n"
			})
		}
	}
}
