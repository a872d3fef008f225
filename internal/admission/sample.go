// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// labelSample is a label that only the sample workload has.
const labelSample = meta.Group + "/sample"

// sampleInput returns a snapshot with one sample workload that the VectorSidecar selects. A VectorSidecar without
// matching workloads can then also be rendered and checked.
func sampleInput(ctx context.Context, s *decision.Input) (*decision.Input, error) {
	sampled := *s
	sampled.Sidecar = s.Sidecar.DeepCopy()
	sampled.Sidecar.Spec.Selector = metav1.LabelSelector{MatchLabels: map[string]string{labelSample: ""}}
	sampled.Others = nil
	application := workload.Container{Name: "app"}
	view := workload.View{
		Ref:        workload.Ref{Kind: workload.Default().Kind, Namespace: s.Sidecar.Namespace, Name: "any"},
		State:      workload.State{Rollout: workload.RolloutComplete, Progress: workload.Progress{Evidence: 1}},
		ObjectView: workload.ObjectView{Labels: map[string]string{labelSample: ""}},
	}
	values, invalid, err := desired.MergeValues(ctx, &s.Inputs)
	if err != nil {
		return nil, err
	}
	if invalid == nil {
		logs := tree.MapAt(values.Tree, "sidecar", "logs")
		if path, _ := logs["path"].(string); path != "" {
			view.Volumes = []workload.Volume{{Name: "logs"}}
			application.Mounts = []corev1.VolumeMount{{Name: "logs", MountPath: path}}
		}
		for _, name := range tree.List(logs["containers"]) {
			if name, _ := name.(string); name != "*" {
				application.Name = cmp.Or(name, application.Name)
			}
		}
	}
	view.Containers = []workload.Container{application}
	sampled.Workloads = []*workloadcache.Record{workloadcache.NewRecordWithView(view)}
	return &sampled, nil
}

// containerName returns the name of the sidecar's container in the merged values, or "" if they have none.
func containerName(ctx context.Context, s *decision.Input) (string, error) {
	values, _, err := desired.MergeValues(ctx, &s.Inputs)
	name, _ := tree.MapAt(values.Tree, "sidecar")["name"].(string)
	return name, err
}
