// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package source takes the snapshot that a decision is made on, for the operator and for
// those who preview what it does by the same code: from the operator's cache, from a
// cluster, or from files. It reads and does not judge.
package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/catalog"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/evaluate"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Source is where a snapshot is taken from. What is forbidden or cannot be reached is an
// error, and not an answer that there is nothing.
type Source interface {
	ConfigMaps

	// NamespaceLabels are the labels of a namespace, nil if it does not exist.
	NamespaceLabels(ctx context.Context, namespace string) (map[string]string, error)
	// Workloads are those that the selector of a VectorSidecar matches, and those that
	// carry something of it. A selector that cannot be read matches nothing here; the
	// decision says so.
	Workloads(ctx context.Context, sidecar *v1alpha1.VectorSidecar) ([]*workloadcache.Record, error)
	// Sidecars are at least the VectorSidecars of a namespace that select one of some
	// workloads.
	Sidecars(ctx context.Context, namespace string, workloads []*workloadcache.Record) ([]v1alpha1.VectorSidecar, error)
	// Companions are the ConfigMaps made for a VectorSidecar, with their content or with
	// a digest in its place. They must not be changed.
	Companions(ctx context.Context, sidecar *v1alpha1.VectorSidecar) ([]corev1.ConfigMap, error)
}

// Taker takes snapshots. Source, Platform, DefaultEnvironment and KubeVersion are required.
type Taker struct {
	Source
	// Platform is what the platform team gives.
	Platform *catalog.Platform
	// DefaultEnvironment, DefaultFrom, KubeVersion, WrittenBy, Version and Budget are as
	// in a evaluate.Snapshot.
	DefaultEnvironment, DefaultFrom, KubeVersion, WrittenBy, Version string
	Budget                                                           *bounded.Budget
	// DefaultAssumed says why DefaultEnvironment is no more than assumed, "" if it is
	// known. What the operator reports of a namespace is better then.
	DefaultAssumed string
	// Now is the time. Who does not ask how far rollouts are can leave it out.
	Now time.Time
}

// Take takes the snapshot of the world of one VectorSidecar, with the namespace's defaults
// and without the ConfigMaps that values refer to, which Decide adds. What cannot be read is
// an error, with one exception: where the labels of its namespace may not be read, the
// environment is the one that the operator reports.
func (t *Taker) Take(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (*evaluate.Snapshot, error) {
	namespaceLabels, err := t.NamespaceLabels(ctx, sidecar.Namespace)
	unread := apierrors.IsForbidden(err)
	if err != nil && !unread {
		return nil, err
	}
	workloads, err := t.Workloads(ctx, sidecar)
	if err != nil {
		return nil, err
	}
	sidecars, err := t.Sidecars(ctx, sidecar.Namespace, workloads)
	if err != nil {
		return nil, err
	}
	companions, err := t.Companions(ctx, sidecar)
	if err != nil {
		return nil, err
	}
	taken := &evaluate.Snapshot{
		Inputs: desired.Inputs{
			Sidecar: sidecar, NamespaceLabels: namespaceLabels, Platform: t.Platform,
			DefaultEnvironment: t.DefaultEnvironment, DefaultFrom: t.DefaultFrom,
			KubeVersion: t.KubeVersion, WrittenBy: t.WrittenBy, Version: t.Version, Budget: t.Budget,
		},
		Workloads: workloads, Companions: companions, Now: t.Now,
	}
	switch why := t.DefaultAssumed; {
	case unread && t.DefaultFrom == "":
		assumeEnvironment(taken, sidecars, fmt.Sprintf("the labels of namespace %s may not be read", sidecar.Namespace))
	case why != "" && namespaceLabels[meta.LabelEnvironment] == "":
		assumeEnvironment(taken, sidecars, why)
	}
	taken.Others = competitors(sidecar, sidecars, workloads)
	return taken, Read(ctx, taken, t, []string{meta.NamespaceDefaults})
}

// competitors are the other VectorSidecars that select one of the workloads, the oldest
// first. It makes them of the list given.
func competitors(sidecar *v1alpha1.VectorSidecar, sidecars []v1alpha1.VectorSidecar, workloads []*workloadcache.Record) []v1alpha1.VectorSidecar {
	others := slices.DeleteFunc(sidecars, func(other v1alpha1.VectorSidecar) bool {
		if other.Name == sidecar.Name {
			return true
		}
		selector, err := metav1.LabelSelectorAsSelector(&other.Spec.Selector)
		matches := func(record *workloadcache.Record) bool { return selector.Matches(record.Labels()) }
		return err != nil || !slices.ContainsFunc(workloads, matches)
	})
	slices.SortFunc(others, func(a, b v1alpha1.VectorSidecar) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return others
}

// assumeEnvironment takes for the default environment the one that the operator reports of
// a VectorSidecar of the namespace that names none itself, because of why.
func assumeEnvironment(taken *evaluate.Snapshot, sidecars []v1alpha1.VectorSidecar, why string) {
	taken.DefaultFrom = "an assumption: " + why
	for _, one := range append([]v1alpha1.VectorSidecar{*taken.Sidecar}, sidecars...) {
		if one.Spec.Environment == "" && one.Status.Environment != "" {
			taken.DefaultEnvironment = one.Status.Environment
			taken.DefaultFrom = fmt.Sprintf("the status of VectorSidecar %s: %s", one.Name, why)
			return
		}
	}
}
