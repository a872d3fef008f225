// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// The design relies on undocumented behavior of the API server. These tests check it without the operator, in
// namespaces that have no VectorSidecar.

// Managers and pieces of a pod spec, in YAML.
const (
	owner = "owner"
	ours  = "vectorsidecar/logs"

	app    = `{name: app, image: "registry.example/app:1"}`
	vector = `{name: vector, image: "registry.example/vector:1"}`
)

// whole returns a Deployment with a pod spec as its application owner applies it, with 0 replicas.
func whole(pod string) string {
	return `spec: {replicas: 0, selector: {matchLabels: {app: cart}}, template: {metadata: {labels: {app: cart}}, spec: ` + pod + `}}`
}

// part returns the manifest with which another field manager merges a pod spec into the Deployment.
func part(pod string) string { return `spec: {template: {spec: ` + pod + `}}` }

// nothing is an apply that contains only the object's name.
const nothing = `{}`

// applyAs applies to Deployment cart with server-side apply, and returns the API server's response.
func applyAs(t *testing.T, manager, namespace, body string, options ...client.PatchOption) (*appsv1.Deployment, error) {
	t.Helper()
	return patch(t, types.ApplyPatchType, namespace, body, append(options, client.FieldOwner(manager))...)
}

func patch(t *testing.T, kind types.PatchType, namespace, body string, options ...client.PatchOption) (*appsv1.Deployment, error) {
	t.Helper()
	tree := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(body), &tree))
	tree["apiVersion"], tree["kind"] = "apps/v1", "Deployment"
	if _, given := tree["metadata"]; !given {
		tree["metadata"] = map[string]any{"name": "cart", "namespace": namespace}
	}
	text, err := json.Marshal(tree)
	require.NoError(t, err)
	deployment := cart(namespace)
	return deployment, world.Client.Patch(t.Context(), deployment, client.RawPatch(kind, text), options...)
}

func cart(namespace string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "cart", Namespace: namespace}}
}

// mustApply is applyAs, and fails the test if the API server rejects the apply.
func mustApply(t *testing.T, manager, namespace, body string) *appsv1.Deployment {
	t.Helper()
	deployment, err := applyAs(t, manager, namespace, body)
	require.NoError(t, err)
	return deployment
}

// startWith creates a namespace with Deployment cart, applied by its application owner.
func startWith(t *testing.T, pod string) string {
	t.Helper()
	namespace := world.Namespace(t)
	mustApply(t, owner, namespace, whole(pod))
	return namespace
}

func containers(d *appsv1.Deployment) []string {
	var names []string
	for i := range d.Spec.Template.Spec.Containers {
		names = append(names, d.Spec.Template.Spec.Containers[i].Name)
	}
	return names
}

// Fact about the API server: applying the same body again changes neither the generation nor the resource version.
func TestApply_IsIdempotent(t *testing.T) {
	t.Parallel()
	namespace := startWith(t, `{containers: [`+app+`]}`)
	body := part(`{containers: [` + vector + `], volumes: [{name: data, emptyDir: {}}]}`)
	first := mustApply(t, ours, namespace, body)

	deployment := cart(namespace)
	harness.Eventually(t, "an apply that moves nothing, once the rollout writes no status any more", func() bool {
		world.Get(t, deployment)
		return mustApply(t, ours, namespace, body).ResourceVersion == deployment.ResourceVersion
	})
	require.Equal(t, first.Generation, deployment.Generation)
}

// Fact about the API server: a field that the next apply of the same manager does not list is removed.
func TestApply_RemovesFieldsNoLongerListed(t *testing.T) {
	t.Parallel()
	const everything = `{metadata: {name: cart, annotations: {injected: "true"}}, spec: {template: {spec: {containers: [` + vector + `], volumes: [{name: data, emptyDir: {}}]}}}}`
	for name, test := range map[string]struct {
		second     string
		containers []string
	}{
		"nothing":        {nothing, []string{"app"}},
		"something else": {part(`{containers: [{name: other, image: "registry.example/other:1"}]}`), []string{"app", "other"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := startWith(t, `{containers: [`+app+`]}`)
			mustApply(t, ours, namespace, everything)

			after := mustApply(t, ours, namespace, test.second)

			require.Equal(t, test.containers, containers(after))
			require.Empty(t, after.Spec.Template.Spec.Volumes)
			require.NotContains(t, after.Annotations, "injected")
		})
	}
}

// The API server would reject the rename of an application container if mounts were applied to that container. So the
// operator patches mounts.
func TestPatch_AllowsContainerRenameUnlikeApply(t *testing.T) {
	t.Parallel()
	const mount = `volumeMounts: [{name: logs, mountPath: /var/log/app}]`
	const volume = `volumes: [{name: logs, emptyDir: {}}]`
	renamed := whole(`{containers: [{name: main, image: "registry.example/app:1"}]}`)

	t.Run("applied", func(t *testing.T) {
		namespace := startWith(t, `{containers: [`+app+`]}`)
		mustApply(t, ours, namespace, part(`{containers: [`+vector+`, {name: app, `+mount+`}], `+volume+`}`))

		_, err := applyAs(t, owner, namespace, renamed)

		require.True(t, apierrors.IsInvalid(err), "%v", err)
		require.ErrorContains(t, err, "image: Required value", "an item of the old name stays, as ours")
	})
	t.Run("patched", func(t *testing.T) {
		namespace := startWith(t, `{containers: [`+app+`]}`)
		patched, err := patch(t, types.StrategicMergePatchType, namespace,
			part(`{containers: [{name: app, `+mount+`}, `+vector+`], `+volume+`}`), client.FieldOwner("patcher"))
		require.NoError(t, err)
		adopted := mustApply(t, ours, namespace, part(`{containers: [`+vector+`], `+volume+`}`))
		require.Equal(t, patched.Generation, adopted.Generation, "adoption starts no second rollout")

		after := mustApply(t, owner, namespace, renamed)

		require.ElementsMatch(t, []string{"main", "vector"}, containers(after))
	})
}

// An apply cannot remove the volume while the application's container mounts it, so one patch removes both.
func TestPatch_RemovesMountAndVolumeTogether(t *testing.T) {
	t.Parallel()
	namespace := startWith(t, `{containers: [`+app+`]}`)
	mustApply(t, ours, namespace, part(`{containers: [`+vector+`], volumes: [{name: logs, emptyDir: {}}]}`))
	injected, err := patch(t, types.StrategicMergePatchType, namespace,
		part(`{containers: [{name: app, volumeMounts: [{name: logs, mountPath: /var/log/app}]}]}`), client.FieldOwner("patcher"))
	require.NoError(t, err)

	_, err = applyAs(t, ours, namespace, nothing)
	require.True(t, apierrors.IsInvalid(err), "the mount would be of nothing: %v", err)

	_, err = patch(t, types.StrategicMergePatchType, namespace, part(`{
		containers: [{name: app, volumeMounts: [{mountPath: /var/log/app, $patch: delete}]}, {name: vector, $patch: delete}],
		volumes: [{name: logs, $patch: delete}]}`), client.FieldOwner("patcher"))
	require.NoError(t, err)
	after := mustApply(t, ours, namespace, nothing)

	require.Equal(t, injected.Generation+1, after.Generation)
	require.Equal(t, []string{"app"}, containers(after))
	require.Empty(t, after.Spec.Template.Spec.Containers[0].VolumeMounts)
	require.Empty(t, after.Spec.Template.Spec.Volumes)
}

// The API server rejects a second source for a volume also with force.
func TestApply_RejectsSecondVolumeSource(t *testing.T) {
	t.Parallel()
	namespace := startWith(t, `{containers: [`+app+`], volumes: [{name: data, emptyDir: {}}]}`)
	for name, options := range map[string][]client.PatchOption{"unforced": nil, "forced": {client.ForceOwnership}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := applyAs(t, ours, namespace, part(`{volumes: [{name: data, configMap: {name: settings}}]}`), options...)

			require.True(t, apierrors.IsInvalid(err), "%v", err)
			require.ErrorContains(t, err, "may not specify more than 1 volume type")
		})
	}
}

// If an apply of the sidecar listed the application's volume, the application owner could not change the volume's
// source. So the sidecar only mounts the volume.
func TestApply_BlocksSourceChangeOfListedVolume(t *testing.T) {
	t.Parallel()
	const mounting = `{name: vector, image: "registry.example/vector:1", volumeMounts: [{name: data, mountPath: /data}]}`
	before := `{containers: [` + app + `], volumes: [{name: data, emptyDir: {}}]}`
	moved := whole(`{containers: [` + app + `], volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}`)
	dropped := whole(`{containers: [` + app + `]}`)
	for name, test := range map[string]struct{ sidecar, change, refusal string }{
		"we list it too, and it moves":   {`{containers: [` + mounting + `], volumes: [{name: data, emptyDir: {}}]}`, moved, "may not specify more than 1 volume type"},
		"we refer to it, and it moves":   {`{containers: [` + mounting + `]}`, moved, ""},
		"we refer to it, and it is gone": {`{containers: [` + mounting + `]}`, dropped, "volumeMounts[0].name: Not found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := startWith(t, before)
			mustApply(t, ours, namespace, part(test.sidecar))

			_, err := applyAs(t, owner, namespace, test.change)

			if test.refusal == "" {
				require.NoError(t, err)
				return
			}
			require.True(t, apierrors.IsInvalid(err), "%v", err)
			require.ErrorContains(t, err, test.refusal)
		})
	}
}

// Fact about the API server: the error of a conflict names the field manager of the container.
func TestApply_NamesManagerOfConflictingContainer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ second, body string }{
		"the owner":       {owner, whole(`{containers: [` + app + `, {name: vector, image: "registry.example/own:1"}]}`)},
		"another of ours": {"vectorsidecar/other", part(`{containers: [{name: vector, image: "registry.example/vector:2"}]}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := startWith(t, `{containers: [`+app+`]}`)
			mustApply(t, ours, namespace, part(`{containers: [`+vector+`]}`))

			_, err := applyAs(t, test.second, namespace, test.body)

			require.True(t, apierrors.IsConflict(err), "%v", err)
			require.ErrorContains(t, err, `conflict with "vectorsidecar/logs"`)
		})
	}
}

// Two field managers have forced the same container. An empty apply of one cannot remove it. So the operator never
// forces fields of a deployment tool.
func TestApply_FailsRemovalAfterMutualForce(t *testing.T) {
	t.Parallel()
	namespace := startWith(t, `{containers: [`+app+`]}`)
	mustApply(t, ours, namespace, part(`{containers: [`+vector+`]}`))
	theirs := whole(`{containers: [` + app + `, {name: vector, image: "registry.example/own:1"}]}`)
	_, err := applyAs(t, owner, namespace, theirs, client.ForceOwnership)
	require.NoError(t, err)

	back, err := applyAs(t, ours, namespace, part(`{containers: [`+vector+`]}`), client.ForceOwnership)
	require.NoError(t, err)
	require.Equal(t, "registry.example/vector:1", back.Spec.Template.Spec.Containers[1].Image, "each undoes the other")

	_, err = applyAs(t, ours, namespace, nothing)
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	require.ErrorContains(t, err, "image: Required value")
}

// Fact about the API server: an apply without a container does not remove the container of another field manager.
func TestApply_KeepsContainerOfAnotherManager(t *testing.T) {
	t.Parallel()
	namespace := startWith(t, `{containers: [`+app+`]}`)
	mustApply(t, "old-version", namespace, part(`{containers: [`+vector+`]}`))

	after := mustApply(t, "new-version", namespace, part(`{containers: [{name: vector-2, image: "registry.example/vector:2"}]}`))

	require.ElementsMatch(t, []string{"app", "vector", "vector-2"}, containers(after))
}

// Fact about the API server: an apply with the UID of a deleted object does not create the object again.
func TestApply_DoesNotRecreateObjectWithUID(t *testing.T) {
	t.Parallel()
	namespace := startWith(t, `{containers: [`+app+`]}`)
	gone := cart(namespace)
	world.Get(t, gone)
	require.NoError(t, world.Client.Delete(t.Context(), gone))
	harness.Eventually(t, "the deletion of the Deployment", func() bool {
		return apierrors.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(gone), cart(namespace)))
	})
	pod := `spec: {template: {spec: {containers: [` + vector + `]}}}`

	_, err := applyAs(t, ours, namespace, pod)
	require.True(t, apierrors.IsInvalid(err), "without the UID it is a creation, and fails for want of a selector: %v", err)

	_, err = applyAs(t, ours, namespace, `{metadata: {name: cart, uid: `+string(gone.UID)+`}, `+pod+`}`)
	require.True(t, apierrors.IsConflict(err), "%v", err)
}

// Fact about the API server: an applied init container comes last, unless the apply lists the other init containers
// after it.
func TestApply_OrdersInitContainersByAppliedList(t *testing.T) {
	t.Parallel()
	const migrate = `{name: migrate, image: "registry.example/migrate:1"}`
	native := part(`{initContainers: [{name: vector, image: "registry.example/vector:1", restartPolicy: Always}]}`)
	namespace := startWith(t, `{containers: [`+app+`], initContainers: [`+migrate+`]}`)

	require.Equal(t, []string{"migrate", "vector"}, initContainers(mustApply(t, ours, namespace, native)))

	first := mustApply(t, ours, namespace, part(`{initContainers: [{name: vector, image: "registry.example/vector:1", restartPolicy: Always}, {name: migrate}]}`))
	require.Equal(t, []string{"vector", "migrate"}, initContainers(first))
	released := mustApply(t, ours, namespace, native)
	require.Equal(t, []string{"vector", "migrate"}, initContainers(released), "and it stays first")
	require.Equal(t, first.Generation, released.Generation)
	after := mustApply(t, owner, namespace, whole(`{containers: [`+app+`], initContainers: [{name: prepare, image: "registry.example/prepare:1"}]}`))
	require.NotContains(t, initContainers(after), "migrate", "it is its owner's alone again")
}

// Fact about Kubernetes: if the sidecar is applied to a new Deployment, the Deployment has two ReplicaSets.
func TestApply_StartsSecondReplicaSetAfterCreation(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	mustApply(t, owner, namespace, `spec: {replicas: 1, selector: {matchLabels: {app: cart}}, template: {metadata: {labels: {app: cart}}, spec: {containers: [`+app+`]}}}`)
	harness.Eventually(t, "the first ReplicaSet", func() bool { return replicaSets(t, namespace) == 1 })

	mustApply(t, ours, namespace, part(`{containers: [`+vector+`]}`))

	harness.Until(t, world, cart(namespace), "its rollout", isRolledOut)
	require.Equal(t, 2, replicaSets(t, namespace))
}

// Fact about the API server: an apply with duplicate keys or unknown fields is answered with status 500.
func TestApply_ReturnsInternalErrorForInvalidSchema(t *testing.T) {
	t.Parallel()
	namespace := startWith(t, `{containers: [`+app+`]}`)
	for name, body := range map[string]string{
		"a key given twice": part(`{containers: [{name: vector, image: x, env: [{name: A, value: "1"}, {name: A, value: "2"}]}]}`),
		"an unknown field":  part(`{containers: [{name: vector, image: x, imagePulPolicy: Always}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := applyAs(t, ours, namespace, body)

			require.True(t, apierrors.IsInternalError(err) || apierrors.ReasonForError(err) == metav1.StatusReasonUnknown, "%v", err)
			var status apierrors.APIStatus
			require.ErrorAs(t, err, &status)
			require.EqualValues(t, 500, status.Status().Code)
			require.ErrorContains(t, err, "failed to create typed patch object")
		})
	}
}

// In a dry run, a higher generation of a Deployment predicts a rollout, but only if its annotations stay the same,
// because they also increase it.
func TestDryRun_PredictsRolloutByGeneration(t *testing.T) {
	t.Parallel()
	namespace := startWith(t, `{containers: [`+app+`]}`)
	before := mustApply(t, ours, namespace, part(`{containers: [`+vector+`]}`))
	for name, test := range map[string]struct {
		body   string
		higher int64
	}{
		"another image":             {part(`{containers: [{name: vector, image: "registry.example/vector:2"}]}`), 1},
		"removal":                   {nothing, 1},
		"the same":                  {part(`{containers: [` + vector + `]}`), 0},
		"an annotation, no rollout": {`{metadata: {name: cart, annotations: {a: b}}, spec: {template: {spec: {containers: [` + vector + `]}}}}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, err := applyAs(t, ours, namespace, test.body, client.DryRunAll)
			require.NoError(t, err)
			require.Equal(t, before.Generation+test.higher, answer.Generation)

			now := cart(namespace)
			world.Get(t, now)
			require.Equal(t, before.Generation, now.Generation)
		})
	}
}

// Server-side apply merges each list of a pod template by the keys that the operator relies on.
func TestApply_MergesListsByKey(t *testing.T) {
	t.Parallel()
	const theirs = `{name: app, image: "registry.example/app:1", env: [{name: A, value: a}], ports: [{containerPort: 80}]}`
	namespace := startWith(t, `{containers: [`+theirs+`], volumes: [{name: data, emptyDir: {}}]}`)

	after := mustApply(t, ours, namespace, part(`{volumes: [{name: more, emptyDir: {}}], containers: [
		{name: app, env: [{name: B, value: b}], ports: [{containerPort: 80, protocol: UDP}], volumeMounts: [{name: more, mountPath: /more}]}]}`))

	pod := after.Spec.Template.Spec
	require.Len(t, pod.Volumes, 2)
	require.Equal(t, []corev1.EnvVar{{Name: "A", Value: "a"}, {Name: "B", Value: "b"}}, pod.Containers[0].Env)
	require.Len(t, pod.Containers[0].Ports, 2)
	require.Len(t, pod.Containers[0].VolumeMounts, 1)
}
