// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

func (c *course) write(ctx context.Context, name string, write *Write, isFirst bool) error {
	_, err := c.send(ctx, name, write, isFirst)
	if apierrors.IsConflict(err) && write.Way == ServerSide && !isFirst {
		forced := *write
		forced.Way = Forced
		_, err = c.send(ctx, name, &forced, isFirst)
	}
	if err != nil {
		return fmt.Errorf("writing by %s: %w", write.Way, err)
	}
	return nil
}

// send writes as the tool of an owner does.
func (c *course) send(ctx context.Context, name string, write *Write, isNew bool) (*unstructured.Unstructured, error) {
	object := c.object(name, write)
	owner := client.FieldOwner(write.Manager)
	options := []client.PatchOption{owner}
	switch write.Way {
	case ServerSide, Forced:
		if write.Way == Forced {
			options = append(options, client.ForceOwnership)
		}
		content, err := json.Marshal(object.Object)
		if err != nil {
			return nil, err
		}
		return object, world.Client.Patch(ctx, object, client.RawPatch(types.ApplyPatchType, content), options...)
	case ClientSide:
		content, err := json.Marshal(object.Object)
		if err != nil {
			return nil, err
		}
		annotate(object, corev1.LastAppliedConfigAnnotation, string(content)+"\n")
	}
	if isNew {
		return object, world.Client.Create(ctx, object, owner, client.FieldValidation("Strict"))
	}
	if c.workload.Kind.custom {
		patch, err := c.mergePatch(ctx, write, object)
		if err != nil {
			return nil, err
		}
		return object, world.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), options...)
	}
	patch, err := c.patch(ctx, write, object)
	if err != nil {
		return nil, err
	}
	return object, world.Client.Patch(ctx, object, client.RawPatch(types.StrategicMergePatchType, patch), options...)
}

// object is what is sent. Where a VectorSidecar selects everything, the first owner's
// manifest says so while the workload is not to have it.
func (c *course) object(name string, write *Write) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: c.workload.Kind.Placed(write.Object)}
	object.SetNamespace(c.sample.sidecar.Namespace)
	object.SetName(name)
	if c.sample.sidecar.Spec.MatchAll && write.Manager == c.next.Manager && (name == c.twin || !c.isSelected) {
		annotate(object, meta.AnnotationInject, "false")
	}
	return object
}

func annotate(object *unstructured.Unstructured, key, value string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	object.SetAnnotations(annotations)
}

// patch returns the patch of a tool: kubectl apply sends the three-way difference, all others what they wrote.
func (c *course) patch(ctx context.Context, write *Write, object *unstructured.Unstructured) ([]byte, error) {
	wanted, err := json.Marshal(object.Object)
	if err != nil || write.Way != ClientSide {
		return wanted, err
	}
	live, current, err := liveOf(ctx, object)
	if err != nil {
		return nil, err
	}
	last := []byte(live.GetAnnotations()[corev1.LastAppliedConfigAnnotation])
	schema, err := strategicpatch.NewPatchMetaFromStruct(c.kind().New())
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateThreeWayMergePatch(last, wanted, current, schema, true)
}

// mergePatch is patch for a kind without strategic merge patches: kubectl apply and kubectl edit send whole lists,
// edit with the existing items.
func (c *course) mergePatch(ctx context.Context, write *Write, object *unstructured.Unstructured) ([]byte, error) {
	live, current, err := liveOf(ctx, object)
	if err != nil {
		return nil, err
	}
	if write.Way == ClientSide {
		wanted, err := json.Marshal(object.Object)
		if err != nil {
			return nil, err
		}
		return jsonmergepatch.CreateThreeWayJSONMergePatch([]byte(live.GetAnnotations()[corev1.LastAppliedConfigAnnotation]), wanted, current)
	}
	return client.MergeFrom(live).Data(&unstructured.Unstructured{Object: merged(live.Object, object.Object)})
}

// liveOf returns an object in the cluster, also as JSON.
func liveOf(ctx context.Context, object *unstructured.Unstructured) (live *unstructured.Unstructured, text []byte, err error) {
	live = &unstructured.Unstructured{}
	live.SetGroupVersionKind(object.GroupVersionKind())
	if err := world.Client.Get(ctx, client.ObjectKeyFromObject(object), live); err != nil {
		return nil, nil, err
	}
	text, err = json.Marshal(live.Object)
	return live, text, err
}
