// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/removal"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

func TestEjectListsWhatGoesAndSaysWhatStays(t *testing.T) {
	var out, notes bytes.Buffer
	options := ejectOptions{app: &app{IOStreams: genericiooptions.IOStreams{Out: &out, ErrOut: &notes}}}
	traces := &removal.Traces{}
	for _, kind := range []string{"Deployment", "StatefulSet", "CronJob", "Rollout"} {
		traces.Workloads = append(traces.Workloads, workload.View{Ref: workload.Ref{Kind: kind, Namespace: "shop", Name: "cart"}})
	}
	run := workload.Ref{Kind: "Job", Namespace: "shop", Name: "run"}
	traces.Companions = map[client.ObjectKey][]workload.Ref{
		{Namespace: "shop", Name: "b"}: nil, {Namespace: "shop", Name: "a"}: {traces.Workloads[1].Ref}, {Namespace: "shop", Name: "c"}: {traces.Workloads[1].Ref, run},
	}

	require.NoError(t, options.list(traces))

	require.Equal(t, `deployment.apps/cart in shop: its sidecars
statefulset.apps/cart in shop: its sidecars
cronjob.batch/cart in shop: its sidecars
rollout.argoproj.io/cart in shop: its sidecars
configmap/a in shop
configmap/b in shop
`, out.String())
	require.Equal(t, "ConfigMap shop/c stays, because pods of Job shop/run need it: take what names it out of the pod template, or delete the workload\n", notes.String())
}
