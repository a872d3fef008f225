// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

var figures = flag.Bool("figures", false, "measure what overlays take of memory, and have 500 workloads wait for their owners, for some minutes")

// The test compares the operator's memory for 200 VectorSidecars with and without admission injection. It runs only
// with -figures, and is not parallel, because it restarts the operator.
func TestOverlaySet_ReportsMemoryOfOperator(t *testing.T) {
	if !*figures {
		t.Skip("it shows figures alone: -figures")
	}
	program, err := harness.BuildOperator(t.Context(), t.TempDir())
	require.NoError(t, err)
	account, err := plane.KubeconfigFor(t.Context(), harness.AccountNamespace, harness.Account)
	require.NoError(t, err)
	const namespaces, each = 20, 10
	var spaces []string
	for range namespaces {
		spaces = append(spaces, world.Namespace(t))
	}
	require.NoError(t, running.Stop())
	t.Cleanup(func() { running = world.RunOperator(options) })
	start := func(injects bool) *harness.Process {
		return harness.StartProcess(t, program, account, harness.Settings{Arguments: []string{
			"--namespace=" + options.Namespace, "--environments-configmap=" + options.EnvironmentsConfigMap, "--environment=development",
			"--workload-kinds=" + strings.Join(kinds, ","), "--validation-jobs", "--read-pods", fmt.Sprintf("--admission-injection=%t", injects),
		}})
	}
	before := start(true)
	for _, namespace := range spaces {
		fill(t, namespace, each, injectOneVariable)
	}
	before.Kill()
	rests, peaks := map[bool]int64{}, map[bool]int64{}
	for _, injects := range []bool{true, false} { // One that does not deletes the OverlaySets.
		p := start(injects)
		for _, namespace := range spaces {
			answered(t, namespace, fmt.Sprintf("with-%t", injects))
		}
		if injects {
			require.Empty(t, p.Said(t, "wrote overlay set"), "they are as they should be")
		}
		rests[injects], err = harness.Memory(p.Pid(), "VmRSS")
		require.NoError(t, err)
		peaks[injects], err = harness.Memory(p.Pid(), "VmHWM")
		require.NoError(t, err)
		p.Kill()
	}
	const mebibyte = 1 << 20
	t.Logf("%d VectorSidecars: %d MiB without, %d at most; %d MiB with an overlay each, %d at most",
		namespaces*each, rests[false]/mebibyte, peaks[false]/mebibyte, rests[true]/mebibyte, peaks[true]/mebibyte)
	require.Less(t, rests[true]-rests[false], int64(192*mebibyte))
}

// answered requests a reconcile of each VectorSidecar of a namespace and waits for all of them.
func answered(t *testing.T, namespace, asking string) {
	t.Helper()
	var all v1alpha1.VectorSidecarList
	require.NoError(t, world.Client.List(t.Context(), &all, client.InNamespace(namespace)))
	for i := range all.Items {
		harness.Change(t, world, &all.Items[i], func(vs *v1alpha1.VectorSidecar) {
			metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationReconcileAt, asking)
		})
	}
	for i := range all.Items {
		harness.Until(t, world, &all.Items[i], "a handled request", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.LastHandledReconcileAt == asking })
	}
}
