// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
)

// may lists the allowed verbs by resource.group/subresource.
type may map[string][]string

// everywhere lists the operator's permissions in every namespace.
var everywhere = may{
	"deployments.apps": {"get", "list", "watch", "patch"},
	"replicasets.apps": {"list"},
	"configmaps":       {"get", "list", "watch", "create", "update", "delete"},
	"pods":             {"list"}, // The values of this environment set rbac.optional.pods.
	"namespaces":       {"list", "watch"},
	"clustervectorsidecars.observability.kontroloop.ai":        {"list", "watch", "patch"},
	"clustervectorsidecars.observability.kontroloop.ai/status": {"patch"},
	"vectorsidecars.observability.kontroloop.ai":               {"list", "watch", "patch"},
	"vectorsidecars.observability.kontroloop.ai/status":        {"patch"},
	"overlaysets.observability.kontroloop.ai":                  {"list", "delete"},
	"events.events.k8s.io":                                     {"create", "patch"},
	"tokenreviews.authentication.k8s.io":                       {"create"},
	"subjectaccessreviews.authorization.k8s.io":                {"create"},
}

// athome lists its additional permissions in the operator namespace.
var athome = may{
	"leases.coordination.k8s.io": {"get", "create", "update"},
	"events":                     {"create", "patch"},
}

var verbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}

// operatorMay compares the operator's permissions for every verb of every resource with the lists.
func operatorMay(t *testing.T) {
	kube, err := kubernetes.NewForConfig(plane.Config())
	require.NoError(t, err)
	resources := allResources(t, kube)
	// The operator changes a workload only by its pod template.
	for _, sensitive := range []string{"secrets", "pods", "pods/exec", "deployments.apps/scale", "roles.rbac.authorization.k8s.io"} {
		require.Contains(t, resources, sensitive)
	}

	here := may{}
	for resource, allowed := range everywhere {
		here[resource] = allowed
	}
	for resource, allowed := range athome {
		here[resource] = allowed
	}
	require.Equal(t, everywhere, rights(t, kube, resources, "shop", ""), "in a namespace of applications")
	require.Equal(t, here, rights(t, kube, resources, namespace, fullname), "in the operator's namespace")

	others := rights(t, kube, []string{"leases.coordination.k8s.io"}, namespace, "kube-scheduler")
	require.Equal(t, may{"leases.coordination.k8s.io": {"create"}}, others, "with another's Lease")
}

// allResources returns the resources of the API server, each group once, and the one that it does not list because
// its objects are not stored.
func allResources(t *testing.T, kube kubernetes.Interface) []string {
	t.Helper()
	_, lists, err := kube.Discovery().ServerGroupsAndResources()
	require.NoError(t, err)
	names := []string{"vectorsidecars.observability.kontroloop.ai/finalizers"}
	for _, list := range lists {
		group, _, grouped := strings.Cut(list.GroupVersion, "/")
		for i := range list.APIResources {
			resource, subresource, _ := strings.Cut(list.APIResources[i].Name, "/")
			if grouped {
				resource += "." + group
			}
			if subresource != "" {
				resource += "/" + subresource
			}
			names = append(names, resource)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// rights returns the permissions of the chart's ServiceAccount, without those of its groups, which every account of
// a cluster has.
func rights(t *testing.T, kube kubernetes.Interface, resources []string, namespace, name string) may {
	t.Helper()
	allowed := may{}
	for _, full := range resources {
		resource, subresource, _ := strings.Cut(full, "/")
		resource, group, _ := strings.Cut(resource, ".")
		for _, verb := range verbs {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User: "system:serviceaccount:vector-system:" + fullname,
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Namespace: namespace, Name: name, Verb: verb,
					Group: group, Resource: resource, Subresource: subresource,
				},
			}}
			review, err := kube.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
			require.NoError(t, err)
			if review.Status.Allowed {
				allowed[full] = append(allowed[full], verb)
			}
		}
	}
	return allowed
}

// The role bindings have the name of the Deployment, because the plugin finds the operator's Deployment by them.
func TestChart_NamesBindingsAfterDeployment(t *testing.T) {
	for kind, args := range map[string][]string{
		"ClusterRoleBinding": nil,
		"RoleBinding":        {"--set", "watchNamespaces={shop}", "--set", "fullnameOverride=other"},
	} {
		all := objects(t, helm(t, append([]string{"template", release, chartDir, "-n", namespace, "--skip-tests"}, args...)...))
		operator := ofKind[appsv1.Deployment](t, all, "Deployment")
		require.True(t, slices.ContainsFunc(all, func(object *unstructured.Unstructured) bool {
			return object.GetKind() == kind && object.GetName() == namespace+":"+operator.Name && (kind == "ClusterRoleBinding" || object.GetNamespace() == "shop")
		}), kind)
	}
}
