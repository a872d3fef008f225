// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

const webhook = "admissionWebhook.enabled=true"

func TestProduct_InstallsAndUninstalls(t *testing.T) {
	space := restricted(t)
	app := writer("app", space).Build()
	world.Create(t, app)
	before := running(t, app, false)
	t.Run("while it is installed", func(t *testing.T) {
		installed(t, webhook)
		began := time.Now()
		run(t, "helm", "test", release, "--namespace="+namespace)
		took(t, "helm test", began)

		began = time.Now()
		world.Create(t, collecting(space).Build())
		pod := running(t, app, true)
		took(t, "from the VectorSidecar to a pod that runs with its sidecar", began)
		require.NotEqual(t, before.Name, pod.Name)

		refused := example.NewVectorSidecar("refused", space).Selecting("logs", "none").WithInlineConfig("sources: [").Build()
		require.ErrorContains(t, cluster.Create(t.Context(), refused), "admission webhook", "the operator itself judges what is created")
	})
	// Uninstalling has removed the sidecar.
	running(t, app, false)
	var now appsv1.Deployment
	require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(app), &now))
	require.Empty(t, now.Spec.Template.Spec.InitContainers)
	require.Empty(t, now.Annotations["vectorsidecar.observability.kontroloop.ai/injected"])
}

// Upgrades enable, disable and enable the webhook. The operator creates its certificate, and helm waits for the pods.
// Neither blocks the other.
func TestWebhook_CanBeEnabledAgain(t *testing.T) {
	space := restricted(t)
	installed(t)
	app := writer("app", space).Build()
	world.Create(t, app, collecting(space).Build())
	pod := running(t, app, true)
	broken := example.NewVectorSidecar("broken", space).Selecting("logs", "none").WithInlineConfig("sources: [").Build()
	for range 2 {
		began := time.Now()
		run(t, "helm", append([]string{"upgrade"}, chart(webhook)...)...)
		took(t, "helm upgrade --wait to the webhook", began)
		eventually(t, "the API server to ask the operator", func() bool {
			return cluster.Create(t.Context(), broken.DeepCopy(), client.DryRunAll) != nil
		})
		took(t, "until the webhook answered", began)

		began = time.Now()
		run(t, "helm", append([]string{"upgrade"}, chart("admissionWebhook.enabled=false")...)...)
		took(t, "helm upgrade --wait to no webhook", began)
		eventually(t, "the API server to ask nobody", func() bool {
			return cluster.Create(t.Context(), broken.DeepCopy(), client.DryRunAll) == nil
		})
	}
	require.Equal(t, pod.Name, running(t, app, true).Name, "an upgrade of the operator alone rolls nothing")
}
