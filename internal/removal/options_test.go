// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
)

// Arguments before -- are those of the uninstall Job, and arguments after it are those of the operator.
func TestParseOptions_SeparatesOperatorOptions(t *testing.T) {
	options, ofOperator, err := ParseOptions([]string{"--policy=orphan", "--timeout=90s", "--job=vso-uninstall", "--clients=lifecycle,installer", "--", "--namespace=vector-system", "--leader-elect"})

	require.NoError(t, err)
	require.Equal(t, Options{Policy: Orphan, Timeout: 90 * time.Second, Job: "vso-uninstall", Clients: []string{"lifecycle", "installer"}}, options)
	require.Equal(t, []string{"--namespace=vector-system", "--leader-elect"}, ofOperator)
}

func TestParseOptions_RejectsInvalidOptions(t *testing.T) {
	for name, test := range map[string]struct {
		arguments []string
		names     string
	}{
		"a policy that there is not": {[]string{"--policy=purge"}, "must be eject, orphan or block"},
		"no time":                    {[]string{"--job=j", "--timeout=0s"}, "--timeout is 0s"},
		"no Job":                     {nil, "--job is empty"},
		"one on the wrong side":      {[]string{"--concurrency=2"}, "concurrency"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := ParseOptions(test.arguments)
			require.ErrorContains(t, err, test.names)
		})
	}
}

func TestParseOptions_ReturnsErrHelp(t *testing.T) {
	_, _, err := ParseOptions([]string{"--help"})
	require.ErrorIs(t, err, flag.ErrHelp)
}

// The error of a blocked uninstallation names the first VectorSidecars, and the number of the others.
func TestBlockedError_NamesVectorSidecars(t *testing.T) {
	left := sidecars(21)
	err := (&BlockedError{left}).Error()
	require.Contains(t, err, "21 VectorSidecars: shop/logs, ")
	require.Contains(t, err, ", and 1 more; delete them first")
}

// The time limit of the Job has ended. The states of the remaining VectorSidecars are still read for the error.
func TestDescribeStates_ReadsAfterTimeout(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	conditions := []metav1.Condition{{Type: "Ready", Reason: "Conflict", Message: "helm owns it"}}
	cluster := fake.NewClientBuilder().WithScheme(scheme).
		WithIndex(&v1alpha1.VectorSidecar{}, metav1.ObjectNameField, func(object client.Object) []string { return []string{object.GetName()} }).
		WithIndex(&v1alpha1.ClusterVectorSidecar{}, metav1.ObjectNameField, func(object client.Object) []string { return []string{object.GetName()} }).
		WithObjects(
			&v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "logs"}, Status: v1alpha1.VectorSidecarStatus{Conditions: conditions}},
			&v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "new"}},
			&v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "wide"}, Status: v1alpha1.ClusterVectorSidecarStatus{Conditions: conditions}},
		).Build()
	live := livelist.New(cluster)
	left, err := listSidecars(t.Context(), live, metav1.NamespaceAll, true)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, "3 VectorSidecars: shop/logs (Conflict: helm owns it), shop/new, clustervectorsidecar/wide (Conflict: helm owns it)", describeStates(ctx, live, left))
}

// sidecars returns VectorSidecars with the same name.
func sidecars(number int) []metav1.PartialObjectMetadata {
	all := make([]metav1.PartialObjectMetadata, number)
	for i := range all {
		all[i].Namespace, all[i].Name = "shop", "logs"
	}
	return all
}
