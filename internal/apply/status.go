// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// statusSubresource is the name of the subresource in managedFields.
const statusSubresource = "status"

// maxStatusApplies is the maximum number of applies of one status. An apply must be repeated after a takeover of fields,
// and without the fields that the API server does not know.
const maxStatusApplies = 10

// undeclaredField matches a field of the status that is missing in the CustomResourceDefinition.
var undeclaredField = regexp.MustCompile(`\.(status\.\S+): field not declared in schema`)

// listKey matches the key of a list item in the path of a field.
var listKey = regexp.MustCompile(`\[[^]]*\]`)

// Status applies the whole status of a VectorSidecar, and replaces its status, finalizers and resource version by the
// stored ones. The API server removes the fields that only the previous status had. A status equal to the stored one does
// not change the object. A deleted object is not an error.
func (w *Writer) Status(ctx context.Context, sidecar *v1alpha1.VectorSidecar) error {
	stored, err := applyStatus(ctx, w, sidecar, &sidecar.Status)
	if err != nil {
		return fmt.Errorf("writing the status of VectorSidecar %s/%s: %w", sidecar.Namespace, sidecar.Name, err)
	}
	if stored != nil {
		sidecar.Status = stored.Status
	}
	return nil
}

// ClusterStatus does the same as Status for a ClusterVectorSidecar.
func (w *Writer) ClusterStatus(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar) error {
	stored, err := applyStatus(ctx, w, cluster, &cluster.Status)
	if err != nil {
		return fmt.Errorf("writing the status of ClusterVectorSidecar %s: %w", cluster.Name, err)
	}
	if stored != nil {
		cluster.Status = stored.Status
	}
	return nil
}

// applyStatus returns the stored object after it has applied a status, or nil if the object does not exist.
//
// The operator is the only writer of the status. If another field manager has updated fields of it, such as an
// operator before server-side apply or a restored backup, applyStatus takes over these fields and applies the status
// again, so that the fields that are not in the status are removed. Fields that the CustomResourceDefinition does not
// have are left out.
func applyStatus[T any, P interface {
	*T
	client.Object
}](ctx context.Context, w *Writer, object P, status any) (P, error) {
	body, err := w.statusBody(object, status)
	if err != nil {
		return nil, err
	}
	for range maxStatusApplies {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		stored := P(new(T))
		stored.SetNamespace(object.GetNamespace())
		stored.SetName(object.GetName())
		err = w.client.Status().Patch(ctx, stored, client.RawPatch(types.ApplyPatchType, text), client.ForceOwnership, client.FieldOwner(meta.StatusManager))
		switch {
		case apierrors.IsNotFound(err):
			return nil, nil //nolint:nilnil // A missing object is not an error.
		case err != nil && removeUndeclared(body, err):
			continue
		case err != nil:
			return nil, err
		}
		hasChanged, err := w.takeOverStatus(ctx, stored)
		if err != nil {
			return nil, err
		}
		if !hasChanged {
			object.SetResourceVersion(stored.GetResourceVersion())
			object.SetFinalizers(stored.GetFinalizers()) // Writes of finalizers depend on the resource version only.
			return stored, nil
		}
	}
	return nil, ErrStale
}

// removeUndeclared removes the fields of a status that the error names, because the CustomResourceDefinition,
// possibly of an earlier version, does not have them. It returns false if the error names none.
func removeUndeclared(body map[string]any, err error) bool {
	fields := undeclaredField.FindAllStringSubmatch(err.Error(), -1)
	for _, field := range fields {
		removeField(body, strings.Split(listKey.ReplaceAllString(field[1], ""), "."))
	}
	return len(fields) > 0
}

// removeField removes a field of a tree. It removes the field of every item of a list.
func removeField(value any, path []string) {
	switch value := value.(type) {
	case map[string]any:
		if len(path) == 1 {
			delete(value, path[0])
			return
		}
		removeField(value[path[0]], path[1:])
	case []any:
		for _, item := range value {
			removeField(item, path)
		}
	}
}

// statusBody returns an apply configuration with a status.
func (w *Writer) statusBody(object client.Object, status any) (map[string]any, error) {
	kind, err := apiutil.GVKForObject(object, w.client.Scheme())
	if err != nil {
		return nil, err
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		return nil, err
	}
	metadata := map[string]any{"namespace": object.GetNamespace(), "name": object.GetName()}
	return map[string]any{"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind, "metadata": metadata, "status": fields}, nil
}

// takeOverStatus makes meta.StatusManager the owner of status fields that other field managers have updated. If it
// returns true, the status must be applied again: it took over fields, or the object has changed at the same time.
func (w *Writer) takeOverStatus(ctx context.Context, stored client.Object) (bool, error) {
	updaters := sets.New[string]()
	for _, entry := range stored.GetManagedFields() {
		if entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == statusSubresource {
			updaters.Insert(entry.Manager)
		}
	}
	if len(updaters) == 0 {
		return false, nil
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(stored, updaters, meta.StatusManager, csaupgrade.Subresource(statusSubresource))
	if err != nil {
		return false, fmt.Errorf("taking over the status fields of other field managers: %w", err)
	}
	// The API server ignores changes of managedFields in a patch of the subresource.
	err = w.client.Patch(ctx, stored, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(meta.Operator))
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("taking over the status fields of other field managers: %w", err)
	}
	return true, nil
}
