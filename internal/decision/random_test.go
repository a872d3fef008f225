// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
	"kontroloop.ai/vector-sidecar-operator/test/random"
)

// mixed are workloads that differ in one or more things that templates see.
func mixed(source *rand.Rand) []*appsv1.Deployment {
	var all []*appsv1.Deployment
	for i := range 10 {
		deployment := objects.NewDeployment(fmt.Sprintf("app-%d", i), "shop").Labeled("logs", "vector").Build()
		pod := &deployment.Spec.Template.Spec
		for range source.IntN(3) {
			switch source.IntN(6) {
			case 0:
				deployment.Labels["team"] = []string{"shop", "web"}[source.IntN(2)]
			case 1:
				deployment.Labels["other"] = "x"
			case 2:
				deployment.Annotations = map[string]string{"team": "shop"}
			case 3:
				pod.Containers[0].Name = "app"
			case 4:
				pod.Containers = append(pod.Containers, corev1.Container{Name: "second", Image: "second"})
			case 5:
				pod.Containers[0].Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 80}}
			}
		}
		all = append(all, deployment)
	}
	return all
}

// For random templates, a cached rendering equals a new one for each workload that uses it.
func TestDecide_CachesRenderingsOfRandomTemplates(t *testing.T) {
	rendered, asked, valid := 0, 0, 0
	for seed := range uint64(12) {
		source := rand.New(rand.NewPCG(2, seed))
		g := random.New(source)
		set := map[string]string{
			"_random.tpl": g.Helpers() + `{{ define "random" }}` + g.Template() + `{{ end }}`,
			"random.yaml": `{{ $text := include "random" . }}{{ dict "apiVersion" "v1" "kind" "ConfigMap" "immutable" true
  "metadata" (dict "name" (printf "random-%s" (sha256sum $text | trunc 12)) "namespace" .Release.Namespace) "data" (dict "text" $text) | toJson }}`,
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Log(set["_random.tpl"])
			s := snapshot(t, logs().FromSet("random").Build(), mixed(source)...)
			s.Platform = given(t, nil, map[string]map[string]string{"random": set})
			memory := newMemory()
			for range 2 { // With an empty cache, and after some other workloads.
				fresh := decide(t, s)
				require.Len(t, fresh.Plans, len(s.Workloads))
				counted := *s
				counted.Observer = func(_ context.Context, step desired.Step) func(error) {
					if step == desired.Render {
						rendered++
					}
					return func(error) {}
				}
				remembered := memory.decide(t, &counted)
				require.Equal(t, fresh, remembered)
				if fresh.Invalid == nil {
					valid++
				}
				asked += len(s.Workloads)
				s.Workloads = append(s.Workloads[:5:5], snapshot(t, s.Sidecar, mixed(source)...).Workloads[5:]...)
			}
		})
	}
	t.Logf("%d renderings for %d workloads, %d decisions without an error", rendered, asked, valid)
	require.Less(t, rendered, asked/2, "else little is shared")
	require.Greater(t, valid, 8, "else little is compared")
}
