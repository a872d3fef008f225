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
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// ReadRevision reads a published revision of an installation, which is identified by the ConfigMap of its values. The
// error is a *fleet.RecordError if the revision is not stored, or cannot be used.
func ReadRevision(ctx context.Context, cluster client.Reader, installation types.NamespacedName, revision string) (*fleet.Content, error) {
	return fleet.ReadContent(installation.Name, revision, func(name string) (*appsv1.ControllerRevision, error) {
		stored := &appsv1.ControllerRevision{}
		if err := cluster.Get(ctx, types.NamespacedName{Namespace: installation.Namespace, Name: name}, stored); err != nil {
			if client.IgnoreNotFound(err) == nil {
				return nil, nil //nolint:nilnil // fleet.ReadContent requires this form.
			}
			return nil, fmt.Errorf("reading ControllerRevision %s/%s: %w", installation.Namespace, name, err)
		}
		return stored, nil
	})
}

// Revisions returns the stored ControllerRevisions of the published revisions of an installation, the last one first.
func Revisions(ctx context.Context, live *livelist.Client, installation types.NamespacedName) ([]appsv1.ControllerRevision, error) {
	copyRecord := func(listed *appsv1.ControllerRevision) (appsv1.ControllerRevision, bool) {
		return *listed, listed.Name == fleet.RecordName(installation.Name, listed.Labels[meta.LabelRevision])
	}
	revisions, err := livelist.Collect(ctx, live, &appsv1.ControllerRevisionList{}, copyRecord, client.InNamespace(installation.Namespace), client.HasLabels{meta.LabelRevision})
	if err != nil {
		return nil, fmt.Errorf("listing the stored revisions: %w", err)
	}
	slices.SortFunc(revisions, func(a, b appsv1.ControllerRevision) int {
		return cmp.Or(cmp.Compare(b.Revision, a.Revision), cmp.Compare(a.Name, b.Name))
	})
	return revisions, nil
}

// RevisionParts returns the ControllerRevisions of parts of an installation's revisions, as metadata. The owner is the
// UID of the ConfigMap of its values.
func RevisionParts(ctx context.Context, live *livelist.Client, namespace string, owner types.UID) ([]metav1.PartialObjectMetadata, error) {
	copyOwned := func(listed *metav1.PartialObjectMetadata) (metav1.PartialObjectMetadata, bool) {
		return *listed, slices.ContainsFunc(listed.OwnerReferences, func(reference metav1.OwnerReference) bool { return reference.UID == owner })
	}
	kind := livelist.Metadata(appsv1.SchemeGroupVersion.WithKind("ControllerRevision"))
	parts, err := livelist.Collect(ctx, live, kind, copyOwned, client.InNamespace(namespace), client.HasLabels{meta.LabelRevisionPart})
	if err != nil {
		return nil, fmt.Errorf("listing ControllerRevisions of stored revisions: %w", err)
	}
	return parts, nil
}

// ReadPublication reads the record of the revision that an installation has published last. The installation is
// identified by the ConfigMap of its values. It returns nil if the record does not exist: the operator is of a release
// that does not write a record, or has not published anything yet.
func ReadPublication(ctx context.Context, cluster client.Reader, installation types.NamespacedName) (*fleet.Publication, error) {
	name, object := fleet.PublicationName(installation), &corev1.ConfigMap{}
	if err := cluster.Get(ctx, name, object); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil, nil //nolint:nilnil // A missing record is not an error.
		}
		return nil, fmt.Errorf("reading ConfigMap %s: %w", name, err)
	}
	return fleet.ReadPublication(object)
}
