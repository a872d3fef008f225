// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// threeWay computes the diff that Argo CD shows for a live workload: the live object, and the result of a three-way
// merge of the last applied manifest, the manifest and the live object, with the same library.
func threeWay(t *testing.T, manifest string, live *appsv1.Deployment) (is, wouldBe string) {
	t.Helper()
	live = live.DeepCopy()
	live.APIVersion, live.Kind, live.ManagedFields = "apps/v1", "Deployment", nil
	before, err := json.Marshal(live)
	require.NoError(t, err)
	meta, err := strategicpatch.NewPatchMetaFromStruct(&appsv1.Deployment{})
	require.NoError(t, err)
	patch, err := strategicpatch.CreateThreeWayMergePatch([]byte(live.Annotations[corev1.LastAppliedConfigAnnotation]), []byte(manifest), before, meta, true)
	require.NoError(t, err)
	after, err := strategicpatch.StrategicMergePatch(before, patch, &appsv1.Deployment{})
	require.NoError(t, err)
	var merged appsv1.Deployment
	require.NoError(t, json.Unmarshal(after, &merged))
	after, err = json.Marshal(&merged)
	require.NoError(t, err)
	return string(before), string(after)
}

// synced are the workloads and sidecars in which deployers must not see a difference.
var synced = map[string]struct {
	initContainers string
	change         func(*v1alpha1.SidecarSpec)
}{
	"a native sidecar":                   {"", func(*v1alpha1.SidecarSpec) {}},
	"before the owner's init containers": {`, initContainers: [{name: migrate, image: "registry.example/migrate:1"}]`, func(*v1alpha1.SidecarSpec) {}},
	"a container":                        {"", func(s *v1alpha1.SidecarSpec) { s.Native = "Never" }},
	"a container beside init containers": {`, initContainers: [{name: migrate, image: "registry.example/migrate:1"}]`, func(s *v1alpha1.SidecarSpec) { s.Native = "Never" }},
	"a mount in the application":         {"", sharesLogs("app")},
	"a mount and no native sidecar":      {"", func(s *v1alpha1.SidecarSpec) { sharesLogs("*")(s); s.Native = "Never" }},
}

// syncedManifest returns the manifest of a Deployment.
func syncedManifest(initContainers string) string {
	return `{apiVersion: apps/v1, kind: Deployment, metadata: {name: cart, labels: {logs: vector}},
		spec: {selector: {matchLabels: {app: cart}}, template: {metadata: {labels: {app: cart}}, spec: {containers: [` + app + `]` + initContainers + `}}}}`
}

// With the default settings, Argo CD reports a workload with the sidecar as Synced.
func TestVectorSidecar_KeepsWorkloadsInSyncForArgoCD(t *testing.T) {
	t.Parallel()
	for name, test := range synced {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			run(t, namespace, "kubectl", "apply", "-f", file(t, syncedManifest(test.initContainers)))
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Sidecar(test.change).Build()
			world.Create(t, vs)
			deployment := cart(namespace)
			harness.Until(t, world, vs, "readiness", isUpToDate)
			world.Get(t, deployment)
			require.True(t, isInjected(deployment))

			manifest := deployment.Annotations[corev1.LastAppliedConfigAnnotation]
			is, wouldBe := threeWay(t, manifest, deployment)
			require.JSONEq(t, is, wouldBe)

			is, wouldBe = threeWay(t, strings.Replace(manifest, "app:1", "app:2", 1), deployment)
			require.NotEqual(t, is, wouldBe, "a change of the owner's is seen")
		})
	}
}
