// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func kubelet(version string) desired.Kubelet {
	return desired.Kubelet{Version: version, Node: "pool-a-1"}
}

func TestDecide_UsesNativeSidecarIfAllKubeletsSupportIt(t *testing.T) {
	for name, test := range map[string]struct {
		server, kubelet string
		native, sleeps  bool
		reason          string
	}{
		"1.31, unknown nodes":         {server: "v1.31.9", reason: "a kubelet may be of 1.28"},
		"1.32, unknown nodes":         {server: "v1.32.0", native: true, reason: "a kubelet is of 1.29 at least"},
		"1.33, unknown nodes":         {server: "v1.33.0", native: true, sleeps: true, reason: "a kubelet is of 1.30 at least"},
		"1.29, the nodes as well":     {server: "v1.29.3", kubelet: "v1.29.1-eks-036c24b", native: true, reason: "all have native sidecars, and none the sleep"},
		"1.30, the nodes as well":     {server: "v1.30.3", kubelet: "v1.30.0", native: true, sleeps: true, reason: "all have both"},
		"1.31, an old node":           {server: "v1.31.0", kubelet: "v1.28.15", reason: "its pods would stay in Init"},
		"1.32, a node without sleep":  {server: "v1.32.0", kubelet: "v1.29.9", native: true, reason: "it does not know the handler"},
		"1.32, nodes with sleep":      {server: "v1.32.0", kubelet: "v1.31.2", native: true, sleeps: true, reason: "all have both"},
		"1.36, a virtual node":        {server: "v1.36.0", kubelet: "v1.19.10-vk-azure-aci-1.6.0", native: true, sleeps: true, reason: "what is out of the supported skew does not decide for all others"},
		"1.28, newer nodes":           {server: "v1.28.2", kubelet: "v1.30.0", reason: "the API server drops the field"},
		"1.36, a node that says none": {server: "v1.36.0", kubelet: "unknown", native: true, sleeps: true, reason: "the API server decides"},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, logs().Build(), cart())
			s.KubeVersion, s.OldestKubelet = test.server, kubelet(test.kubelet)
			p := decide(t, s).Plans[0]
			require.Equal(t, plan.Inject, p.Change, p.Message())
			container := p.Desired.Container("vector")
			require.Equal(t, test.native, container.RestartPolicy != nil, test.reason)
			require.Equal(t, test.sleeps, container.Lifecycle != nil, test.reason)
		})
	}
}

// The kubelet version changes the input hash only if the rendering depends on it, and it differs from the version that
// the API server suggests.
func TestDecide_IncludesRelevantKubeletInInputHash(t *testing.T) {
	of := func(server, oldest string) string {
		s := snapshot(t, logs().Build(), cart())
		s.KubeVersion, s.OldestKubelet = server, kubelet(oldest)
		return askedHashOf(t, s)
	}
	require.Equal(t, of("v1.36.0", ""), of("v1.36.0", "v1.36.0"), "to let the operator list nodes rolls nothing where nothing depends on them")
	require.Equal(t, of("v1.36.0", ""), of("v1.36.0", "v1.28.0"), "nor does an old node")
	require.Equal(t, of("v1.31.0", ""), of("v1.31.0", "v1.28.9"), "it is what is assumed")
	require.NotEqual(t, of("v1.31.0", ""), of("v1.31.0", "v1.29.0"), "the sidecar becomes native")
	require.Equal(t, of("v1.31.0", "v1.29.0"), of("v1.31.0", "v1.29.7"), "a patch changes nothing")
}

// The templates consider the kubelet version. If the oldest node pool is upgraded, the sidecar is updated. An upgrade
// of the operator alone does not update it.
func TestDecide_UpdatesSidecarAfterNodePoolUpgrade(t *testing.T) {
	deployment := objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Build()
	s := snapshot(t, logs().Build(), deployment)
	s.KubeVersion = "v1.30.4"
	now := s.Platform
	s.Platform = releaseOf(t, map[string]string{`(include "vector-sidecar.kubelet" .)`: ".Capabilities.KubeVersion.Version"}, nil, nil)
	first := decide(t, s)
	require.NotNil(t, first.Plans[0].Desired.Container("vector").RestartPolicy, "as from a release whose templates look at the API server alone")
	done := carryOut(t, s, first, deployment)

	done.Platform = now
	p := decide(t, done).Plans[0]
	require.Equal(t, plan.None, p.Change, "an upgrade of the operator alone rolls nothing: %s", p.Message())
	require.NotEmpty(t, p.Existing.UnchangedHash)

	done.Sidecar = logs().WithEnv("A", "b").Build()
	second := decide(t, done)
	require.Equal(t, plan.Update, second.Plans[0].Change)
	require.Nil(t, second.Plans[0].Desired.Container("vector").RestartPolicy, "with its own next change it is one that every kubelet runs")
	done = carryOut(t, done, second, deployment)
	require.Equal(t, plan.None, decide(t, done).Plans[0].Change)

	done.OldestKubelet = kubelet("v1.29.2")
	third := decide(t, done)
	require.Equal(t, plan.Update, third.Plans[0].Change, "the last old pool is gone")
	require.Contains(t, third.Plans[0].Write.Cause, "oldest kubelet v1.27 → v1.29")
	require.NotNil(t, third.Plans[0].Desired.Container("vector").RestartPolicy)
}

func TestDecide_NamesNodeWithoutNativeSidecarSupport(t *testing.T) {
	for name, test := range map[string]struct {
		kubelet string
		native  string
		named   bool
	}{
		"an old pool":             {kubelet: "v1.28.5", native: "Auto", named: true},
		"an old pool, by request": {kubelet: "v1.28.5", native: "Always", named: true},
		"no native sidecar":       {kubelet: "v1.28.5", native: "Never"},
		"nodes that have them":    {kubelet: "v1.29.0", native: "Auto"},
		"unknown nodes":           {native: "Auto"},
	} {
		t.Run(name, func(t *testing.T) {
			deployment := objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Build()
			s := snapshot(t, logs().Sidecar(func(of *v1alpha1.SidecarSpec) { of.Native = v1alpha1.NativeMode(test.native) }).Build(), deployment)
			done := carryOut(t, s, decide(t, s), deployment)
			require.NotContains(t, decide(t, done).Plans[0].Warning, "kubelet")
			done.OldestKubelet = kubelet(test.kubelet)
			p := decide(t, done).Plans[0]
			require.Equal(t, plan.None, p.Change, "a node changes nothing")
			if !test.named {
				require.NotContains(t, p.Warning, "kubelet")
				return
			}
			require.Contains(t, p.Warning, "kubelet v1.28.5 of node pool-a-1")
		})
	}
}
