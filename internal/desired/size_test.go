// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// weighing is a VectorSidecar with values of that many bytes.
func weighing(size int) *v1alpha1.VectorSidecar {
	sidecar := logs().WithValues(map[string]any{"a": strings.Repeat("x", size)}).Build()
	sidecar.UID, sidecar.ResourceVersion, sidecar.Generation = "u", "7", 3
	sidecar.Status.Environment = "staging"
	return sidecar
}

// sizeOfJSON is the size of a VectorSidecar as a line of JSON, without its status.
func sizeOfJSON(t *testing.T, sidecar *v1alpha1.VectorSidecar) int {
	t.Helper()
	bare := sidecar.DeepCopy()
	bare.TypeMeta, bare.Status = metav1.TypeMeta{}, v1alpha1.VectorSidecarStatus{}
	text, err := json.Marshal(bare)
	require.NoError(t, err)
	return len(text) + 1
}

// The cache drops the spec of a VectorSidecar that is too large, and keeps its metadata.
func TestDropOversizedSpec_KeepsMetadata(t *testing.T) {
	large := weighing(1 << 20)
	large.Labels, large.Finalizers = map[string]string{"a": "b"}, []string{meta.Finalizer}
	now := metav1.NewTime(time.Now())
	large.DeletionTimestamp = &now

	kept := DropOversizedSpec(large)

	require.True(t, IsReduced(kept))
	require.Equal(t, []string{meta.AnnotationExcess}, slices.Collect(maps.Keys(kept.Annotations)))
	require.Equal(t, large.Status, kept.Status)
	require.Equal(t, []any{large.Name, large.UID, large.ResourceVersion, large.Generation, large.DeletionTimestamp},
		[]any{kept.Name, kept.UID, kept.ResourceVersion, kept.Generation, kept.DeletionTimestamp})
	require.Equal(t, kept, DropOversizedSpec(kept), "what is listed as a stream comes by twice")
	small := weighing(1)
	require.Same(t, small, DropOversizedSpec(small))
}

// A VectorSidecar that is too large is reported with its size and the limit.
func TestTooLarge_ReportsSize(t *testing.T) {
	const most = 512 << 10
	frame := sizeOfJSON(t, weighing(0))
	require.Nil(t, TooLarge(weighing(most-frame)))
	for name, sidecar := range map[string]*v1alpha1.VectorSidecar{
		"as it is": weighing(most - frame + 1), "as the cache holds it": DropOversizedSpec(weighing(most - frame + 1)),
	} {
		invalid := TooLarge(sidecar)
		require.Equal(t, meta.ReasonTooLarge, invalid.Reason, name)
		require.Contains(t, invalid.Message, "VectorSidecar shop/logs has 512 KiB; at most 512 KiB are allowed; ", name)
	}
}

// A large VectorSidecar is reduced to the part that other VectorSidecars depend on.
func TestReduceForCache_KeepsPartForOthers(t *testing.T) {
	large := weighing(100 << 10)
	large.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: strings.Repeat("x", 1<<20)}}
	large.Labels, large.Finalizers = map[string]string{"a": "b"}, []string{meta.Finalizer}
	large.Annotations = map[string]string{meta.AnnotationPromoteRollout: "r", "other": strings.Repeat("x", 100<<10)}
	large.Spec.Rollout = &v1alpha1.RolloutSpec{OnFailure: v1alpha1.OnFailureRevert}
	large.Status.Rollout, large.Status.Reverted = &v1alpha1.RolloutStatus{Revision: "r"}, &v1alpha1.RevertedSpec{Digest: "d"}
	large.Status.LastKnownGood = &v1alpha1.LastKnownGoodSpec{Spec: strings.Repeat("x", 100<<10)}

	part := ReduceForCache(large.DeepCopy())

	require.Less(t, bounded.Footprint(part), maxCachedBytes)
	require.Greater(t, part.OmittedBytes, 300<<10)
	require.False(t, IsReduced(part))
	require.Nil(t, TooLarge(part))
	require.Equal(t, large.Spec.Selector, part.Spec.Selector)
	require.Equal(t, large.Spec.Rollout, part.Spec.Rollout)
	require.Equal(t, map[string]string{meta.AnnotationPromoteRollout: "r"}, part.Annotations)
	require.Equal(t, []any{large.Labels, large.Finalizers, large.UID, large.ResourceVersion, large.Generation}, []any{part.Labels, part.Finalizers, part.UID, part.ResourceVersion, part.Generation})
	require.Equal(t, v1alpha1.VectorSidecarStatus{Environment: "staging", Rollout: large.Status.Rollout, Reverted: large.Status.Reverted}, part.Status)
	require.Same(t, part, ReduceForCache(part), "objects of a streaming list pass the transform twice")
	small := weighing(20 << 10)
	require.Equal(t, small.DeepCopy(), ReduceForCache(small))
}

// Each part of a VectorSidecar may be large. Users with the permission may write any status.
func TestReduceForCache_LimitsEachPart(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	for name, change := range map[string]func(*v1alpha1.VectorSidecar){
		"spec":     func(s *v1alpha1.VectorSidecar) { s.Spec.Environment = text },
		"selector": func(s *v1alpha1.VectorSidecar) { s.Spec.Selector.MatchLabels["text"] = text[:500<<10] },
		"labels":   func(s *v1alpha1.VectorSidecar) { s.Labels = map[string]string{"text": text[:500<<10]} },
		"annotations": func(s *v1alpha1.VectorSidecar) {
			s.Annotations = map[string]string{meta.AnnotationRetryRollout: text[:250<<10]}
		},
		"finalizers": func(s *v1alpha1.VectorSidecar) { s.Finalizers = []string{text[:250<<10]} },
		"status":     func(s *v1alpha1.VectorSidecar) { s.Status.Environment = text },
		"status of the operator": func(s *v1alpha1.VectorSidecar) {
			s.Status.LastKnownGood = &v1alpha1.LastKnownGoodSpec{Spec: text[:256<<10]}
		},
		"rollout status": func(s *v1alpha1.VectorSidecar) { s.Status.Rollout = &v1alpha1.RolloutStatus{Message: text[:400<<10]} },
		"spec and operator status": func(s *v1alpha1.VectorSidecar) {
			s.Spec.Environment, s.Status.LastKnownGood = text, &v1alpha1.LastKnownGoodSpec{Spec: text[:256<<10]}
		},
	} {
		t.Run(name, func(t *testing.T) {
			sidecar := weighing(1)
			change(sidecar)
			isLarge := sizeOfJSON(t, sidecar) > maxCachedBytes
			cached := ReduceForCache(sidecar.DeepCopy())
			require.Less(t, bounded.Footprint(cached), maxCachedBytes)
			require.Equal(t, TooLarge(DropOversizedParts(sidecar.DeepCopy())), TooLarge(cached))
			require.Equal(t, isLarge, TooLarge(sidecar) != nil)
		})
	}
}

func TestTooLarge_IgnoresOtherAnnotations(t *testing.T) {
	pretender := logs().Build()
	pretender.Annotations = map[string]string{meta.AnnotationExcess: "9999999"}
	require.False(t, IsReduced(pretender))
	require.Nil(t, TooLarge(pretender))
}

// The size of a VectorSidecar is counted without its status and its managedFields.
func TestTooLarge_ExcludesStatusAndManagedFields(t *testing.T) {
	sidecar := weighing(0)
	sidecar.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: strings.Repeat("x", 1<<20)}}
	sidecar.Status.Environment = strings.Repeat("x", 1<<20)
	require.Nil(t, TooLarge(sidecar))
}

// Each key, map and list counts as a value, because it needs much more memory than its few bytes of JSON.
func TestTooLarge_CountsKeysMapsAndLists(t *testing.T) {
	sidecar := logs().Build()
	volume := corev1.Volume{Name: "many", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: make([]corev1.VolumeProjection, 170_000)}}}
	sidecar.Spec.Volumes = []corev1.Volume{volume}
	require.Less(t, sizeOfJSON(t, sidecar), 512<<10)

	require.Equal(t, meta.ReasonTooLarge, TooLarge(sidecar).Reason)
	require.Contains(t, TooLarge(sidecar).Message, "VectorSidecar shop/logs has more than 30000 values, each key, map and list counted; ")
	require.True(t, IsReduced(DropOversizedSpec(sidecar)))
	require.Equal(t, TooLarge(sidecar), TooLarge(DropOversizedSpec(sidecar)))
}

// BenchmarkSize is the cost of measuring a VectorSidecar in each pass.
func BenchmarkSize(b *testing.B) {
	for name, sidecar := range map[string]*v1alpha1.VectorSidecar{
		"small": logs().WithLogs("/var/log/app").Build(), "with a configuration": logs().WithInlineConfig(objects.VectorConfig("x")).Build(), "large": weighing(500 << 10),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				require.Nil(b, TooLarge(sidecar))
			}
		})
	}
}
