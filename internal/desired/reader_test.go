// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// failingObjects counts the reads. The first reads fail.
type failingObjects struct {
	fails, reads int
}

var errRead = errors.New("the API server does not answer")

func (f *failingObjects) read() error {
	f.reads++
	if f.reads <= f.fails {
		return errRead
	}
	return nil
}

func (f *failingObjects) GetConfigMap(context.Context, types.NamespacedName) (*corev1.ConfigMap, error) {
	return nil, f.read()
}

func (f *failingObjects) GetServiceAccount(context.Context, types.NamespacedName) (*workload.Account, error) {
	return &workload.Account{}, f.read()
}

// After a failed read, the Reader reads no further object, so that a failed read is not taken for a missing object.
func TestReader_StopsAfterFailedRead(t *testing.T) {
	objects := &failingObjects{fails: 1}
	inputs := &Inputs{
		Sidecar: logs().Build(), Platform: builtIn(t), Settings: Settings{DefaultEnvironment: "development", KubeVersion: "v1.36.0"},
		ConfigMaps: objects, Accounts: objects,
	}
	reader := NewReader(t.Context(), inputs)
	defer reader.Release()
	New(inputs, reader, nil)
	require.ErrorIs(t, reader.Err(), errRead)
	require.Nil(t, reader.Account("default"))
	require.Equal(t, 1, objects.reads)
	require.ErrorIs(t, reader.WaitForTurn(), errRead)

	reader = NewReader(t.Context(), inputs)
	defer reader.Release()
	New(inputs, reader, nil)
	require.NoError(t, reader.Err())
	require.Equal(t, []string{meta.NamespaceDefaults}, reader.ConfigMapKeys())
	require.NotNil(t, reader.Account("default"))
	require.Same(t, reader.Account("default"), reader.FindAccount("default"))
	require.Equal(t, 3, objects.reads)
}
