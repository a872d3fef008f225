// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package source takes the snapshot that a decision is made on, from whatever
// can be read like a cluster: an API server, or files. It reads and does not judge.
// The loop has records of its own, and takes its snapshots from those.
package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/catalog"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/evaluate"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// IndexManager is the index, which the reader must have, that finds Deployments
// by the field managers of the operator that own something in them.
const IndexManager = "manager"

// Taker takes snapshots. Reader, Platform, DefaultEnvironment and KubeVersion are required.
type Taker struct {
	// Reader reads the world. A cache has to have IndexManager.
	Reader client.Reader
	// Platform is what the platform team gives.
	Platform *catalog.Platform
	// DefaultEnvironment, DefaultFrom, KubeVersion and WrittenBy are as in a
	// evaluate.Snapshot.
	DefaultEnvironment, DefaultFrom, KubeVersion, WrittenBy string
	// DefaultAssumed says why DefaultEnvironment is no more than assumed, "" if it is
	// known. What the operator reports of a namespace is better then.
	DefaultAssumed string
	// Now is the time. Who does not ask how far rollouts are can leave it out.
	Now time.Time
}

// Take takes the snapshot of the world of one VectorSidecar. What cannot be read is an
// error, with one exception: where the labels of its namespace may not be read, the
// environment is the one that the operator reports.
func (t *Taker) Take(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (*evaluate.Snapshot, error) {
	namespaceLabels, err := t.namespaceLabels(ctx, sidecar.Namespace)
	unread := apierrors.IsForbidden(err)
	if err != nil && !unread {
		return nil, err
	}
	others, err := t.others(ctx, sidecar)
	if err != nil {
		return nil, err
	}
	workloads, err := t.workloads(ctx, sidecar)
	if err != nil {
		return nil, err
	}
	companions, err := Companions(ctx, t.Reader, sidecar)
	if err != nil {
		return nil, err
	}
	defaults, err := t.ConfigMap(ctx, types.NamespacedName{Namespace: sidecar.Namespace, Name: meta.NamespaceDefaults})
	if err != nil {
		return nil, err
	}
	taken := &evaluate.Snapshot{
		Inputs: desired.Inputs{
			Sidecar:            sidecar,
			NamespaceLabels:    namespaceLabels,
			ConfigMaps:         map[string]*corev1.ConfigMap{meta.NamespaceDefaults: defaults},
			Platform:           t.Platform,
			DefaultEnvironment: t.DefaultEnvironment,
			DefaultFrom:        t.DefaultFrom,
			KubeVersion:        t.KubeVersion,
			WrittenBy:          t.WrittenBy,
		},
		Workloads:  workloads,
		Others:     others,
		Companions: companions,
		Now:        t.Now,
	}
	switch why := t.DefaultAssumed; {
	case unread && t.DefaultFrom == "":
		assumeEnvironment(taken, fmt.Sprintf("the labels of namespace %s may not be read", sidecar.Namespace))
	case why != "" && namespaceLabels[meta.LabelEnvironment] == "":
		assumeEnvironment(taken, why)
	}
	return taken, nil
}

// assumeEnvironment takes for the default environment the one that the operator reports of
// a VectorSidecar of the namespace that names none itself, because of why.
func assumeEnvironment(taken *evaluate.Snapshot, why string) {
	taken.DefaultFrom = "an assumption: " + why
	for _, one := range append([]v1alpha1.VectorSidecar{*taken.Sidecar}, taken.Others...) {
		if one.Spec.Environment == "" && one.Status.Environment != "" {
			taken.DefaultEnvironment = one.Status.Environment
			taken.DefaultFrom = fmt.Sprintf("the status of VectorSidecar %s: %s", one.Name, why)
			return
		}
	}
}

func (t *Taker) namespaceLabels(ctx context.Context, name string) (map[string]string, error) {
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := client.IgnoreNotFound(t.Reader.Get(ctx, types.NamespacedName{Name: name}, namespace)); err != nil {
		return nil, fmt.Errorf("reading namespace %s: %w", name, err)
	}
	return namespace.Labels, nil
}

// others lists the other VectorSidecars of the namespace, the oldest first.
func (t *Taker) others(ctx context.Context, sidecar *v1alpha1.VectorSidecar) ([]v1alpha1.VectorSidecar, error) {
	var found v1alpha1.VectorSidecarList
	if err := t.Reader.List(ctx, &found, client.InNamespace(sidecar.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing VectorSidecars: %w", err)
	}
	others := slices.DeleteFunc(found.Items, func(other v1alpha1.VectorSidecar) bool { return other.Name == sidecar.Name })
	slices.SortFunc(others, func(a, b v1alpha1.VectorSidecar) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return others, nil
}

// workloads lists those that the selector matches and those that carry the sidecar. A
// selector that cannot be read matches nothing here; the decision says so.
func (t *Taker) workloads(ctx context.Context, sidecar *v1alpha1.VectorSidecar) ([]*workloadcache.Record, error) {
	inNamespace := client.InNamespace(sidecar.Namespace)
	lists := [][]client.ListOption{{inNamespace, client.MatchingFields{IndexManager: meta.Manager(sidecar.Name)}}}
	if selector, err := metav1.LabelSelectorAsSelector(&sidecar.Spec.Selector); err == nil {
		lists = append(lists, []client.ListOption{inNamespace, client.MatchingLabelsSelector{Selector: selector}})
	}
	var records []*workloadcache.Record
	seen := map[string]bool{}
	for _, options := range lists {
		var found appsv1.DeploymentList
		if err := t.Reader.List(ctx, &found, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
			return nil, fmt.Errorf("listing Deployments: %w", err)
		}
		for i := range found.Items {
			if deployment := &found.Items[i]; !seen[deployment.Name] {
				seen[deployment.Name] = true
				records = append(records, workloadcache.RecordOf(deployment))
			}
		}
	}
	return records, nil
}

// Companions lists the ConfigMaps made for a VectorSidecar. They must not be
// changed.
func Companions(ctx context.Context, reader client.Reader, sidecar *v1alpha1.VectorSidecar) ([]corev1.ConfigMap, error) {
	var found corev1.ConfigMapList
	labels := client.MatchingLabels{meta.LabelSidecar: meta.LabelValue(sidecar.Name)}
	if err := reader.List(ctx, &found, client.InNamespace(sidecar.Namespace), labels, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing companions: %w", err)
	}
	return slices.DeleteFunc(found.Items, func(object corev1.ConfigMap) bool {
		return !companion.IsOf(&object, sidecar)
	}), nil
}

// ConfigMap reads a ConfigMap, nil if there is none.
func (t *Taker) ConfigMap(ctx context.Context, name types.NamespacedName) (*corev1.ConfigMap, error) {
	object := &corev1.ConfigMap{}
	switch err := t.Reader.Get(ctx, name, object); {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // What is not there is no error.
	case err != nil:
		return nil, fmt.Errorf("reading ConfigMap %s: %w", name, err)
	}
	return object, nil
}
