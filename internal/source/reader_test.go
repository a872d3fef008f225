// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
)

// A ServiceAccount may have 1.5 MiB of pull secrets, and the operator caches every ServiceAccount that it has read.
func TestReader_LimitsPullSecretsOfAccount(t *testing.T) {
	name := types.NamespacedName{Namespace: "shop", Name: "cart"}
	for size, isRead := range map[int]bool{100: true, largestPullSecrets + 1: false} {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
		account.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "a"}, {Name: strings.Repeat("x", size)}}
		objects := NewObjectOverlay(nil)
		objects.Put(account)
		found, err := Reader{Reader: objects}.GetServiceAccount(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, isRead, found.Unread == "", found.Unread)
		require.Less(t, bounded.Footprint(found), largestPullSecrets)
	}
}
