// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// ReadRevision reads what an installation gave out as a revision. installation is the ConfigMap
// of its values. The error is a *fleet.RecordError if there is none, or none that can be used.
func ReadRevision(ctx context.Context, cluster client.Reader, installation types.NamespacedName, revision string) (*fleet.Content, error) {
	return fleet.ReadContent(installation.Name, revision, func(name string) (*appsv1.ControllerRevision, error) {
		found := &appsv1.ControllerRevision{}
		if err := cluster.Get(ctx, types.NamespacedName{Namespace: installation.Namespace, Name: name}, found); err != nil {
			if client.IgnoreNotFound(err) == nil {
				return nil, nil //nolint:nilnil // As fleet.ReadContent wants it.
			}
			return nil, fmt.Errorf("reading ControllerRevision %s/%s: %w", installation.Namespace, name, err)
		}
		return found, nil
	})
}

// Revisions returns the ControllerRevisions of the revisions that an installation gave out and that
// are stored, the last one first.
func Revisions(ctx context.Context, cluster client.Reader, installation types.NamespacedName) ([]appsv1.ControllerRevision, error) {
	var found appsv1.ControllerRevisionList
	if err := cluster.List(ctx, &found, client.InNamespace(installation.Namespace), client.HasLabels{meta.LabelRevision}); err != nil {
		return nil, fmt.Errorf("listing the stored revisions: %w", err)
	}
	all := slices.DeleteFunc(found.Items, func(one appsv1.ControllerRevision) bool {
		return one.Name != fleet.RecordName(installation.Name, one.Labels[meta.LabelRevision])
	})
	slices.SortFunc(all, func(a, b appsv1.ControllerRevision) int {
		return cmp.Or(cmp.Compare(b.Revision, a.Revision), cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

// RevisionParts returns the ControllerRevisions of parts of an installation's revisions, as
// metadata. owner is the UID of the ConfigMap of its values.
func RevisionParts(ctx context.Context, cluster client.Reader, namespace string, owner types.UID) ([]metav1.PartialObjectMetadata, error) {
	found := &metav1.PartialObjectMetadataList{}
	found.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("ControllerRevisionList"))
	if err := cluster.List(ctx, found, client.InNamespace(namespace), client.HasLabels{meta.LabelRevisionPart}); err != nil {
		return nil, fmt.Errorf("listing the parts of stored revisions: %w", err)
	}
	isOthers := func(one metav1.PartialObjectMetadata) bool {
		return !slices.ContainsFunc(one.OwnerReferences, func(by metav1.OwnerReference) bool { return by.UID == owner })
	}
	return slices.DeleteFunc(found.Items, isOthers), nil
}

// ReadPublication reads the record of the revision that an installation has published last. It returns nil if there
// is no record: the operator is of a release that does not write one, or has not published anything yet. installation
// is the ConfigMap of its values.
func ReadPublication(ctx context.Context, cluster client.Reader, installation types.NamespacedName) (*fleet.Publication, error) {
	name, object := fleet.PublicationName(installation), &corev1.ConfigMap{}
	if err := cluster.Get(ctx, name, object); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil, nil //nolint:nilnil // A missing record is no error.
		}
		return nil, fmt.Errorf("reading ConfigMap %s: %w", name, err)
	}
	return fleet.ReadPublication(object)
}
