// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SetValues sets the ConfigMap of an installation's values for the duration of a test. Afterwards it has the content from
// before again, or is empty: operators of later tests read it, and without it they publish nothing.
func (w *World) SetValues(t testing.TB, values *corev1.ConfigMap) {
	t.Helper()
	previous := &corev1.ConfigMap{}
	err := w.Client.Get(t.Context(), client.ObjectKeyFromObject(values), previous)
	if apierrors.IsNotFound(err) {
		previous = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: values.Namespace, Name: values.Name}}
		err = nil
	}
	require.NoError(t, err)
	require.NoError(t, w.ApplyValues(t.Context(), values))
	t.Cleanup(func() { require.NoError(t, w.ApplyValues(context.WithoutCancel(t.Context()), previous)) })
}

// ApplyValues creates or replaces the ConfigMap of an installation's values, and creates its namespace if it does not exist.
// The chart does both for a real installation.
func (w *World) ApplyValues(ctx context.Context, values *corev1.ConfigMap) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: values.Namespace}}
	if err := client.IgnoreAlreadyExists(w.Client.Create(ctx, namespace)); err != nil {
		return err
	}
	values.ResourceVersion, values.UID = "", ""
	err := w.Client.Update(ctx, values)
	if apierrors.IsNotFound(err) {
		return w.Client.Create(ctx, values)
	}
	return err
}
