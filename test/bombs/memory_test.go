// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bombs

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/freeport"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// living returns the number of bytes in use in an operator's heap.
func living(t *testing.T, profiles string) int {
	t.Helper()
	heap(t, profiles)
	return heap(t, profiles) // What pools held is gone only now.
}

func heap(t *testing.T, profiles string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+profiles+"/debug/pprof/heap?gc=1&debug=1", nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	found := regexp.MustCompile(`# HeapAlloc = (\d+)`).FindSubmatch(text)
	require.NotNil(t, found)
	bytes, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	return bytes
}

// The test measures the memory of one VectorSidecar that docs/how-to/operate/operations.md states.
func TestVectorSidecar_UsesDocumentedMemory(t *testing.T) {
	if !*full {
		t.Skip("only in make bombs")
	}
	const count, countWithWorkload = 40, 500
	withValues := func(json string) func(*v1alpha1.VectorSidecar) {
		return func(vs *v1alpha1.VectorSidecar) { vs.Spec.Values = &apiextensionsv1.JSON{Raw: []byte(json)} }
	}
	for name, test := range map[string]struct {
		count       int
		hasWorkload bool
		change      func(*v1alpha1.VectorSidecar)
	}{
		"none":                     {},
		"a small one":              {count: count},
		"one with a Deployment":    {count: countWithWorkload, hasWorkload: true},
		"one of 100 KiB":           {count: count, change: withValues(`{"a":"` + times(100<<10, "x") + `"}`)},
		"one of 511 KiB":           {count: count, change: withValues(`{"a":"` + times(511<<10, "x") + `"}`)},
		"one of 1200 KiB, refused": {count: count, change: withValues(`{"a":"` + times(1200<<10, "x") + `"}`)},
		"one of many small parts":  {count: count, change: func(vs *v1alpha1.VectorSidecar) { vs.Spec.Volumes = projected(20_000) }},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := world.Namespace(t)
			for n := range test.count {
				name := fmt.Sprintf("vs-%d", n)
				vs := objects.NewVectorSidecar(name, namespace).Selecting(label, name).WithLogs("/var/log/app").WithMaxConcurrent("100%").Build()
				if test.change != nil {
					test.change(vs)
				}
				world.Create(t, vs)
				if test.hasWorkload {
					app := objects.NewDeployment(name, namespace).Labeled(label, name).WithEmptyDir("logs", "/var/log/app").Build()
					app.Spec.Replicas = new(int32)
					world.Create(t, app)
				}
			}
			profiles := freeport.ForTest(t)
			o := start(t, "--pprof-bind-address="+profiles)
			require.True(t, o.until(t.Context(), harness.Patience, o.isReady), "it does not start")
			harness.Eventually(t, "the check of all", func() bool { return isReported(t, namespace, test.hasWorkload) })
			require.True(t, o.rest(t, harness.Patience))
			require.True(t, o.lives())
			bytes := living(t, profiles)
			t.Logf("%d of %s: %d KiB live, %d KiB each", test.count, name, bytes>>10, bytes>>10/max(test.count, 1))
			o.Kill()
		})
	}
}

// projected returns a volume with count sources.
func projected(count int) []corev1.Volume {
	return []corev1.Volume{{Name: "many", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: make([]corev1.VolumeProjection, count)}}}}
}

// isReported reports whether all VectorSidecars of a namespace have a status, and have injected their sidecar if they have a
// workload.
func isReported(t *testing.T, namespace string, hasWorkload bool) bool {
	t.Helper()
	var found v1alpha1.VectorSidecarList
	require.NoError(t, world.Client.List(t.Context(), &found, client.InNamespace(namespace)))
	for i := range found.Items {
		if status := &found.Items[i].Status; status.ObservedGeneration == 0 || hasWorkload && status.InjectedWorkloads == 0 {
			return false
		}
	}
	return true
}
