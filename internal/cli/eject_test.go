// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/removal"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// With a dry run, eject lists the objects to remove, and a note names those that stay.
func TestEjectOptions_ListsRemovedAndKeptItems(t *testing.T) {
	var out, notes bytes.Buffer
	options := ejectOptions{app: &app{IOStreams: genericiooptions.IOStreams{Out: &out, ErrOut: &notes}}}
	traces := &removal.Traces{}
	for _, kind := range []string{"Deployment", "StatefulSet", "CronJob", "Rollout"} {
		traces.Workloads = append(traces.Workloads, removal.Carrier{Ref: workload.Ref{Kind: kind, Namespace: "shop", Name: "cart"}})
	}
	run := workload.Ref{Kind: "Job", Namespace: "shop", Name: "run"}
	traces.Companions = map[client.ObjectKey][]workload.Ref{
		{Namespace: "shop", Name: "b"}: nil, {Namespace: "shop", Name: "a"}: {traces.Workloads[1].Ref}, {Namespace: "shop", Name: "c"}: {traces.Workloads[1].Ref, run},
	}

	require.NoError(t, options.listSidecars(traces))

	require.Equal(t, `deployment.apps/cart in shop: its sidecars
statefulset.apps/cart in shop: its sidecars
cronjob.batch/cart in shop: its sidecars
rollout.argoproj.io/cart in shop: its sidecars
configmap/a in shop
configmap/b in shop
`, out.String())
	require.Equal(t, "ConfigMap shop/c stays, because pods of Job shop/run need it; to remove the ConfigMap, wait until these workloads have ended, or delete them\n", notes.String())
}

// The pods of a running Job still have the earlier template of its CronJob, so eject keeps the ConfigMap that they
// mount.
func TestEjectOptions_KeepsConfigMapOfRunningJob(t *testing.T) {
	const manifests = `{apiVersion: batch/v1, kind: Job, metadata: {name: report-1, namespace: shop, ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: report, uid: "1", controller: true}]}, ` +
		`spec: {template: {spec: {volumes: [{name: c, configMap: {name: logs-vector}}]}}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: logs-vector, namespace: shop, labels: {` + meta.LabelSidecar + `: logs}}}
`
	var out bytes.Buffer
	options := ejectOptions{app: &app{IOStreams: genericiooptions.IOStreams{In: strings.NewReader(manifests), Out: &out}}, files: []string{"-"}}

	err := options.ejectFromManifests()

	require.ErrorContains(t, err, "ConfigMap shop/logs-vector stays, because pods of Job shop/report-1 need it; to remove the ConfigMap, wait until these workloads have ended, or delete them")
	require.Contains(t, out.String(), "kind: ConfigMap")
}
