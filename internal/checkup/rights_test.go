// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/declared"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// For each enabled workload kind, the list contains the permissions that the operator needs.
func TestWorkloadNeeds_ListsPermissionsForEnabledKinds(t *testing.T) {
	change := []string{"list", "watch", "patch"}
	require.Equal(t, []need{
		{"apps", "deployments", "", "", change},
		{"apps", "replicasets", "", "", []string{"list"}},
	}, workloadNeeds([]string{"Deployment"}))
	require.Equal(t, []need{
		{"apps", "statefulsets", "", "", change},
		{"apps", "daemonsets", "", "", change},
		{"batch", "jobs", "", "", []string{"list", "watch"}},
		{"apps", "controllerrevisions", "", "", []string{"list"}},
		{"batch", "jobs", "", "", []string{"list"}},
	}, workloadNeeds([]string{"StatefulSet", "DaemonSet", "Job", "KindOfALaterRelease"}))
}

// For each enabled feature, the list contains the permissions that it needs.
func TestOptionalNeeds_ListsPermissionsForEnabledFeatures(t *testing.T) {
	for name, test := range map[string]struct {
		of   source.Installation
		want []need
	}{
		"nothing": {source.Installation{}, nil},
		"admission injection": {source.Installation{Injects: true}, []need{
			{"observability.kontroloop.ai", "overlaysets", "", "", []string{"get", "watch", "create", "update"}},
			{"", "podtemplates", "", "", []string{"create"}},
		}},
		"Jobs that validate": {source.Installation{RunsJobs: true}, []need{
			{"batch", "jobs", "", "", []string{"list", "watch", "create", "delete"}},
			{"observability.kontroloop.ai", "vectorsidecars", "finalizers", "", []string{"update"}},
			{"", "pods", "", "", []string{"list"}},
		}},
		"pods": {source.Installation{ReadsPods: true, Kinds: []string{"Deployment"}}, []need{{"", "pods", "", "", []string{"list"}}}},
		"pods whose refusal events alone tell": {source.Installation{ReadsPods: true, Kinds: []string{"Deployment", "StatefulSet"}}, []need{
			{"", "pods", "", "", []string{"list"}},
			{"", "events", "", "", []string{"list"}},
		}},
		"dry runs": {source.Installation{Preflight: true}, []need{
			{"", "pods", "", "", []string{"create"}},
			{"", "secrets", "", "", []string{"create"}},
		}},
		"ServiceAccounts": {source.Installation{ReadsAccounts: true}, []need{{"", "serviceaccounts", "", "", []string{"get"}}}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, optionalNeeds(&test.of)) })
	}
}

// The required permissions include a get for each required object, restricted to its name.
func TestRequiredNeeds_ListsGetByName(t *testing.T) {
	of := source.Installation{Namespace: "vector-system", Required: []string{"Service/webhook", "MutatingAdmissionPolicyBinding/vso.deployments", "Gateway/later"}}
	require.Equal(t, []scopedNeed{
		{need{"", "services", "", "webhook", []string{"get"}}, "vector-system"},
		{need{"admissionregistration.k8s.io", "mutatingadmissionpolicybindings", "", "vso.deployments", []string{"get"}}, ""},
	}, requiredNeeds(&of))
}

// If the operator watches some namespaces only, the required permissions include those for the record of published
// revisions in the operator namespace.
func TestOperatorNamespaceNeeds_ListsConfigMapPermissions(t *testing.T) {
	of := source.Installation{Namespace: "vector-system", ValuesFrom: "values"}
	require.Empty(t, operatorNamespaceNeeds(&of), "the rights for all namespaces include them")
	of.Namespaces = []string{"shop"}
	require.Equal(t, []scopedNeed{
		{need{"", "configmaps", "", "", []string{"list", "watch", "create"}}, "vector-system"},
		{need{"", "configmaps", "", "values-published", []string{"update"}}, "vector-system"},
	}, operatorNamespaceNeeds(&of))
}

// If the values declare VectorSidecars, the required permissions include create and delete of ClusterVectorSidecars.
func TestClusterNeeds_IncludeWritesIfValuesDeclareObjects(t *testing.T) {
	require.Empty(t, clusterNeeds(&source.Installation{Values: map[string]string{declared.Key: "items: {}"}}))
	require.Equal(t, []string{"list", "watch", "patch"}, clusterNeeds(&source.Installation{EnablesClusters: true})[0].verbs)
	require.Equal(t, []string{"list", "watch", "patch", "create", "delete"},
		clusterNeeds(&source.Installation{EnablesClusters: true, Values: map[string]string{declared.Key: "items: {}"}})[0].verbs)
}
