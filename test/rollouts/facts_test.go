// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlenvtest "sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/freeport"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// What Argo Rollouts' definition and its controller do with a sidecar, on a control plane
// of its own, without the operator.

// Two owners of fields, and what one of them adds.
const (
	owner = "owner"
	ours  = "vectorsidecar/logs"

	vector = `{name: vector, image: "registry.example/vector:1"}`
)

func part(pod string) string { return `spec: {template: {spec: ` + pod + `}}` }

// cluster is a cluster with Argo Rollouts, seen as its administrator.
type cluster struct {
	plane *controlplane.ControlPlane
	world *harness.World
}

func startPlane(t *testing.T) *cluster {
	t.Helper()
	plane := controlplane.ForTest(t, controlplane.Options{Nodes: 1})
	w, err := harness.NewWorld(plane.Config())
	require.NoError(t, err)
	return &cluster{plane, w}
}

// definitions are those of Argo Rollouts.
func definitions(t *testing.T) ctrlenvtest.CRDInstallOptions {
	t.Helper()
	program, err := controlplane.Bin("rollouts-controller")
	require.NoError(t, err)
	return ctrlenvtest.CRDInstallOptions{Paths: []string{filepath.Join(filepath.Dir(program), "rollouts-crds")}, ErrorIfPathMissing: true}
}

func (r *cluster) install(t *testing.T) {
	t.Helper()
	_, err := ctrlenvtest.InstallCRDs(r.plane.Config(), definitions(t))
	require.NoError(t, err)
}

func (r *cluster) uninstall(t *testing.T) {
	t.Helper()
	require.NoError(t, ctrlenvtest.UninstallCRDs(r.plane.Config(), definitions(t)))
}

func startRollouts(t *testing.T) *cluster {
	t.Helper()
	program, err := controlplane.Bin("rollouts-controller")
	require.NoError(t, err)
	r := startPlane(t)
	r.install(t)
	plane := r.plane
	health, metrics := freeport.ForTest(t), freeport.ForTest(t)
	serves := func(ctx context.Context) error {
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", health)
		if err != nil {
			return err
		}
		return connection.Close()
	}
	require.NoError(t, plane.Run(t.Context(), "rollouts-controller", program, serves,
		"--kubeconfig="+plane.Kubeconfig(), "--leader-elect=false", "--healthzPort="+freeport.Port(health), "--metricsPort="+freeport.Port(metrics)))
	return r
}

// rollout is Rollout cart as it is live, or empty.
func rollout(namespace string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("argoproj.io/v1alpha1")
	object.SetKind("Rollout")
	object.SetNamespace(namespace)
	object.SetName("cart")
	return object
}

// applyAs applies to Rollout cart with server-side apply.
func (r *cluster) applyAs(t *testing.T, manager, namespace, body string, options ...client.PatchOption) (*unstructured.Unstructured, error) {
	t.Helper()
	object := rollout(namespace)
	require.NoError(t, yaml.Unmarshal([]byte(body), &object.Object))
	wanted := rollout(namespace)
	wanted.Object["spec"] = object.Object["spec"]
	text, err := json.Marshal(wanted)
	require.NoError(t, err)
	return wanted, r.world.Client.Patch(t.Context(), wanted, client.RawPatch(types.ApplyPatchType, text), append(options, client.FieldOwner(manager))...)
}

// guarded patches a Rollout as it was read, and no other.
func (r *cluster) guarded(t *testing.T, read *unstructured.Unstructured, operations string) error {
	t.Helper()
	text := fmt.Sprintf(`[{"op": "test", "path": "/metadata/uid", "value": %q}, {"op": "test", "path": "/metadata/resourceVersion", "value": %q}, %s]`,
		read.GetUID(), read.GetResourceVersion(), operations)
	return r.world.Client.Patch(t.Context(), read.DeepCopy(), client.RawPatch(types.JSONPatchType, []byte(text)), client.FieldOwner(ours))
}

func namesAt(t *testing.T, object *unstructured.Unstructured, list string) []string {
	t.Helper()
	items, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", list)
	require.NoError(t, err)
	var names []string
	for _, item := range items {
		entry, isMap := item.(map[string]any)
		require.True(t, isMap)
		names = append(names, fmt.Sprint(entry["name"]))
	}
	return names
}

// template is the pod template of a Rollout, byte for byte.
func template(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	found, _, err := unstructured.NestedMap(object.Object, "spec", "template")
	require.NoError(t, err)
	text, err := json.Marshal(found)
	require.NoError(t, err)
	return string(text)
}

// at is a text or a number of a Rollout's status, "" if it has none.
func at(object *unstructured.Unstructured, field string) string {
	value, found, _ := unstructured.NestedFieldNoCopy(object.Object, "status", field)
	if !found {
		return ""
	}
	return fmt.Sprint(value)
}

// isRolled tells whether the controller has seen the newest generation, and is done with it.
func isRolled(object *unstructured.Unstructured) bool {
	return at(object, "observedGeneration") == fmt.Sprint(object.GetGeneration()) && at(object, "phase") == "Healthy" &&
		at(object, "stableRS") == at(object, "currentPodHash")
}

const canary = `spec:
  replicas: 2
  selector: {matchLabels: {app: cart}}
  strategy: {canary: {steps: [{setWeight: 50}, {pause: {}}]}}
  template:
    metadata: {labels: {app: cart}}
    spec:
      containers: [{name: app, image: "registry.example/app:1"}]
      volumes: [{name: data, emptyDir: {}}]
`

const (
	addVolume    = `{"op": "test", "path": "/spec/template/spec/volumes/0/name", "value": "data"}, {"op": "add", "path": "/spec/template/spec/volumes/-", "value": {"name": "spool", "emptyDir": {}}}`
	removeVolume = `{"op": "test", "path": "/spec/template/spec/volumes/1/name", "value": "spool"}, {"op": "remove", "path": "/spec/template/spec/volumes/1"}`
)

// Facts about the pinned release of Argo Rollouts: server-side apply merges the containers of a Rollout by name. The
// list of volumes is atomic, so only a guarded patch can share it. Up to release 1.8.3, all lists are atomic. A changed
// template follows the steps of the Rollout, and a reverted one is the original.
func TestArgoRollout_MergesContainersByName(t *testing.T) {
	t.Parallel()
	r := startRollouts(t)
	const namespace = corev1.NamespaceDefault
	live, err := r.applyAs(t, owner, namespace, canary)
	require.NoError(t, err)
	harness.Until(t, r.world, live, "its first pods", isRolled)
	before, stable := template(t, live), at(live, "stableRS")

	_, err = r.applyAs(t, ours, namespace, part(`{volumes: [{name: spool, emptyDir: {}}]}`))
	require.True(t, apierrors.IsConflict(err), "the list of volumes has one owner: %v", err)
	forced, err := r.applyAs(t, ours, namespace, part(`{volumes: [{name: spool, emptyDir: {}}]}`), client.ForceOwnership, client.DryRunAll)
	require.NoError(t, err)
	require.Equal(t, []string{"spool"}, namesAt(t, forced, "volumes"), "force takes the owner's volumes away")
	merged, err := r.applyAs(t, ours, namespace, part(`{initContainers: [`+vector+`], containers: [{name: beside, image: "registry.example/beside:1"}]}`), client.DryRunAll)
	require.NoError(t, err)
	require.Equal(t, []string{"vector"}, namesAt(t, merged, "initContainers"))
	require.ElementsMatch(t, []string{"app", "beside"}, namesAt(t, merged, "containers"))

	stale := live.DeepCopy()
	require.NoError(t, r.guarded(t, live, `{"op": "add", "path": "/spec/template/spec/initContainers", "value": [{"name": "vector", "image": "registry.example/vector:1", "restartPolicy": "Always"}]}, `+addVolume))
	require.Error(t, r.guarded(t, stale, addVolume), "it was changed since it was read")
	harness.Until(t, r.world, live, "the pause step", func(o *unstructured.Unstructured) bool {
		return at(o, "phase") == "Paused" && at(o, "currentStepIndex") == "1" && at(o, "updatedReplicas") == "1"
	})
	require.Equal(t, stable, at(live, "stableRS"), "half of the pods have the old template")
	require.NotEqual(t, stable, at(live, "currentPodHash"))
	require.Equal(t, []string{"data", "spool"}, namesAt(t, live, "volumes"))

	promote := client.RawPatch(types.MergePatchType, []byte(`{"status": {"pauseConditions": null}}`))
	require.NoError(t, r.world.Client.Status().Patch(t.Context(), live.DeepCopy(), promote))
	harness.Until(t, r.world, live, "the end of its steps", func(o *unstructured.Unstructured) bool { return isRolled(o) && at(o, "stableRS") != stable })

	require.NoError(t, r.guarded(t, live, `{"op": "remove", "path": "/spec/template/spec/initContainers"}, `+removeVolume))
	harness.Until(t, r.world, live, "the stable template again", func(o *unstructured.Unstructured) bool { return at(o, "currentPodHash") == stable })
	require.Equal(t, before, template(t, live))
}
