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
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// living is how many bytes are in use in an operator's heap.
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

// What docs/operations.md says of the memory of one VectorSidecar is from here.
func TestVectorSidecar_UsesDocumentedMemory(t *testing.T) {
	if !*full {
		t.Skip("only in make bombs")
	}
	const count = 40
	of := func(json string) func(*v1alpha1.VectorSidecar) {
		return func(vs *v1alpha1.VectorSidecar) { vs.Spec.Values = &apiextensionsv1.JSON{Raw: []byte(json)} }
	}
	for name, change := range map[string]func(*v1alpha1.VectorSidecar){
		"none":                     nil,
		"a small one":              func(*v1alpha1.VectorSidecar) {},
		"one of 100 KiB":           of(`{"a":"` + times(100<<10, "x") + `"}`),
		"one of 511 KiB":           of(`{"a":"` + times(511<<10, "x") + `"}`),
		"one of 1200 KiB, refused": of(`{"a":"` + times(1200<<10, "x") + `"}`),
		"one of many small parts":  func(vs *v1alpha1.VectorSidecar) { vs.Spec.Volumes = projected(20_000) },
	} {
		t.Run(name, func(t *testing.T) {
			namespace := world.Namespace(t)
			for n := range count {
				if change == nil {
					break
				}
				vs := objects.NewVectorSidecar(fmt.Sprintf("vs-%d", n), namespace).Selecting(label, "nothing").Build()
				change(vs)
				world.Create(t, vs)
			}
			profiles, err := harness.FreeAddress()
			require.NoError(t, err)
			o := start(t, "--pprof-bind-address="+profiles)
			require.True(t, o.until(t.Context(), harness.Patience, o.isReady), "it does not start")
			harness.Eventually(t, "all to be judged", func() bool { return allTold(t, namespace) })
			require.True(t, o.rest(t, harness.Patience))
			require.True(t, o.lives())
			bytes := living(t, profiles)
			t.Logf("%d of %s: %d KiB live, %d KiB each", count, name, bytes>>10, bytes>>10/count)
			o.Kill()
		})
	}
}

// projected is a volume of so many sources.
func projected(count int) []corev1.Volume {
	return []corev1.Volume{{Name: "many", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: make([]corev1.VolumeProjection, count)}}}}
}

// allTold tells whether all VectorSidecars of a namespace have a status.
func allTold(t *testing.T, namespace string) bool {
	t.Helper()
	var found v1alpha1.VectorSidecarList
	require.NoError(t, world.Client.List(t.Context(), &found, client.InNamespace(namespace)))
	for i := range found.Items {
		if found.Items[i].Status.ObservedGeneration == 0 {
			return false
		}
	}
	return true
}
