// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// StoreRevision stores a revision with a number, unless it is stored already. Kubernetes deletes the revision
// after the ConfigMap with the installation's values. The record that names the parts is written last, so that
// a stored revision always has its parts.
func (w *Writer) StoreRevision(ctx context.Context, content *fleet.Content, number int64, owner *corev1.ConfigMap) error {
	partRevisions, rootRevision, err := content.Records(owner.Namespace, owner.Name, number)
	if err != nil {
		return err
	}
	for _, revision := range append(partRevisions, *rootRevision) {
		if err := controllerutil.SetOwnerReference(owner, &revision, w.client.Scheme()); err != nil {
			return err
		}
		err := w.client.Create(ctx, &revision, client.FieldOwner(meta.Operator))
		if apierrors.IsAlreadyExists(err) {
			err = w.adoptRevision(ctx, &revision)
		}
		if err != nil {
			return fmt.Errorf("storing a revision: writing ControllerRevision %s/%s: %w", revision.Namespace, revision.Name, err)
		}
	}
	return nil
}

// adoptRevision copies owner, annotations and number to an existing ControllerRevision with the same name. The
// name identifies the content, but the owner may be deleted, and another release may have written the object.
func (w *Writer) adoptRevision(ctx context.Context, revision *appsv1.ControllerRevision) error {
	metadata := map[string]any{"ownerReferences": revision.OwnerReferences}
	if revision.Annotations != nil {
		metadata["annotations"] = revision.Annotations
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata, "revision": revision.Revision})
	if err != nil {
		return err
	}
	return w.client.Patch(ctx, revision, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(meta.Operator))
}

// NumberRevision changes the number of a stored revision. Revisions are ordered by their numbers.
func (w *Writer) NumberRevision(ctx context.Context, stored *appsv1.ControllerRevision, number int64) error {
	original := stored.DeepCopy()
	stored.Revision = number
	if err := w.client.Patch(ctx, stored, client.MergeFrom(original), client.FieldOwner(meta.Operator)); err != nil {
		return fmt.Errorf("changing the number of ControllerRevision %s/%s: %w", stored.Namespace, stored.Name, err)
	}
	return nil
}

// MarkRevision writes the mark of a failed revision to its ControllerRevision, or removes it if there is no
// failure. The caller names the ConfigMap of the installation's values. A revision that is not stored is not an
// error.
func (w *Writer) MarkRevision(ctx context.Context, installation types.NamespacedName, revision string, failure *fleet.RevisionFailure) error {
	var mark any // null removes it.
	if failure != nil {
		mark = failure.String()
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{meta.AnnotationFailed: mark}}})
	if err != nil {
		return err
	}
	stored := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: installation.Namespace, Name: fleet.RecordName(installation.Name, revision)}}
	err = w.client.Patch(ctx, stored, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(meta.Operator))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("writing annotation %s of ControllerRevision %s/%s: %w", meta.AnnotationFailed, stored.Namespace, stored.Name, err)
	}
	return nil
}

// DropRevision deletes the ControllerRevision of a revision, or of a part of one.
func (w *Writer) DropRevision(ctx context.Context, revision metav1.ObjectMeta) error {
	stored := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: revision.Namespace, Name: revision.Name}}
	if err := client.IgnoreNotFound(w.client.Delete(ctx, stored, client.Preconditions{UID: &revision.UID})); err != nil {
		return fmt.Errorf("deleting ControllerRevision %s/%s: %w", revision.Namespace, revision.Name, err)
	}
	return nil
}

// WritePublication creates or updates the ConfigMap that records the published revision. stored is the existing
// ConfigMap, or nil. Kubernetes deletes it after owner, the ConfigMap of the installation's values. The result is the
// ConfigMap as written.
func (w *Writer) WritePublication(ctx context.Context, record, stored, owner *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	if err := controllerutil.SetOwnerReference(owner, record, w.client.Scheme()); err != nil {
		return nil, err
	}
	var err error
	if stored == nil {
		err = w.client.Create(ctx, record, client.FieldOwner(meta.Operator))
	} else {
		record.ResourceVersion, record.UID = stored.ResourceVersion, stored.UID
		err = w.client.Update(ctx, record, client.FieldOwner(meta.Operator))
	}
	if err != nil {
		return nil, fmt.Errorf("recording the published revision: writing ConfigMap %s/%s: %w", record.Namespace, record.Name, err)
	}
	return record, nil
}
