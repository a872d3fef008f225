// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
)

// After a status write without an answer the whole status is written, because the stored one may be the old or the new
// one.
func TestStatusWriter_WritesWholeUnknownStatus(t *testing.T) {
	sidecar := &v1alpha1.VectorSidecar{}
	sidecar.Name, sidecar.Namespace = "logs", "shop"
	known := state.New(time.Now).Of(client.ObjectKeyFromObject(sidecar))
	require.False(t, known.IsStatusUnknown())
	known.StatusFailed()
	require.True(t, known.IsStatusUnknown())
	known.StatusWritten(sidecar)
	require.False(t, known.IsStatusUnknown())

	patch, err := whole(&v1alpha1.VectorSidecarStatus{InjectedDeployments: 3})
	require.NoError(t, err)
	text, err := patch.Data(sidecar)
	require.NoError(t, err)
	var sent struct{ Status map[string]any }
	require.NoError(t, json.Unmarshal(text, &sent))
	require.EqualValues(t, 3, sent.Status["injectedDeployments"])
	for _, field := range []string{"workloads", "conditions", "environment"} {
		value, isNamed := sent.Status[field]
		require.True(t, isNamed, "%s: what was sent before goes", field)
		require.Nil(t, value, field)
	}
}
