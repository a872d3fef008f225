// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// typicalName is the name of the sample workload, which is not in the files, and of its container.
const typicalName = "sample"

// addApplication adds a sample workload to a snapshot without workloads, so that problems are found that occur only
// in a pod. It does nothing if the VectorSidecar's selector cannot select any workload.
func addApplication(ctx context.Context, snapshot *decision.Input) error {
	selector, err := metav1.LabelSelectorAsSelector(&snapshot.Sidecar.Spec.Selector)
	if len(snapshot.Workloads) > 0 || err != nil || selector.Empty() != snapshot.Sidecar.Spec.MatchAll {
		return nil //nolint:nilerr // The decision reports an invalid selector.
	}
	values, invalid, err := desired.MergeValues(ctx, &snapshot.Inputs)
	if err != nil || invalid != nil {
		return err
	}
	object := typicalWorkload(tree.MapAt(values.Tree, "sidecar", "logs"))
	object.SetNamespace(snapshot.Sidecar.Namespace)
	snapshot.Workloads = []*workloadcache.Record{workloadcache.NewRecord(object)}
	// The workload is selected regardless of its labels.
	sidecar := snapshot.Sidecar.DeepCopy()
	sidecar.Spec.Selector, sidecar.Spec.MatchAll = metav1.LabelSelector{}, true
	snapshot.Sidecar = sidecar
	return nil
}

// typicalWorkload returns a sample workload that matches the values of sidecar.logs. It has the containers that the
// values name, or a volume at the path of the application's logs.
func typicalWorkload(logs map[string]any) workload.Object {
	object := workload.Default().New()
	object.SetName(typicalName)
	pod := &workload.PodTemplate(object).Spec
	for _, name := range tree.List(logs["containers"]) {
		if name, isText := name.(string); isText && name != "*" {
			pod.Containers = append(pod.Containers, corev1.Container{Name: name, Image: typicalName})
		}
	}
	if len(pod.Containers) == 0 {
		pod.Containers = []corev1.Container{{Name: typicalName, Image: typicalName}}
	}
	path, _ := logs["path"].(string)
	if path != "" && len(tree.List(logs["containers"])) == 0 {
		pod.Volumes = []corev1.Volume{{Name: typicalName, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		pod.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: typicalName, MountPath: path}}
	}
	return object
}
