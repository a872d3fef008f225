// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bombs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// mostWithLargeObjects is how many bytes an operator may have resident next to large objects of a tenant.
const mostWithLargeObjects = 200 << 20

// largeObjects makes the i-th of many objects of nearly the largest size that the API server stores. All of them concern
// the VectorSidecar logs of the namespace, which is being deleted.
var largeObjects = map[string]func(namespace string, i int) client.Object{
	"companions": largeCompanion,
	"Deployments": func(namespace string, i int) client.Object {
		object := objects.NewDeployment(fmt.Sprintf("app-%04d", i), namespace).Build()
		object.Spec.Template.Spec.Containers[0].Args = []string{strings.Repeat("x", 1300<<10)}
		return object
	},
	"Jobs": func(namespace string, i int) client.Object {
		if i == 0 { // Jobs are read before a companion is deleted.
			return largeCompanion(namespace, i)
		}
		pod := objects.NewDeployment("app", namespace).Build().Spec.Template
		pod.Spec.RestartPolicy = corev1.RestartPolicyNever
		pod.Spec.Containers[0].Args = []string{strings.Repeat("x", 1300<<10)}
		return &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("run-%04d", i)},
			Spec:       batchv1.JobSpec{Template: pod, Suspend: ptr.To(true)},
		}
	},
	"VectorSidecars": func(namespace string, i int) client.Object {
		return objects.NewVectorSidecar(fmt.Sprintf("other-%04d", i), namespace).Selecting(label, "none").
			WithValues(map[string]any{"a": strings.Repeat("x", 1300<<10)}).Build()
	},
}

func largeCompanion(namespace string, i int) client.Object {
	object := objects.NewConfigMap(fmt.Sprintf("companion-%04d", i), namespace, "vector.yaml", strings.Repeat("x", 1020<<10))
	companion.Label(object, "logs")
	companion.Mark(object)
	return object
}

// Large objects of one tenant neither stop the operator nor keep it from finishing.
func TestLivelist_BoundsMemoryOfLargeObjects(t *testing.T) {
	unlessAsked(t)
	count, names := 250, slices.Sorted(maps.Keys(largeObjects))
	if !*full {
		names = []string{"Deployments"}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			namespace := world.Namespace(t)
			sidecar := objects.NewVectorSidecar("logs", namespace).Selecting(label, "none").Build()
			sidecar.Finalizers = []string{meta.Finalizer}
			world.Create(t, sidecar)
			for i := range count {
				object := largeObjects[name](namespace, i)
				world.Create(t, object)
				t.Cleanup(func() {
					require.NoError(t, client.IgnoreNotFound(world.Client.Delete(context.WithoutCancel(t.Context()), object)))
				})
			}
			world.Delete(t, sidecar)
			// The leftover cleanup asks the API server for the VectorSidecars of the namespace.
			leftover := objects.NewDeployment("leftover", namespace).Build()
			world.Create(t, leftover)
			mark := fmt.Sprintf(`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "leftover", "annotations": {%q: "x"}}}`, meta.AnnotationInjectedHash)
			require.NoError(t, world.Client.Patch(t.Context(), leftover, client.RawPatch(types.ApplyPatchType, []byte(mark)), client.FieldOwner(meta.Manager("gone"))))

			o := start(t)
			isGone := o.until(t.Context(), 5*harness.Patience, func(ctx context.Context) bool {
				return apierrors.IsNotFound(world.Client.Get(ctx, client.ObjectKeyFromObject(sidecar), sidecar))
			})
			require.True(t, isGone, "the VectorSidecar is not removed; the operator lives: %t", o.lives())
			require.True(t, o.rest(t, tooLong), "the operator keeps computing")
			most, err := harness.Memory(o.Pid(), "VmHWM")
			require.NoError(t, err)
			t.Logf("%d %s: at most %d MiB resident", count, name, most>>20)
			require.LessOrEqual(t, most, int64(mostWithLargeObjects))
			if name == "companions" {
				var left corev1.ConfigMapList
				require.NoError(t, world.Client.List(t.Context(), &left, client.InNamespace(namespace), client.HasLabels{meta.LabelSidecar}))
				require.Empty(t, left.Items)
			}
		})
	}
}
