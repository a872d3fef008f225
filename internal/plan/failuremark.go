// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// WithFailureMark returns the write with an annotation that marks the workload as failed before the write. The rollout
// of the write replaces the failed state of the workload, so after a restart of the operator only this annotation shows
// the failure.
func (w Write) WithFailureMark(manager string) Write {
	key := meta.AnnotationFailedBefore(manager)
	if w.Apply != nil {
		w.Apply = withAnnotation(w.Apply, key)
	}
	if w.Patch != nil {
		w.Patch = withAnnotation(w.Patch, key)
	}
	return w
}

// withAnnotation returns a copy of an apply or patch body that also sets an annotation to "true".
func withAnnotation(body map[string]any, key string) map[string]any {
	root, metadata := maps.Clone(body), maps.Clone(tree.Map(body["metadata"]))
	if metadata == nil {
		metadata = map[string]any{}
	}
	annotations := maps.Clone(tree.Map(metadata["annotations"]))
	if annotations == nil {
		annotations = map[string]any{}
	}
	annotations[key] = "true"
	metadata["annotations"], root["metadata"] = annotations, metadata
	return root
}
