// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// IndexManager is the name of an index that the client of a Reader must have. It finds workloads by the operator's
// field managers that own fields in them.
const IndexManager = "manager"

// Reader is a Source that lists and gets objects from an API server or an ObjectOverlay.
type Reader struct{ client.Reader }

// Namespace reads the metadata of the namespace.
func (r Reader) Namespace(ctx context.Context, name string) (Namespace, error) {
	namespace := clusterwide.NewNamespaceMetadata("")
	if err := client.IgnoreNotFound(r.Get(ctx, types.NamespacedName{Name: name}, namespace)); err != nil {
		return Namespace{}, fmt.Errorf("reading namespace %s: %w", name, err)
	}
	return NewNamespace(namespace), nil
}

// Sidecars returns the VectorSidecars of the namespace, the oldest first.
func (r Reader) Sidecars(ctx context.Context, namespace string, _ []*workloadcache.Record) ([]v1alpha1.VectorSidecar, error) {
	var list v1alpha1.VectorSidecarList
	if err := r.List(ctx, &list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing VectorSidecars: %w", err)
	}
	slices.SortFunc(list.Items, func(a, b v1alpha1.VectorSidecar) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return list.Items, nil
}

// Scopes returns the scopes of the ClusterVectorSidecars.
func (r Reader) Scopes(ctx context.Context) (desired.ParentScopes, error) {
	var list v1alpha1.ClusterVectorSidecarList
	if err := r.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("listing ClusterVectorSidecars: %w", err)
	}
	return clusterwide.NewParentScopes(list.Items), nil
}

// Workloads returns the workloads that the selector matches, and the workloads that have the sidecar. An invalid
// selector matches nothing, and the decision reports it.
func (r Reader) Workloads(ctx context.Context, sidecar *v1alpha1.VectorSidecar) ([]*workloadcache.Record, error) {
	inNamespace := client.InNamespace(sidecar.Namespace)
	lists := [][]client.ListOption{{inNamespace, client.MatchingFields{IndexManager: meta.Manager(sidecar.Name)}}}
	if selector, err := metav1.LabelSelectorAsSelector(&sidecar.Spec.Selector); err == nil {
		lists = append(lists, []client.ListOption{inNamespace, client.MatchingLabelsSelector{Selector: selector}})
	}
	var records []*workloadcache.Record
	listed := map[workload.Ref]bool{}
	for _, options := range lists {
		for _, kind := range workload.Kinds() {
			list := kind.NewList()
			if err := r.List(ctx, list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
				return nil, fmt.Errorf("listing %s: %w", kind.Plural, err)
			}
			for _, object := range workload.Items(list) {
				if ref := workload.NewRef(object); !listed[ref] {
					listed[ref] = true
					records = append(records, workloadcache.NewRecord(object))
				}
			}
		}
	}
	return r.addRunners(ctx, sidecar, records)
}

// addRunners handles workloads with pods that another workload, the runner, runs, such as an Argo Rollout with a
// workloadRef. It sets their rollout state to the state of the runner, and adds them if the VectorSidecar selects the
// runner's labels.
func (r Reader) addRunners(ctx context.Context, sidecar *v1alpha1.VectorSidecar, records []*workloadcache.Record) ([]*workloadcache.Record, error) {
	selector, _ := workload.NewSelector(sidecar) // An invalid selector selects nothing.
	for _, kind := range workload.Kinds() {
		if !kind.Traits.Refers {
			continue
		}
		list := kind.NewList()
		if err := r.List(ctx, list, client.InNamespace(sidecar.Namespace), client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("listing %s: %w", kind.Plural, err)
		}
		for _, object := range workload.Items(list) {
			content, _ := workload.Read(object)
			runner := workloadcache.NewRecord(object)
			reference := content.Refers
			if reference == nil {
				continue
			}
			i := slices.IndexFunc(records, func(record *workloadcache.Record) bool {
				return record.Kind == reference.Kind && record.Name == reference.Name
			})
			switch {
			case i >= 0:
				records[i] = records[i].RunBy(runner)
			case selector.MatchesLabels(runner.Labels()):
				joined, err := r.withRunner(ctx, runner, reference)
				if err != nil {
					return nil, err
				}
				if joined != nil {
					records = append(records, joined)
				}
			}
		}
	}
	return records, nil
}

// withRunner returns the workload that a runner refers to, with the rollout state of the runner. It returns nil if the
// workload does not exist.
func (r Reader) withRunner(ctx context.Context, runner *workloadcache.Record, reference *workload.Reference) (*workloadcache.Record, error) {
	kind := workload.KindByName(reference.Kind)
	if kind == nil {
		return nil, nil //nolint:nilnil // Its kind cannot have a sidecar.
	}
	object := kind.New()
	switch err := r.Get(ctx, types.NamespacedName{Namespace: runner.Namespace, Name: reference.Name}, object); {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // A missing object is not an error.
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", reference, err)
	}
	return workloadcache.NewRecord(object).RunBy(runner), nil
}

// Companions returns the ConfigMaps made for a VectorSidecar.
func (r Reader) Companions(ctx context.Context, sidecar *v1alpha1.VectorSidecar) ([]corev1.ConfigMap, error) {
	var list corev1.ConfigMapList
	labels := client.MatchingLabels{meta.LabelSidecar: meta.LabelValue(sidecar.Name)}
	if err := r.List(ctx, &list, client.InNamespace(sidecar.Namespace), labels, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing companions: %w", err)
	}
	return slices.DeleteFunc(list.Items, func(object corev1.ConfigMap) bool {
		return !companion.IsOwnedBy(&object, sidecar)
	}), nil
}

// GetConfigMap reads a ConfigMap. It returns nil if the ConfigMap does not exist.
func (r Reader) GetConfigMap(ctx context.Context, name types.NamespacedName) (*corev1.ConfigMap, error) {
	object := &corev1.ConfigMap{}
	switch err := r.Get(ctx, name, object); {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // A missing object is not an error.
	case err != nil:
		return nil, fmt.Errorf("reading ConfigMap %s: %w", name, err)
	}
	return object, nil
}

// GetServiceAccount reads a ServiceAccount.
func (r Reader) GetServiceAccount(ctx context.Context, name types.NamespacedName) (*workload.Account, error) {
	object := &corev1.ServiceAccount{}
	switch err := r.Get(ctx, name, object); {
	case apierrors.IsNotFound(err):
		return workload.MissingAccount(), nil
	case apierrors.IsForbidden(err):
		return &workload.Account{Unread: "no permission to read the ServiceAccount", IsForbidden: true}, nil
	case err != nil:
		return nil, fmt.Errorf("reading ServiceAccount %s: %w", name, err)
	}
	return newAccount(object), nil
}

// largestPullSecrets is the maximum size of the pull secrets of a ServiceAccount in bytes, because callers cache them.
const largestPullSecrets = 8 << 10

// newAccount returns the used fields of a ServiceAccount.
func newAccount(object *corev1.ServiceAccount) *workload.Account {
	if size := bounded.Footprint(object.ImagePullSecrets); size > largestPullSecrets {
		return &workload.Account{Unread: fmt.Sprintf("the ServiceAccount has %d KiB of pull secrets, and at most %d KiB are read", size>>10, largestPullSecrets>>10)}
	}
	account := &workload.Account{}
	for _, secret := range object.ImagePullSecrets {
		account.PullSecrets = append(account.PullSecrets, secret.Name)
	}
	return account
}
