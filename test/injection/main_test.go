// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// mayBeTold is the installation's policy for environment variables.
const mayBeTold = "applicationEnv: [OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL, OTEL_RESOURCE_ATTRIBUTES, LOG_ADDRESS]"

// kinds are the workload kinds into which the API server injects.
var kinds = []string{"Deployment", "StatefulSet", "DaemonSet", "CronJob", "Rollout"}

var (
	plane   *controlplane.ControlPlane
	world   *harness.World
	running *harness.Operator
	// kubeconfig is the path of the file with which application owners' tools connect to the API server.
	kubeconfig string
	options    = operator.Options{Namespace: "vector-system", ReadPods: true, ValidationJobs: true, WorkloadKinds: kinds, AdmissionInjection: true, ClusterSidecars: true, EnvironmentsConfigMap: "environments"}
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(controlplane.Main(m, controlplane.Options{Nodes: 2}, func(c *controlplane.ControlPlane) (func() error, error) {
		var err error
		plane = c
		if world, err = harness.NewWorld(c.Config()); err != nil {
			return nil, err
		}
		if err := world.ServeRollouts(); err != nil {
			return nil, err
		}
		ctx := context.Background()
		if _, err = world.RunAsInstalled(ctx, c, kinds...); err != nil {
			return nil, err
		}
		if _, err = world.InjectAtAdmission(ctx, c, kinds...); err != nil {
			return nil, err
		}
		allowed := objects.NewConfigMap(options.EnvironmentsConfigMap, options.Namespace, "policy", mayBeTold)
		if err := world.ApplyValues(ctx, allowed); err != nil {
			return nil, err
		}
		kubeconfig = c.Kubeconfig()
		running = world.RunOperator(options)
		return func() error { return running.Stop() }, nil // Tests may have replaced it.
	}))
}

// awaitOverlay waits until the OverlaySet has an active overlay of a VectorSidecar.
func awaitOverlay(t *testing.T, vs *v1alpha1.VectorSidecar) *v1alpha1.OverlaySet {
	t.Helper()
	return overlaysOf(t, vs, func(o *v1alpha1.Overlay) bool { return o.SkipReason == "" })
}

// awaitSkipReason waits until the overlay of a VectorSidecar is skipped, and returns the reason.
func awaitSkipReason(t *testing.T, vs *v1alpha1.VectorSidecar) string {
	t.Helper()
	why := ""
	overlaysOf(t, vs, func(o *v1alpha1.Overlay) bool { why = o.SkipReason; return o.SkipReason != "" })
	return why
}

func overlaysOf(t *testing.T, vs *v1alpha1.VectorSidecar, is func(*v1alpha1.Overlay) bool) *v1alpha1.OverlaySet {
	t.Helper()
	set := &v1alpha1.OverlaySet{ObjectMeta: metav1.ObjectMeta{Namespace: vs.Namespace, Name: meta.OverlaySet}}
	harness.Eventually(t, "the overlay of VectorSidecar "+vs.Name, func() bool {
		if world.Client.Get(t.Context(), client.ObjectKeyFromObject(set), set) != nil {
			return false
		}
		return slices.ContainsFunc(set.Spec.Overlays, func(o v1alpha1.Overlay) bool { return o.VectorSidecar == vs.Name && is(&o) })
	})
	return set
}

// untilActive waits until a dry-run create of an object returns the sidecar container.
func untilActive(t *testing.T, object client.Object, container string) {
	t.Helper()
	harness.Eventually(t, "a policy that acts on "+object.GetName(), func() bool {
		trial, _ := object.DeepCopyObject().(client.Object)
		trial.SetName(object.GetName() + "-trial")
		return world.Client.Create(t.Context(), trial, client.DryRunAll) == nil && has(trial, container)
	})
}

func template(object client.Object) *corev1.PodTemplateSpec {
	one, _ := workload.ToObject(object)
	return workload.PodTemplate(one)
}

// names returns the container names of a workload's pods, init containers first.
func names(object client.Object) []string {
	var found []string
	spec := &template(object).Spec
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		found = append(found, c.Name)
	}
	return found
}

func has(object client.Object, container string) bool {
	return slices.Contains(names(object), container)
}

// isAdopted returns whether the operator owns the sidecar of a VectorSidecar: by managedFields, or for kinds with
// atomic lists by the operator's annotation.
func isAdopted(sidecar string) func(client.Object) bool {
	return func(object client.Object) bool {
		if _, isRollout := object.(*unstructured.Unstructured); isRollout {
			_, isNoted := object.GetAnnotations()[meta.AnnotationInputHash]
			return isNoted && template(object).Annotations[meta.AnnotationInjectedItems(meta.Manager(sidecar))] != ""
		}
		return slices.ContainsFunc(object.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
			return e.Manager == meta.Manager(sidecar) && e.Operation == metav1.ManagedFieldsOperationApply
		})
	}
}
