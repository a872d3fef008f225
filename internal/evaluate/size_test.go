// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// weighing is a VectorSidecar with values of so many bytes.
func weighing(size int) *v1alpha1.VectorSidecar {
	sidecar := logs().WithValues(map[string]any{"a": strings.Repeat("x", size)}).Build()
	sidecar.UID, sidecar.ResourceVersion, sidecar.Generation = "u", "7", 3
	sidecar.Status.Environment = "staging"
	return sidecar
}

// sizeOfJSON is how many bytes a VectorSidecar has with a line break, without its status.
func sizeOfJSON(t *testing.T, sidecar *v1alpha1.VectorSidecar) int {
	t.Helper()
	bare := sidecar.DeepCopy()
	bare.TypeMeta, bare.Status = metav1.TypeMeta{}, v1alpha1.VectorSidecarStatus{}
	text, err := json.Marshal(bare)
	require.NoError(t, err)
	return len(text) + 1
}

func TestAVectorSidecarThatIsTooLargeIsRefusedWithItsSize(t *testing.T) {
	const most = 768 << 10
	frame := sizeOfJSON(t, weighing(0))
	require.Nil(t, decide(t, snapshot(t, weighing(most-frame), fleet(1)...)).Invalid)

	for name, sidecar := range map[string]*v1alpha1.VectorSidecar{
		"as it is": weighing(most - frame + 1), "as the cache holds it": desired.Bounded(weighing(most - frame + 1)),
	} {
		decided := decide(t, snapshot(t, sidecar, fleet(1)...))
		require.Equal(t, meta.ReasonTooLarge, decided.Invalid.Reason, name)
		require.Contains(t, decided.Invalid.Message, "VectorSidecar shop/logs has 768 KiB, and may have 768: ", name)
		require.Empty(t, decided.Plans, "what is injected stays as it is")
	}
}

func TestWhoWritesTheMarkGainsNothing(t *testing.T) {
	pretender := logs().Build()
	pretender.Annotations = map[string]string{meta.AnnotationExcess: "9999999"}
	require.False(t, desired.IsReduced(pretender))
	require.Nil(t, decide(t, snapshot(t, pretender, fleet(1)...)).Invalid)
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
