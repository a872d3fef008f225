// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

const secret = "hunter2"

func TestDecide_ReportsCauseOfWorkloadWrites(t *testing.T) {
	const team = "{{- define \"team\" }}a{{ end }}"
	sets := func(text string) map[string]map[string]string {
		return map[string]map[string]string{"team": {"_team.tpl": text}}
	}
	own := func(text string) objects.ConfigMapSet {
		return only("own", objects.NewConfigMap("own", "shop", "vector.yaml", objects.VectorConfig(text)))
	}
	inform := map[string]string{desired.PolicyKey: overrides}
	for name, test := range map[string]struct {
		before, change func(*Snapshot)
		want           string
	}{
		"the VectorSidecar's spec": {
			change: func(s *Snapshot) { s.Sidecar = logs().WithEnv("A", secret).Build() },
			want:   "values of the VectorSidecar (sidecar.env); in the pods: initContainers[vector].env[A] added",
		},
		"its configuration": {
			before: func(s *Snapshot) { s.Sidecar = logs().WithInlineConfig(objects.VectorConfig("a")).Build() },
			change: func(s *Snapshot) { s.Sidecar = logs().WithInlineConfig(objects.VectorConfig(secret)).Build() },
			want:   "values of the VectorSidecar (sidecar.config.inline); in the pods: volumes[vectorsidecar-vector-config].configMap.name",
		},
		"its image": {
			before: func(s *Snapshot) { s.Sidecar = logs().WithImage("vector:0.56.0").Build() },
			change: func(s *Snapshot) { s.Sidecar = logs().WithImage("vector:0.57.0").Build() },
			want:   "values of the VectorSidecar (sidecar.image); in the pods: initContainers[vector].image vector:0.56.0 → vector:0.57.0",
		},
		"the environment": {change: func(s *Snapshot) { s.DefaultEnvironment = "staging" }, want: "environment development → staging; in the pods: "},
		"the installation's values": {
			change: func(s *Snapshot) {
				s.Platform = given(t, map[string]string{"development.yaml": "sidecar: {logLevel: warn}"}, nil)
			},
			want: "values of the installation (sidecar.logLevel); in the pods: initContainers[vector].env[VECTOR_LOG].value",
		},
		"the policy": {
			change: func(s *Snapshot) {
				s.Platform = given(t, map[string]string{desired.PolicyKey: "users: {min: 1000}"}, nil)
			},
			want: "policy (users.min)",
		},
		"the API server": {change: func(s *Snapshot) { s.KubeVersion = "v1.37.2" }, want: "Kubernetes v1.36 → v1.37"},
		"a template set": {
			before: func(s *Snapshot) { s.Platform = given(t, nil, sets(team)) },
			change: func(s *Snapshot) { s.Sidecar = logs().FromSet("team").Build() },
			want:   "template set default → team",
		},
		"its files": {
			before: func(s *Snapshot) { s.Platform, s.Sidecar = given(t, nil, sets(team)), logs().FromSet("team").Build() },
			change: func(s *Snapshot) { s.Platform = given(t, nil, sets(team+"\n")) },
			want:   "files of the template set (_team.tpl)",
		},
		"the namespace's defaults": {
			before: func(s *Snapshot) { s.Platform = given(t, inform, nil) },
			change: func(s *Snapshot) {
				s.ConfigMaps = only(meta.NamespaceDefaults, objects.NewConfigMap(meta.NamespaceDefaults, "shop", "values.yaml", "sidecar: {logLevel: warn}"))
			},
			want: "values of the namespace (sidecar.logLevel); in the pods: initContainers[vector].env[VECTOR_LOG].value",
		},
		"the workload's annotations": {
			before: func(s *Snapshot) { s.Platform = given(t, inform, nil) },
			change: func(s *Snapshot) {
				change(s, func(v *workload.View) { v.Overrides = map[string]string{"sidecar.threads": "3"} })
			},
			want: "values in the workload's annotations (sidecar.threads); in the pods: initContainers[vector].env[VECTOR_THREADS] added",
		},
		"the configuration referred to": {
			before: func(s *Snapshot) {
				s.Sidecar, s.ConfigMaps = logs().WithConfigMap("own", "vector.yaml").Build(), own("a")
			},
			change: func(s *Snapshot) { s.ConfigMaps = own(secret) },
			want:   "Vector configuration (vector.yaml); in the pods: volumes[vectorsidecar-vector-config].configMap.name",
		},
		"the containers, where they are looked at": {
			before: func(s *Snapshot) { s.Sidecar = logs().WithLogs("/var/log/app").Build() },
			change: func(s *Snapshot) {
				change(s, func(v *workload.View) { v.Containers[1].Ports = []corev1.ContainerPort{{ContainerPort: 9999}} })
			},
			want: "fields of the workload (containers)",
		},
		"a change of its own, by another release": {
			change: func(s *Snapshot) {
				s.Version, s.Platform, s.Sidecar = "1.1.0", releaseOf(t, nextRelease, nil, nil), logs().WithValues(map[string]any{"team": secret}).Build()
			},
			want: "values of the VectorSidecar (values.team); operator 1.0.0 → 1.1.0; in the pods: initContainers[vector].env[VECTOR_LOG].value, initContainers[vector].terminationMessagePolicy",
		},
		"another label": {change: func(s *Snapshot) { change(s, func(v *workload.View) { v.Labels = nil }) }, want: "VectorSidecar logs no longer selects the workload"},
		"switched off":  {change: func(s *Snapshot) { s.Sidecar = logs().Disabled().Build() }, want: "spec.enabled of VectorSidecar logs is false"},
		"deleted":       {change: func(s *Snapshot) { s.Sidecar = logs().Build(); s.Sidecar.DeletionTimestamp = ptr.To(metav1.Now()) }, want: "VectorSidecar logs is deleted"},
		"opted out":     {change: func(s *Snapshot) { change(s, func(v *workload.View) { v.OptOut = `"no"` }) }, want: "the workload's annotation " + meta.AnnotationInject + ` is "no"`},
		"taken up again": {change: func(s *Snapshot) {
			change(s, func(v *workload.View) { v.Owned, v.Containers = nil, v.Containers[1:]; v.Volumes = nil })
		}, want: "VectorSidecar logs selects the workload"},
	} {
		t.Run(name, func(t *testing.T) {
			deployment := objects.NewDeployment("cart", "shop").Labeled("logs", "vector").WithEmptyDir("logs", "/var/log/app").Build()
			s := snapshot(t, logs().Build(), deployment)
			s.Version = "1.0.0"
			if test.before != nil {
				test.before(s)
			}
			s = carryOut(t, s, decide(t, s), deployment)
			require.Equal(t, plan.None, decide(t, s).Plans[0].Change)
			test.change(s)

			p := decide(t, s).Plans[0]

			require.True(t, p.Writes(), p.Message())
			require.True(t, strings.HasPrefix(p.Write.Cause, test.want), p.Write.Cause)
			require.Equal(t, strings.HasSuffix(test.want, ": "), p.Write.Cause != test.want, p.Write.Cause)
			text, err := json.Marshal(tree.MapAt(p.Write.Apply, "metadata", "annotations"))
			require.NoError(t, err)
			require.NotContains(t, string(text)+p.Write.Cause, secret)
		})
	}
}
