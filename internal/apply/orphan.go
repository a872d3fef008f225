// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// OrphanWorkload marks a workload so that it keeps the sidecar of a field manager after the deletion of the VectorSidecar.
// The mark is an annotation of the workload and not of the pod template, so the workload does not roll out. It
// returns the same errors as ApplyWorkload.
func (w *Writer) OrphanWorkload(ctx context.Context, view *workload.View, manager string) error {
	kind := targetGVK(view.Ref)
	reply := &metav1.PartialObjectMetadata{}
	reply.SetGroupVersionKind(kind)
	reply.Namespace, reply.Name = view.Namespace, view.Name
	key, version := meta.AnnotationOrphaned(manager), view.ResourceVersion
	if slices.Contains(view.Marks[manager].Annotations, key) {
		// A field manager does not become an owner of a field that it sets to the same value. A copied annotation has
		// that value, so it is removed first.
		removal := identifiedBody(map[string]any{"metadata": map[string]any{"resourceVersion": version, "annotations": map[string]any{key: nil}}}, view.Ref)
		if err := w.sendPatch(ctx, reply, types.MergePatchType, removal, meta.Operator); err != nil {
			return fmt.Errorf("removing a copied orphan annotation from %s %s/%s: %w", kind.Kind, view.Namespace, view.Name, classify(err))
		}
		version = reply.ResourceVersion
	}
	body := identifiedBody(map[string]any{"metadata": map[string]any{
		"resourceVersion": version,
		"annotations": map[string]any{
			key: "true",
			// kubectl rollout undo restores the annotations of an older revision, and so removes the mark
			// above. Without this annotation, a remaining sidecar is then not mistaken for a late write.
			meta.AnnotationWrittenBy(manager): nil,
		},
	}}, view.Ref)
	if err := w.sendPatch(ctx, reply, types.MergePatchType, body, meta.Operator); err != nil {
		return fmt.Errorf("setting the orphan annotation of %s %s/%s: %w", kind.Kind, view.Namespace, view.Name, classify(err))
	}
	return nil
}
