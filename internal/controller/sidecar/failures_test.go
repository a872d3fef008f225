// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A template fails for one VectorSidecar. Its status and one event report the file and line. Other VectorSidecars
// of the same revision mention the failed VectorSidecar in their statuses.
func TestVectorSidecarReconciler_RecordsFailures(t *testing.T) {
	rules, _ := pacing("halt: {}").(*corev1.ConfigMap)
	rules.Data["development.yaml"] = "sidecar: {}"
	vs := func(name string) *objects.VectorSidecar {
		return objects.NewVectorSidecar(name, "shop").Selecting("logs", name).WithSoak(0)
	}
	withImage := vs("good").WithImage("timberio/vector:1").Build()
	deployment := func(name string) *objects.Deployment {
		return objects.NewDeployment(name, "shop").Labeled("logs", name)
	}
	bad, good := deployment("bad").Build(), deployment("good").Build()
	bad.ResourceVersion, good.ResourceVersion = "", ""
	api := newMemoryAPI(t, interceptor.Funcs{}, rules, vs("bad").Build(), withImage, bad, good)
	passes := func() {
		for range 3 {
			for _, name := range []string{"bad", "good"} {
				_, err := api.once(t, name)
				require.NoError(t, err)
			}
		}
	}
	status := func(name string) *v1alpha1.RolloutStatus {
		var found v1alpha1.VectorSidecar
		key := types.NamespacedName{Namespace: "shop", Name: name}
		require.NoError(t, api.Get(t.Context(), key, &found))
		return api.memory.GetOrCreate(key).Rollout(&found.Status) // The status write may be delayed.
	}
	passes()
	require.Empty(t, status("bad").Failures)

	rules = rules.DeepCopy()
	require.NoError(t, api.Get(t.Context(), values, rules))
	rules.Data["development.yaml"] = "sidecar: {image: ''}"
	require.NoError(t, api.Update(t.Context(), rules))
	passes()

	failures := status("bad").Failures
	require.Len(t, failures, 1)
	require.Equal(t, "VectorSidecar", failures[0].Kind)
	require.Equal(t, meta.ReasonInvalidTemplate, failures[0].Reason)
	require.Contains(t, failures[0].Message, "_container.tpl:")
	require.Empty(t, status("good").Failures)
	require.Contains(t, status("good").Message, "see VectorSidecar shop/bad")

	ctx, stop := context.WithCancel(t.Context())
	stop()
	require.NoError(t, api.statuses.events.Start(ctx)) // Start sends the queued events.
	count := 0
	for len(api.events.Events) > 0 {
		if note := <-api.events.Events; strings.Contains(note, meta.ReasonRolloutFailed+" "+failures[0].Text()[:60]) {
			count++
		}
	}
	require.Equal(t, 1, count)
}
