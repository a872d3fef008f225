// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/internal/declared"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
)

// If the values declare VectorSidecars, the operator creates deleted ones again. So a failed read of the values ends
// the Job. Only a missing permission does not, because the chart grants it if the values declare some.
func TestReadDeclaringValues_FailsUnlessForbidden(t *testing.T) {
	values := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "vector-system", Name: "values"}, Data: map[string]string{declared.Key: "items: {}"}}
	for name, test := range map[string]struct {
		err       error
		isFound   bool
		wantError string
	}{
		"declared":      {isFound: true},
		"no permission": {err: apierrors.NewForbidden(corev1.Resource("configmaps"), "values", errors.New("no"))},
		"no answer":     {err: errors.New("the connection was refused"), wantError: "the connection was refused"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := fake.NewClientBuilder().WithObjects(values).WithInterceptorFuncs(interceptor.Funcs{
				List: func(ctx context.Context, to client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					if test.err != nil {
						return test.err
					}
					return to.List(ctx, list, options...)
				},
			}).WithIndex(&corev1.ConfigMap{}, "metadata.name", func(object client.Object) []string { return []string{object.GetName()} }).Build()

			found, err := readDeclaringValues(t.Context(), livelist.New(cluster), &Operator{Namespace: "vector-system", ValuesConfigMap: "values"})

			require.Equal(t, test.isFound, found != nil)
			if test.wantError == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.wantError)
			}
		})
	}
}
