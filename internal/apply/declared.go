// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// ApplyDeclared applies a VectorSidecar or ClusterVectorSidecar that the values of an installation declare, without
// force. The object has its name and its labels; if it has a UID, only the object with that UID is changed.
func (w *Writer) ApplyDeclared(ctx context.Context, object client.Object, spec json.RawMessage) error {
	kind := object.GetObjectKind().GroupVersionKind()
	metadata := map[string]any{"name": object.GetName(), "labels": object.GetLabels()}
	if namespace := object.GetNamespace(); namespace != "" {
		metadata["namespace"] = namespace
	}
	if uid := object.GetUID(); uid != "" {
		metadata["uid"] = uid
	}
	body, err := json.Marshal(map[string]any{"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind, "metadata": metadata, "spec": spec})
	if err != nil {
		return err
	}
	err = w.client.Patch(ctx, object, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner(meta.DeclaredManager))
	if err != nil {
		return fmt.Errorf("applying %s: %w", titleFor(object), classify(err))
	}
	return nil
}

// StopDeclared annotates the ConfigMap of an installation's values, so that the operator no longer writes the objects that
// the values declare.
func (w *Writer) StopDeclared(ctx context.Context, values *corev1.ConfigMap) error {
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+meta.AnnotationUninstalling+`":"true"}}}`))
	if err := w.client.Patch(ctx, values, patch, client.FieldOwner(meta.Operator)); err != nil {
		return fmt.Errorf("annotating ConfigMap %s/%s: %w", values.Namespace, values.Name, err)
	}
	return nil
}

// DeleteDeclared deletes the version of a VectorSidecar or ClusterVectorSidecar that was read. A missing object is not an
// error. The error is ErrStale if the object has changed since.
func (w *Writer) DeleteDeclared(ctx context.Context, object client.Object) error {
	uid, version := object.GetUID(), object.GetResourceVersion()
	err := w.client.Delete(ctx, object, client.Preconditions{UID: &uid, ResourceVersion: &version})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting %s: %w", titleFor(object), staleError(err))
	}
	return nil
}
