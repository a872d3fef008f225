// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// A tenant has many rollouts in progress with large ConfigMaps. Most of their content is dropped.
func TestSetAdoptedContent_LimitsTotalSize(t *testing.T) {
	m := New(time.Now)
	content := func(size int) decision.Adopted {
		return decision.Adopted{ConfigMaps: map[string]*corev1.ConfigMap{"a": {Data: map[string]string{"a": strings.Repeat("x", size)}}}}
	}
	small := m.GetOrCreate(logsOfShop)
	small.SetAdoptedContent(content(1))
	require.Equal(t, content(1), small.AdoptedContent())
	small.SetAdoptedContent(decision.Adopted{})
	require.Empty(t, small.AdoptedContent().ConfigMaps)
	for i := range 100 {
		name := types.NamespacedName{Namespace: "shop", Name: fmt.Sprint(i)}
		m.GetOrCreate(name).SetAdoptedContent(content(1 << 20))
		require.NotEmpty(t, m.GetOrCreate(name).AdoptedContent().ConfigMaps)
		require.LessOrEqual(t, m.adopted.Bytes(), mostAdopted)
	}
	for i := range 100 {
		m.Forget(types.NamespacedName{Namespace: "shop", Name: fmt.Sprint(i)})
	}
	require.Zero(t, m.adopted.Len())
}
