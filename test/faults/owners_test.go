// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// Changes of application owners, each with the requests of the tool that they use.

// create creates objects.
func create(objects func(namespace string) []client.Object) action {
	return func(ctx context.Context, p *place) error {
		for _, object := range objects(p.namespace) {
			if err := world.Client.Create(ctx, object, client.FieldOwner("kubectl-create")); err != nil {
				return fmt.Errorf("creating %T %s: %w", object, object.GetName(), err)
			}
		}
		return nil
	}
}

// add creates one object.
func add(object func(namespace string) client.Object) action {
	return create(func(namespace string) []client.Object { return []client.Object{object(namespace)} })
}

// edit changes a Deployment as kubectl edit does.
func edit(name string, change func(*appsv1.Deployment)) action {
	return patch("kubectl-edit", name, &appsv1.Deployment{}, change)
}

// label sets a label of a Deployment, or removes it if the value is empty.
func label(name, key, value string) action {
	return patch("kubectl-label", name, &appsv1.Deployment{}, func(d *appsv1.Deployment) {
		metav1.SetMetaDataLabel(&d.ObjectMeta, key, value)
		if value == "" {
			delete(d.Labels, key)
		}
	})
}

// annotate sets an annotation of a Deployment, or removes it if the value is empty.
func annotate(name, key, value string) action {
	return patch("kubectl-annotate", name, &appsv1.Deployment{}, func(d *appsv1.Deployment) {
		metav1.SetMetaDataAnnotation(&d.ObjectMeta, key, value)
		if value == "" {
			delete(d.Annotations, key)
		}
	})
}

// sidecar changes a VectorSidecar.
func sidecar(name string, change func(*v1alpha1.VectorSidecar)) action {
	return patch("kubectl-edit", name, &v1alpha1.VectorSidecar{}, change)
}

// configMap changes a ConfigMap.
func configMap(name string, change func(*corev1.ConfigMap)) action {
	return patch("kubectl-edit", name, &corev1.ConfigMap{}, change)
}

// patch sends the difference of a change as a patch.
func patch[T client.Object](manager, name string, empty T, change func(T)) action {
	return func(ctx context.Context, p *place) error {
		object, ok := empty.DeepCopyObject().(T)
		if !ok {
			return fmt.Errorf("copying %T", empty)
		}
		if err := world.Client.Get(ctx, types.NamespacedName{Namespace: p.namespace, Name: name}, object); err != nil {
			return fmt.Errorf("reading %T %s: %w", empty, name, err)
		}
		before, ok := object.DeepCopyObject().(client.Object)
		if !ok {
			return fmt.Errorf("copying %T", empty)
		}
		change(object)
		difference := client.StrategicMergeFrom(before)
		switch any(object).(type) {
		case *v1alpha1.VectorSidecar, *unstructured.Unstructured: // Of custom resources the API server merges maps alone.
			difference = client.MergeFrom(before)
		}
		if err := world.Client.Patch(ctx, object, difference, client.FieldOwner(manager)); err != nil {
			return fmt.Errorf("changing %T %s: %w", empty, name, err)
		}
		return nil
	}
}

// remove deletes an object.
func remove(object client.Object) action {
	return func(ctx context.Context, p *place) error {
		mine, ok := object.DeepCopyObject().(client.Object)
		if !ok {
			return fmt.Errorf("copying %T", object)
		}
		mine.SetNamespace(p.namespace)
		if err := world.Client.Delete(ctx, mine, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
			return fmt.Errorf("deleting %T %s: %w", object, object.GetName(), err)
		}
		return nil
	}
}

func sidecarNamed(name string) client.Object {
	return &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func deploymentNamed(name string) client.Object {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// applyOnServer applies a manifest as kubectl apply --server-side does. A conflict is ignored, as if the application
// owner gave up the change.
func applyOnServer(manifest string) action { return applyWith(manifest) }

// applyByForce applies a manifest with --force-conflicts, as users of several tools must.
func applyByForce(manifest string) action { return applyWith(manifest, client.ForceOwnership) }

func applyWith(manifest string, options ...client.PatchOption) action {
	return func(ctx context.Context, p *place) error {
		object, text, err := read(p.namespace, manifest)
		if err != nil {
			return err
		}
		if err := world.Client.Patch(ctx, object, client.RawPatch(types.ApplyPatchType, text), append(options, client.FieldOwner("kubectl"))...); err != nil {
			return fmt.Errorf("applying %s on the server's side: %w", object.Name, err)
		}
		return nil
	}
}

// applyOnClient applies a manifest as kubectl apply does.
func applyOnClient(manifest string) action {
	return func(ctx context.Context, p *place) error {
		object, modified, err := read(p.namespace, manifest)
		if err != nil {
			return err
		}
		var live appsv1.Deployment
		err = world.Client.Get(ctx, client.ObjectKeyFromObject(object), &live)
		owner := client.FieldOwner("kubectl-client-side-apply")
		metav1.SetMetaDataAnnotation(&object.ObjectMeta, corev1.LastAppliedConfigAnnotation, string(modified))
		if apierrors.IsNotFound(err) {
			return world.Client.Create(ctx, object, owner)
		}
		if err != nil {
			return err
		}
		current, err := json.Marshal(live)
		if err != nil {
			return err
		}
		if modified, err = json.Marshal(object); err != nil {
			return err
		}
		schema, err := strategicpatch.NewPatchMetaFromStruct(live)
		if err != nil {
			return err
		}
		original := []byte(live.Annotations[corev1.LastAppliedConfigAnnotation])
		difference, err := strategicpatch.CreateThreeWayMergePatch(original, modified, current, schema, true)
		if err != nil {
			return fmt.Errorf("comparing %s with what was applied: %w", object.Name, err)
		}
		return world.Client.Patch(ctx, &live, client.RawPatch(types.StrategicMergePatchType, difference), owner)
	}
}

// read parses a manifest of a Deployment in a namespace. It also returns the manifest's fields as JSON.
func read(namespace, manifest string) (*appsv1.Deployment, []byte, error) {
	said := map[string]any{}
	if err := yaml.Unmarshal([]byte(manifest), &said); err != nil {
		return nil, nil, fmt.Errorf("reading a manifest: %w", err)
	}
	metadata, ok := said["metadata"].(map[string]any)
	if !ok {
		return nil, nil, fmt.Errorf("reading a manifest: it has no metadata")
	}
	metadata["namespace"] = namespace
	text, err := json.Marshal(said)
	if err != nil {
		return nil, nil, fmt.Errorf("writing a manifest: %w", err)
	}
	object := &appsv1.Deployment{}
	return object, text, json.Unmarshal(text, object)
}

// undo returns a Deployment to its first ReplicaSet as kubectl rollout undo does.
func undo(name string) action {
	return func(ctx context.Context, p *place) error {
		s, err := p.look(ctx, true)
		if err != nil {
			return err
		}
		sets := slices.DeleteFunc(s.replicaSets, func(r appsv1.ReplicaSet) bool { return metav1.GetControllerOf(&r).Name != name })
		if len(sets) == 0 {
			return fmt.Errorf("undoing the rollout of %s: there is no ReplicaSet", name)
		}
		first := slices.MinFunc(sets, func(a, b appsv1.ReplicaSet) int { return cmp.Compare(a.ResourceVersion, b.ResourceVersion) })
		for i := range sets {
			if sets[i].Annotations["deployment.kubernetes.io/revision"] == "1" {
				first = sets[i]
			}
		}
		delete(first.Spec.Template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
		difference, err := json.Marshal([]map[string]any{{"op": "replace", "path": "/spec/template", "value": first.Spec.Template}})
		if err != nil {
			return err
		}
		return world.Client.Patch(ctx, s.workloads[name], client.RawPatch(types.JSONPatchType, difference), client.FieldOwner("kubectl-rollout"))
	}
}

// scale sets the number of replicas as kubectl scale does.
func scale(name string, replicas int32) action {
	return func(ctx context.Context, p *place) error {
		object := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: name}}
		difference := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
		return world.Client.SubResource("scale").Patch(ctx, object, client.RawPatch(types.MergePatchType, difference))
	}
}
