// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package waves

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
)

// memberReader reads the members of the waves. A VectorSidecar or ClusterVectorSidecar that is being deleted is not a
// member, because a deletion may take any time.
type memberReader struct {
	options  *Options
	platform *desired.Platform
	// progress is the progress of reconciles that is not in the statuses.
	progress map[types.NamespacedName]state.WaveProgress
	// labels are the labels of namespaces that have been read.
	labels map[string]map[string]string

	// names are the names of all members. statuses are their statuses, without members that have none yet.
	names    []types.NamespacedName
	statuses []fleet.MemberStatus
	// err is the last error of reading a namespace. The VectorSidecars of that namespace are not in statuses.
	err error
}

// addSidecars adds the VectorSidecars.
func (m *memberReader) addSidecars(ctx context.Context) {
	sidecars := m.options.Sidecars.Sidecars(ctx)
	for i := range sidecars {
		sidecar := &sidecars[i]
		if sidecar.DeletionTimestamp != nil {
			continue
		}
		m.names = append(m.names, client.ObjectKeyFromObject(sidecar))
		labels, err := m.namespaceLabels(ctx, sidecar.Namespace)
		if err != nil {
			m.err = err
			continue
		}
		m.add(sidecar, m.platform.WaveFor(&sidecar.Spec, labels, m.options.DefaultEnvironment), m.options.Memory.Rollout(sidecar))
	}
}

// addClusters adds the ClusterVectorSidecars, each once for each wave that has one of its namespaces. The namespaces of
// an invalid selector are unknown, and other VectorSidecars do not wait for them.
func (m *memberReader) addClusters(ctx context.Context) {
	for _, cluster := range m.options.Sidecars.Clusters(ctx) {
		namespaces, err := m.options.Sidecars.NamespacesByWave(ctx, &cluster, m.options.DefaultEnvironment, m.platform)
		if err != nil || cluster.DeletionTimestamp != nil {
			continue
		}
		m.names = append(m.names, clusterwide.ClusterKey(cluster.Name))
		for wave := range namespaces {
			m.add(&cluster, wave, m.platform.Rollout.LastStatus(cluster.Status.Waves, wave))
		}
	}
}

// add adds the status of the last name in a wave, if it has one.
func (m *memberReader) add(object client.Object, wave int, status *v1alpha1.RolloutStatus) {
	if status == nil {
		return
	}
	member := fleet.MemberStatus{Name: m.names[len(m.names)-1], Member: fleet.WaveMember{Wave: wave}, Status: status}
	m.platform.Target.ReadAnnotations(&member.Member, object.GetAnnotations())
	progress := m.progress[member.Name]
	member.Member.MaxAgeTime = progress.MaxAgeTimes[m.platform.Rollout.WaveName(wave)]
	member.IsOutdated = progress.Generation != 0 && progress.Generation != object.GetGeneration()
	m.statuses = append(m.statuses, member)
}

// namespaceLabels returns the labels of a namespace.
func (m *memberReader) namespaceLabels(ctx context.Context, namespace string) (map[string]string, error) {
	if labels, ok := m.labels[namespace]; ok {
		return labels, nil
	}
	labels, err := m.options.NamespaceLabels(ctx, namespace)
	if err == nil {
		m.labels[namespace] = labels
	}
	return labels, err
}
