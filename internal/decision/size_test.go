// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// weighing is a VectorSidecar with values of so many bytes.
func weighing(size int) *v1alpha1.VectorSidecar {
	sidecar := logs().WithValues(map[string]any{"a": strings.Repeat("x", size)}).Build()
	sidecar.UID, sidecar.ResourceVersion, sidecar.Generation = "u", "7", 3
	sidecar.Status.Environment = "staging"
	return sidecar
}

func TestAVectorSidecarThatIsTooLargeIsRefusedWithItsSize(t *testing.T) {
	const most = 768 << 10
	frame := bytesOf(weighing(0))
	require.Nil(t, decide(t, snapshot(t, weighing(most-frame), fleet(1)...)).Invalid)

	for name, sidecar := range map[string]*v1alpha1.VectorSidecar{
		"as it is": weighing(most - frame + 1), "as the cache holds it": Bounded(weighing(most - frame + 1)),
	} {
		decided := decide(t, snapshot(t, sidecar, fleet(1)...))
		require.Equal(t, meta.ReasonTooLarge, decided.Invalid.Reason, name)
		require.Contains(t, decided.Invalid.Message, "VectorSidecar shop/logs has 768 KiB, and may have 768: ", name)
		require.Empty(t, decided.Plans, "what is injected stays as it is")
	}
}

func TestOfALargeVectorSidecarTheRestIsKept(t *testing.T) {
	large := weighing(1 << 20)
	large.Labels, large.Finalizers = map[string]string{"a": "b"}, []string{meta.Finalizer}
	now := metav1.NewTime(time.Now())
	large.DeletionTimestamp = &now

	kept := Bounded(large)

	require.True(t, IsReduced(kept))
	require.Equal(t, []string{meta.AnnotationSize}, slices.Collect(maps.Keys(kept.Annotations)))
	require.Equal(t, large.Status, kept.Status)
	require.Equal(t, []any{large.Name, large.UID, large.ResourceVersion, large.Generation, large.DeletionTimestamp},
		[]any{kept.Name, kept.UID, kept.ResourceVersion, kept.Generation, kept.DeletionTimestamp})
	require.Equal(t, kept, Bounded(kept), "what is listed as a stream comes by twice")
	small := weighing(1)
	require.Same(t, small, Bounded(small))
}

func TestWhoWritesTheMarkGainsNothing(t *testing.T) {
	pretender := logs().Build()
	pretender.Annotations = map[string]string{meta.AnnotationSize: "9999999"}
	require.False(t, IsReduced(pretender))
	require.Nil(t, decide(t, snapshot(t, pretender, fleet(1)...)).Invalid)
}

func TestTheStatusAndTheRecordOfWritersAreNoPartOfTheSize(t *testing.T) {
	sidecar, before := weighing(0), bytesOf(weighing(0))
	sidecar.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	sidecar.Status.Environment = strings.Repeat("x", 100)
	require.Equal(t, before, bytesOf(sidecar))
}

// Nobody waits for an older one that injects nothing any more.
func TestOneThatIsTooLargeIsNoElder(t *testing.T) {
	large := weighing(1 << 20)
	large.Name = "elder"
	s := snapshot(t, logs().Build(), fleet(1)...)
	s.Sidecar.CreationTimestamp = metav1.Now()
	s.Others = []v1alpha1.VectorSidecar{*large}
	require.Equal(t, "Inject", string(decide(t, s).Plans[0].Action))
}

// BenchmarkSize is what it costs each pass to weigh a VectorSidecar.
func BenchmarkSize(b *testing.B) {
	for name, sidecar := range map[string]*v1alpha1.VectorSidecar{
		"small": logs().WithLogs("/var/log/app").Build(), "with a configuration": logs().WithInlineConfig(objects.VectorConfig("x")).Build(), "large": weighing(500 << 10),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				require.Nil(b, tooLarge(sidecar))
			}
		})
	}
}
