// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// The manifests were rendered for another Kubernetes version, so they lack admission policies that the operator
// requires. The check reports these.
func TestDiagnosis_ReportsMissingPolicies(t *testing.T) {
	named := func(resource string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: "vector-system.vso." + resource}
	}
	guards := []client.Object{
		&registrationv1.ValidatingAdmissionPolicy{ObjectMeta: named("overlaysets")}, &registrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: named("overlaysets")},
	}
	deployments := []client.Object{
		&registrationv1.MutatingAdmissionPolicy{ObjectMeta: named("deployments")}, &registrationv1.MutatingAdmissionPolicyBinding{ObjectMeta: named("deployments")},
	}
	statefulSets := []client.Object{
		&registrationv1.MutatingAdmissionPolicy{ObjectMeta: named("statefulsets")}, &registrationv1.MutatingAdmissionPolicyBinding{ObjectMeta: named("statefulsets")},
	}
	all := append(append(append([]client.Object{}, guards...), deployments...), statefulSets...)
	for name, test := range map[string]struct {
		objects []client.Object
		lacks   string
		state   State
		says    string
	}{
		"all":                         {all, "", OK, "one policy for each of Deployment, StatefulSet"},
		"no policy of a kind":         {all[:4], "", Warning, "MutatingAdmissionPolicy vector-system.vso.statefulsets is missing"},
		"no binding of a kind":        {all[:5], "", Warning, ": MutatingAdmissionPolicyBinding vector-system.vso.statefulsets is missing"},
		"no guard":                    {all[2:], "", Failed, "users who may write OverlaySets can change containers"},
		"no definition":               {all, "OverlaySetList", Failed, "the CustomResourceDefinition of OverlaySets is not installed"},
		"an API server without them":  {all, "MutatingAdmissionPolicy", Warning, "vector-system.vso.deployments (not served by the API server)"},
		"an API server without guard": {all, "ValidatingAdmissionPolicy", Failed, "vector-system.vso.overlaysets (not served by the API server)"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := clusterOf(t, test.objects...).(client.WithWatch)
			unserved := &apimeta.NoKindMatchError{}
			served := interceptor.NewClient(cluster, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
					_, isMutating := object.(*registrationv1.MutatingAdmissionPolicy)
					_, isValidating := object.(*registrationv1.ValidatingAdmissionPolicy)
					if isMutating && test.lacks == "MutatingAdmissionPolicy" || isValidating && test.lacks == "ValidatingAdmissionPolicy" {
						return unserved
					}
					return c.Get(ctx, key, object, options...)
				},
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					if kind := list.GetObjectKind().GroupVersionKind().Kind; kind != "" && kind == test.lacks {
						return unserved
					}
					return c.List(ctx, list, options...)
				},
			})
			d := Diagnosis{Cluster: served}
			installation := &source.Installation{Namespace: "vector-system", Name: "vso", Kinds: []string{"Deployment", "StatefulSet", "Job"}, Injects: true}
			if test.state == OK {
				installation.Kinds = installation.Kinds[:2]
			}
			results := d.checkPolicies(t.Context(), installation)
			require.Len(t, results, 1)
			require.Equal(t, test.state, results[0].State, results[0].Message)
			require.Contains(t, results[0].Message, test.says)
		})
	}
	require.Empty(t, (&Diagnosis{Cluster: clusterOf(t)}).checkPolicies(t.Context(), &source.Installation{}))
}
