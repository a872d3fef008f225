// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Orphan marks a workload as keeping a manager's sidecar after its VectorSidecar is deleted.
// It writes annotations of the workload itself, so that nothing rolls out. The errors are
// those of Workload.
func (w *Writer) Orphan(ctx context.Context, view *workload.View, manager string) error {
	kind := kindOf(view.Ref)
	reply := &metav1.PartialObjectMetadata{}
	reply.SetGroupVersionKind(kind)
	reply.Namespace, reply.Name = view.Namespace, view.Name
	body := identified(map[string]any{"metadata": map[string]any{
		"resourceVersion": view.ResourceVersion,
		"annotations": map[string]any{
			meta.AnnotationOrphaned(manager): "true",
			// kubectl rollout undo restores the annotations of an older revision, and so
			// removes the mark above. Without this annotation, what remains is then not
			// mistaken for a late write.
			meta.AnnotationWrittenBy(manager): nil,
		},
	}}, view.Ref)
	if err := w.send(ctx, reply, types.MergePatchType, body, meta.Operator); err != nil {
		return fmt.Errorf("marking %s %s/%s as keeping its sidecar: %w", kind.Kind, view.Namespace, view.Name, classify(err))
	}
	return nil
}
