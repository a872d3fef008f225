// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/evaluate"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// observe takes the snapshot, from the cache alone but for pods of workloads that are
// not settled. It has the ConfigMaps that the decision before depended on.
func (r *Reconciler) observe(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (taken *evaluate.Snapshot, err error) {
	ctx, observing := r.begin(ctx, "observe")
	defer func() { observing.end(err) }()
	known := r.memory.Of(client.ObjectKeyFromObject(sidecar))
	if taken, err = r.snapshot(ctx, sidecar, known); err != nil {
		return nil, err
	}
	isThere := func(name string) bool {
		return slices.ContainsFunc(taken.Companions, func(c corev1.ConfigMap) bool { return c.Name == name })
	}
	if err := source.Read(ctx, taken, noted{r, known}, slices.DeleteFunc(known.References(), isThere)); err != nil {
		return nil, err
	}
	taken.Taken = known.Adopted()
	if r.options.ReadPods {
		taken.Faults = r.pods.look(ctx, known, meta.Manager(sidecar.Name), taken.Workloads)
	}
	return taken, nil
}

// snapshot puts together what is remembered and what is in the cache, without any
// ConfigMaps that something refers to.
func (r *Reconciler) snapshot(ctx context.Context, sidecar *v1alpha1.VectorSidecar, known *state.Sidecar) (*evaluate.Snapshot, error) {
	namespaceLabels, err := r.namespaces.of(ctx, sidecar.Namespace)
	if err != nil {
		return nil, err
	}
	loops, _ := known.Loops()
	workloads := r.workloads(sidecar, known)
	companions, err := source.Companions(ctx, r.client, sidecar)
	if err != nil {
		return nil, err
	}
	given, err := r.platform(ctx)
	if err != nil {
		return nil, err
	}
	var verdict func(string) decision.Verdict
	if r.options.ValidationJobs {
		verdict = known.Verdict
	}
	return &evaluate.Snapshot{
		Inputs: desired.Inputs{
			Sidecar:            sidecar,
			NamespaceLabels:    namespaceLabels,
			Platform:           given,
			DefaultEnvironment: r.options.DefaultEnvironment,
			KubeVersion:        r.options.KubeVersion,
			WrittenBy:          r.options.WrittenBy,
			Version:            r.options.Version,
			Budget:             r.options.Budget,
		},
		Workloads:  workloads,
		Others:     r.others(ctx, sidecar, workloads),
		Companions: companions,
		Verdict:    verdict,
		Started:    known.Generation,
		Loops:      loops,
		Now:        r.now(),
	}, nil
}

// others lists the other VectorSidecars that may select one of the workloads, the
// oldest first.
func (r *Reconciler) others(ctx context.Context, sidecar *v1alpha1.VectorSidecar, workloads []*workloadcache.Record) []v1alpha1.VectorSidecar {
	labelsOf := func(n int) iter.Seq2[string, string] { return workloads[n].Labels().All() }
	found := r.selecting(ctx, sidecar.Namespace, len(workloads), labelsOf)
	others := slices.DeleteFunc(found, func(other v1alpha1.VectorSidecar) bool { return other.UID == sidecar.UID })
	slices.SortFunc(others, func(a, b v1alpha1.VectorSidecar) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return others
}

// workloads lists those that the selector matches, those that carry the sidecar,
// and those that were written to and may still be rolling out. A selector that
// cannot be read matches nothing here; the decision says so.
func (r *Reconciler) workloads(sidecar *v1alpha1.VectorSidecar, known *state.Sidecar) []*workloadcache.Record {
	selector, err := metav1.LabelSelectorAsSelector(&sidecar.Spec.Selector)
	if err != nil {
		selector = labels.Nothing()
	}
	var records []*workloadcache.Record
	for _, record := range r.fleet.WithLabels(sidecar.Namespace, selectorKeys(sidecar)) {
		if selector.Matches(record.Labels()) {
			records = append(records, record)
		}
	}
	for _, record := range r.fleet.OfManager(sidecar.Namespace, meta.Manager(sidecar.Name)) {
		if !selector.Matches(record.Labels()) {
			records = append(records, record)
		}
	}
	for _, target := range known.Besides(func(n int) types.UID { return records[n].UID }, len(records)) {
		if record := r.fleet.Get(target.Kind, target.Namespace, target.Name); record != nil && record.UID == target.UID {
			records = append(records, record)
		}
	}
	return records
}

// noted reads the ConfigMaps that a VectorSidecar refers to. The reference is noted first,
// so that no change of the ConfigMap is missed.
type noted struct {
	*Reconciler
	by *state.Sidecar
}

// ConfigMap reads one, nil if there is none.
func (n noted) ConfigMap(ctx context.Context, name types.NamespacedName) (*corev1.ConfigMap, error) {
	n.by.Refer(name.Name)
	cached := &corev1.ConfigMap{}
	if err := n.client.Get(ctx, name, cached); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return n.contents.of(ctx, cached)
}
