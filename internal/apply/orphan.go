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

// Orphan marks a workload as one that keeps what is a manager's though its VectorSidecar goes.
// It writes annotations of the workload's own, so that nothing rolls out. The error is
// as that of Workload.
func (w *Writer) Orphan(ctx context.Context, view *workload.View, manager string) error {
	kind := kindOf(view.Ref)
	reply := &metav1.PartialObjectMetadata{}
	reply.SetGroupVersionKind(kind)
	reply.Namespace, reply.Name = view.Namespace, view.Name
	body := identified(map[string]any{"metadata": map[string]any{
		"resourceVersion": view.ResourceVersion,
		"annotations": map[string]any{
			meta.AnnotationOrphaned(manager): "true",
			// Whoever undoes a rollout brings back the annotations of an older
			// revision, and so takes the mark above away. Without this one, what is
			// left then is not taken for a write that arrived late.
			meta.AnnotationWrittenBy(manager): nil,
		},
	}}, view.Ref)
	if err := w.send(ctx, reply, types.MergePatchType, body, meta.Operator); err != nil {
		return fmt.Errorf("leaving the sidecar in %s %s/%s: %w", kind.Kind, view.Namespace, view.Name, classify(err))
	}
	return nil
}
