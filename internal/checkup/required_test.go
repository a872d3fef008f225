// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

func TestDiagnosis_ReportsMissingRequiredObjects(t *testing.T) {
	const policy, binding = "ValidatingAdmissionPolicy/vector-system.vso.vectorsidecars", "ValidatingAdmissionPolicyBinding/vector-system.vso.vectorsidecars"
	name := metav1.ObjectMeta{Name: "vector-system.vso.vectorsidecars"}
	guard := []client.Object{&registrationv1.ValidatingAdmissionPolicy{ObjectMeta: name}, &registrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: name}}
	values := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "vector-system", Name: "environments"}}
	unserved := &apimeta.NoKindMatchError{}
	for name, test := range map[string]struct {
		objects  []client.Object
		required []string
		err      error
		state    State
		message  string
	}{
		"all":                        {append(guard, values), []string{"ConfigMap/environments", policy, binding}, nil, OK, "ConfigMap environments, ValidatingAdmissionPolicy vector-system.vso.vectorsidecars, "},
		"no binding":                 {guard[:1], []string{policy, binding}, nil, Failed, "missing: ValidatingAdmissionPolicyBinding vector-system.vso.vectorsidecars"},
		"no values":                  {guard, []string{"ConfigMap/environments", policy}, nil, Failed, "missing: ConfigMap environments"},
		"policies are not served":    {guard, []string{policy}, unserved, Warning, "not served by the API server: ValidatingAdmissionPolicy"},
		"a denied request":           {guard, []string{policy}, errors.New("denied"), Unknown, "denied"},
		"checked elsewhere":          {nil, []string{"Service/vso-webhook", "ValidatingAdmissionPolicy/vector-system.vso.preflight", "MutatingAdmissionPolicy/vector-system.vso.deployments"}, nil, "", ""},
		"a kind of a later release":  {nil, []string{"Gateway/vso"}, nil, "", ""},
		"a release without the flag": {nil, nil, nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := interceptor.NewClient(clusterOf(t, test.objects...).(client.WithWatch), interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
					if strings.HasPrefix(object.GetObjectKind().GroupVersionKind().Kind, "Validating") && test.err != nil {
						return test.err
					}
					return c.Get(ctx, key, object, options...)
				},
			})
			results := (&Diagnosis{Cluster: cluster}).checkRequiredObjects(t.Context(), &source.Installation{Namespace: "vector-system", Required: test.required})
			if test.state == "" {
				require.Empty(t, results)
				return
			}
			require.Len(t, results, 1)
			require.Equal(t, test.state, results[0].State)
			require.Contains(t, results[0].Message, test.message)
		})
	}
}
