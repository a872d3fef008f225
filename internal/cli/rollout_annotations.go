// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// annotation is an annotation that a command sets or, if the value is "", removes. effect describes the effect for
// users.
type annotation struct{ key, value, effect string }

// annotateInstallation sets or removes annotations of an installation that has waves.
func (o *rolloutOptions) annotateInstallation(ctx context.Context, changesFor func(*rollout) ([]annotation, error)) error {
	cluster, read, err := o.openRollout(ctx)
	if err != nil {
		return err
	}
	changes, err := changesFor(read)
	if err != nil {
		return err
	}
	return o.annotateValues(ctx, cluster, read.values, changes...)
}

// annotateValues sets or removes annotations of the ConfigMap with the installation's values. The message shows the effect of
// the first annotation.
func (o *rolloutOptions) annotateValues(ctx context.Context, cluster client.Client, values types.NamespacedName, changes ...annotation) error {
	object := &corev1.ConfigMap{}
	if err := cluster.Get(ctx, values, object); err != nil {
		return fmt.Errorf("reading the installation's values: %w", err)
	}
	return o.patchAnnotations(ctx, cluster, object, fmt.Sprintf("ConfigMap %s", values), "configmap/"+values.Name, changes)
}

// patchAnnotations writes annotations of an object, unless the command only prints the changes.
func (o *rolloutOptions) patchAnnotations(ctx context.Context, cluster client.Client, object client.Object, title, argument string, changes []annotation) error {
	before, _ := object.DeepCopyObject().(client.Object) // The copy has the same type.
	for i := range changes {
		changes[i].setIn(object)
	}
	if o.dryRun {
		return humanize.Fprintf(o.app.Out, "%s annotated (dry run): %s\n", argument, changes[0].effect)
	}
	if err := cluster.Patch(ctx, object, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("annotating %s: %w", title, err)
	}
	return humanize.Fprintf(o.app.Out, "%s annotated: %s\n", argument, changes[0].effect)
}

// setIn sets or removes the annotation in an object in memory.
func (a *annotation) setIn(object client.Object) {
	annotations := maps.Clone(object.GetAnnotations())
	delete(annotations, a.key)
	if a.value != "" {
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[a.key] = a.value
	}
	object.SetAnnotations(annotations)
}
