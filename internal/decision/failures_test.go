// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A decision lists up to five failures, with escaped and shortened messages. An invalid template is one of them.
func TestDecision_ListsFirstFailures(t *testing.T) {
	d := &Decision{Plans: []plan.Plan{{Target: workload.Ref{Kind: "Deployment", Namespace: "shop", Name: "well"}}}}
	require.Empty(t, d.Failures(logs()))
	for n := range 7 {
		d.Plans = append(d.Plans, plan.Plan{
			Target: workload.Ref{Kind: "Deployment", Namespace: "shop", Name: fmt.Sprint("app-", n)}, Rollout: plan.Rollout{
				Reason: meta.ReasonCrashLoopBackOff, Message: "container vector\x1b[31m of pod " + strings.Repeat("ä", 300), SidecarFailed: true, Container: "vector",
			},
		})
	}
	failures := d.Failures(logs())
	require.Len(t, failures, 5)
	first := failures[0]
	require.LessOrEqual(t, len(first.Message), 256)
	require.NotContains(t, first.Message, "\x1b")
	first.Message = ""
	require.Equal(t, v1alpha1.RolloutFailure{Namespace: "shop", Kind: "Deployment", Name: "app-0", Reason: meta.ReasonCrashLoopBackOff, Container: "vector"}, first)

	d.Invalid = &desired.Invalid{Reason: meta.ReasonInvalidTemplate, Message: "templates/podtemplate.yaml:3: no such key"}
	require.Equal(t, v1alpha1.RolloutFailure{
		Namespace: "shop", Kind: "VectorSidecar", Name: "logs", Reason: meta.ReasonInvalidTemplate, Message: d.Invalid.Message,
	}, d.Failures(logs())[0])
	d.Invalid.Message = strings.Repeat("no such key ", 30) + "(set/templates/_container.tpl:9:13, from set/templates/podtemplate.yaml:50:11)"
	require.Regexp(t, "^set/templates/_container.tpl:9:13: no such key no .* …$", d.Failures(logs())[0].Message)
	d.Invalid.Message = "templates/podtemplate.yaml:3: no such key"
	ofCluster := objects.NewVectorSidecar(meta.ClusterSidecarName("all"), "shop").Build()
	require.Equal(t, "ClusterVectorSidecar shop/all failed with revision : InvalidTemplate: "+d.Invalid.Message, new(d.Failures(ofCluster)[0]).Text())
}
