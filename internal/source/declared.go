// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/declared"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// DeclaredSidecar is a VectorSidecar or ClusterVectorSidecar that the values of an installation declare, or that has
// the label of the installation, with the decision about it.
type DeclaredSidecar struct {
	Key types.NamespacedName
	declared.Decision
}

// DeclaredSidecars returns the declared objects and the decisions about them for the data of a ConfigMap of values, sorted
// by name. It returns none if the values do not declare objects. reject returns the reason why the API server would reject
// a manifest, "" for none.
func (i *Installation) DeclaredSidecars(ctx context.Context, cluster client.Reader, data map[string]string, isStopped bool, reject func(ctx context.Context, kind string, manifest []byte) string) ([]DeclaredSidecar, error) {
	sidecars, err := declared.Parse(data)
	if err != nil || !sidecars.IsEnabled() {
		return nil, err
	}
	owner := meta.InstallationLabel(i.WrittenBy())
	objects := map[types.NamespacedName]client.Object{}
	for _, key := range sidecars.Keys() {
		object := declared.New(key)
		switch err := cluster.Get(ctx, key, object); {
		case apierrors.IsNotFound(err), apimeta.IsNoMatchError(err):
			objects[key] = nil
		case err != nil:
			return nil, fmt.Errorf("reading %s: %w", declared.Title(key), err)
		default:
			objects[key] = object
		}
	}
	labeled, err := listLabeled(ctx, livelist.New(cluster), owner)
	if err != nil {
		return nil, err
	}
	for _, object := range labeled {
		objects[client.ObjectKeyFromObject(object)] = object
	}
	var decided []DeclaredSidecar
	for _, key := range slices.SortedFunc(maps.Keys(objects), func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) }) {
		situation := declared.Situation{
			Declared: sidecars, Key: key, Live: objects[key], Owner: owner, Obstacle: i.obstacle(ctx, cluster, key),
			IsUninstalling: declared.IsUninstalling(i.Annotations), IsStopped: isStopped,
		}
		decision := situation.Decide()
		if isWritten := decision.Action == declared.Create || decision.Action == declared.Update; isWritten {
			kind, manifest := sidecars.Manifest(key)
			if reason := reject(ctx, kind, manifest); reason != "" {
				decision = declared.Decision{State: declared.Invalid, Message: reason}
			}
		}
		if decision.State != "" {
			decided = append(decided, DeclaredSidecar{key, decision})
		}
	}
	return decided, nil
}

// listLabeled returns the VectorSidecars and ClusterVectorSidecars with the label of an installation.
func listLabeled(ctx context.Context, live *livelist.Client, owner string) ([]client.Object, error) {
	if owner == "" {
		return nil, nil
	}
	isAny := func(object client.Object) (client.Object, bool) { return object, true }
	var labeled []client.Object
	for _, list := range []client.ObjectList{&v1alpha1.VectorSidecarList{}, &v1alpha1.ClusterVectorSidecarList{}} {
		objects, err := livelist.Collect(ctx, live, list, isAny, client.MatchingLabels{meta.LabelDeclaredBy: owner})
		if err != nil && !apierrors.IsNotFound(err) && !apimeta.IsNoMatchError(err) {
			return nil, fmt.Errorf("listing declared objects: %w", err)
		}
		labeled = append(labeled, objects...)
	}
	return labeled, nil
}

// obstacle explains why an object cannot be created, such as a missing namespace. It returns "" if it can be created,
// or if the user may not read the namespace.
func (i *Installation) obstacle(ctx context.Context, cluster client.Reader, key types.NamespacedName) string {
	if reason := declared.ScopeObstacle(key, i.Namespaces, i.EnablesClusters); reason != "" || key.Namespace == "" {
		return reason
	}
	namespace := &corev1.Namespace{}
	switch err := cluster.Get(ctx, client.ObjectKey{Name: key.Namespace}, namespace); {
	case apierrors.IsNotFound(err):
		return declared.MissingNamespace(key.Namespace)
	case err == nil && namespace.DeletionTimestamp != nil:
		return declared.TerminatingNamespace(key.Namespace)
	}
	return ""
}
