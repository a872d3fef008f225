// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// A tenant may have as many large configurations as there is room for objects.
func TestAMemoIsBoundedInBytes(t *testing.T) {
	memo, target := NewMemo(), settled(fleet(1)[0])
	for n := range 100 {
		b := &batch{memo: memo, common: fmt.Appendf(nil, "request %d", n)}
		fresh := &wanted{companions: []corev1.ConfigMap{{Data: map[string]string{"vector.yaml": strings.Repeat("x", 500_000)}}}}
		b.keep(&target, fresh)
		sidecar := logs().Build()
		sidecar.Name = fmt.Sprint(n)
		memo.keep(nameOf(sidecar), &recall{injected: judgements{now: []*judgement{{wanted: fresh}, {wanted: fresh}}}})
		require.Same(t, fresh, remembered(memo, memo.rendered, b.common))
		require.NotNil(t, memo.recalls.Get([]byte("shop/"+fmt.Sprint(n))))
	}
	require.LessOrEqual(t, memo.rendered.Bytes(), mostRendered)
	require.InDelta(t, mostRendered/500_000, memo.rendered.Len(), 2)
	require.LessOrEqual(t, memo.recalls.Bytes(), mostRecalled)
	require.InDelta(t, mostRecalled/500_000, memo.recalls.Len(), 2)
}

// What differs between workloads is most often a volume's name, and what is large the
// configuration.
func TestRenderingsShareTheirCompanions(t *testing.T) {
	all := fleet(50)
	for n, deployment := range all {
		pod := &deployment.Spec.Template.Spec
		pod.Volumes[0].Name = fmt.Sprintf("logs-%d", n)
		pod.Containers[0].VolumeMounts[0].Name = pod.Volumes[0].Name
	}
	memo := NewMemo()
	_, err := Decide(t.Context(), snapshot(t, logs().WithLogs("/var/log/app").Build(), all...), memo)
	require.NoError(t, err)
	seen := map[*corev1.ConfigMap]bool{}
	for _, of := range memo.rendered.All() {
		seen[&of.companions[0]] = true
	}
	require.Equal(t, 50, memo.rendered.Len())
	require.Len(t, seen, 1)
}

// What was made of a rendering afterwards is a part of it.
func TestARenderingGrowsWithItsCuts(t *testing.T) {
	memo := NewMemo()
	b := &batch{memo: memo, common: []byte("common")}
	target, fresh := settled(fleet(1)[0]), &wanted{}
	b.keep(&target, fresh)
	before := memo.rendered.Bytes()
	memo.grow(fresh, 1000)
	require.Equal(t, before+1000, memo.rendered.Bytes())
	memo.grow(&wanted{}, 1000)
	require.Equal(t, before+1000, memo.rendered.Bytes(), "nobody remembers this one")
}

// A pass that alone takes more than all may is not worth remembering.
func TestAPassThatTakesTooMuchIsForgotten(t *testing.T) {
	memo, sidecar := NewMemo(), logs().Build()
	memo.keep(nameOf(sidecar), &recall{})
	large := &wanted{}
	large.bytes.Store(mostRecalled)
	memo.keep(nameOf(sidecar), &recall{injected: judgements{now: []*judgement{{wanted: large}}}})
	require.Zero(t, memo.recalls.Len())
	require.Zero(t, memo.recalls.Bytes())
}
