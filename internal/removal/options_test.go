// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

func TestOptionsAreItsOwnAndTheRestIsTheOperators(t *testing.T) {
	options, ofOperator, err := ParseOptions([]string{"--policy=orphan", "--timeout=90s", "--job=vso-uninstall", "--clients=lifecycle,installer", "--", "--namespace=vector-system", "--leader-elect"})

	require.NoError(t, err)
	require.Equal(t, Options{Policy: Orphan, Timeout: 90 * time.Second, Job: "vso-uninstall", Clients: []string{"lifecycle", "installer"}}, options)
	require.Equal(t, []string{"--namespace=vector-system", "--leader-elect"}, ofOperator)
}

func TestOptionsThatCannotWorkAreNamed(t *testing.T) {
	for name, test := range map[string]struct {
		arguments []string
		names     string
	}{
		"a policy that there is not": {[]string{"--policy=purge"}, "it must be eject, orphan or block"},
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

func TestHelpIsNoFailure(t *testing.T) {
	_, _, err := ParseOptions([]string{"--help"})
	require.ErrorIs(t, err, flag.ErrHelp)
}

func TestWhatBlocksIsNamed(t *testing.T) {
	left := sidecars(21)
	err := (&BlockedError{left}).Error()
	require.Contains(t, err, "21 VectorSidecars: shop/logs, ")
	require.Contains(t, err, ", and 1 more; delete them first")

	left[0].(*v1alpha1.VectorSidecar).Status.Conditions = []metav1.Condition{{Type: "Ready", Reason: "Conflict", Message: "helm owns it"}}
	require.Equal(t, "1 VectorSidecars: shop/logs (Conflict: helm owns it)", describe(left[:1], message))
}

// sidecars returns VectorSidecars with the same name.
func sidecars(number int) []client.Object {
	all := make([]client.Object, number)
	for i := range all {
		all[i] = &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "logs"}}
	}
	return all
}
