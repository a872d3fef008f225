// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/pod-security-admission/api"
	ctrlbuilder "sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// namespaceInterval is the interval at which namespaces that cannot be watched are polled.
const namespaceInterval = 10 * time.Second

// namespaceLabels are the labels of a Namespace that a decision depends on. Waves may select by any other label.
var namespaceLabels = []string{meta.LabelEnvironment, api.EnforceLevelLabel, api.EnforceVersionLabel}

// isOther reports whether a change of a namespace may change a decision.
func (n *namespaces) isOther(before, after source.Namespace) bool {
	return before.Users != after.Users || n.rules().IsOtherWave(before.Labels, after.Labels) ||
		slices.ContainsFunc(namespaceLabels, func(label string) bool { return before.Labels[label] != after.Labels[label] })
}

// hasChanged reports whether a change of the metadata of a Namespace may change a decision.
func (n *namespaces) hasChanged(before, after client.Object) bool {
	old, ok := before.(*metav1.PartialObjectMetadata)
	current, _ := after.(*metav1.PartialObjectMetadata)
	return ok && n.isOther(source.NewNamespace(old), source.NewNamespace(current))
}

func (n *namespaces) changes() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return n.hasChanged(e.ObjectOld, e.ObjectNew)
		},
	}
}

// namespaces reads the metadata of namespaces that decisions depend on. If the operator watches the whole cluster,
// the metadata comes from the cache. If Roles restrict the operator to some namespaces, it may get each of them, but
// not watch them, because Namespaces are cluster-scoped. The operator then polls them.
type namespaces struct {
	cached client.Reader
	live   *livelist.Client
	// names are the namespaces to poll, empty if all are in the cache.
	names []string
	// sidecarKeys returns the VectorSidecars of a namespace, without ClusterVectorSidecars.
	sidecarKeys func(ctx context.Context, namespace string) []types.NamespacedName
	notifier    *notify.Notifier
	// rules returns the current rollout rules. Before the first platform is loaded, decisions have not used the
	// labels of waves.
	rules func() *fleet.Rules

	mu    sync.Mutex
	known map[string]source.Namespace
}

// watch requests the reconciles of VectorSidecars in namespaces with a change of environment, wave or Pod Security
// level. ClusterVectorSidecars receive their own events of the namespace.
func (n *namespaces) watch(builder *ctrlbuilder.Builder) *ctrlbuilder.Builder {
	if len(n.names) > 0 {
		return builder
	}
	eventHandler := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		return newRequests(n.sidecarKeys(ctx, object.GetName()))
	})
	return builder.WatchesMetadata(clusterwide.NewNamespaceMetadata(""), eventHandler, ctrlbuilder.WithPredicates(n.changes()))
}

// get returns the metadata of a namespace that decisions depend on, or the zero value if the namespace does not exist
// or may not be read.
func (n *namespaces) get(ctx context.Context, name string) (source.Namespace, error) {
	if len(n.names) == 0 {
		return n.read(ctx, n.cached, name)
	}
	n.mu.Lock()
	namespace, ok := n.known[name]
	n.mu.Unlock()
	if ok {
		return namespace, nil
	}
	_, err := n.refresh(ctx, name)
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.known[name], err
}

// labels returns the labels of a namespace that decisions depend on.
func (n *namespaces) labels(ctx context.Context, name string) (map[string]string, error) {
	namespace, err := n.get(ctx, name)
	return namespace.Labels, err
}

// requireCached returns an error while the cache does not have the namespace of a VectorSidecar yet, because its environment
// is unknown. It ignores a VectorSidecar that is being deleted. It also ignores a VectorSidecar of a
// ClusterVectorSidecar, because its namespace is always in the cache.
func (n *namespaces) requireCached(ctx context.Context, sidecar *v1alpha1.VectorSidecar) error {
	if len(n.names) > 0 || meta.IsOfCluster(sidecar.Name) || sidecar.DeletionTimestamp != nil {
		return nil
	}
	err := n.cached.Get(ctx, client.ObjectKey{Name: sidecar.Namespace}, clusterwide.NewNamespaceMetadata(""))
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("namespace %s is not in the cache yet: %w", sidecar.Namespace, apply.ErrStale)
	}
	return err
}

// getLive does the same as get, for callers that are not repeated when the cache gets a namespace. It reads a
// namespace that is not in the cache yet from the API server. It uses List, because the operator may list and watch
// namespaces, but not get them.
func (n *namespaces) getLive(ctx context.Context, name string) (source.Namespace, error) {
	if len(n.names) > 0 || !apierrors.IsNotFound(n.cached.Get(ctx, client.ObjectKey{Name: name}, clusterwide.NewNamespaceMetadata(""))) {
		return n.get(ctx, name)
	}
	namespace := clusterwide.NewNamespaceMetadata(name)
	exists, err := n.live.Find(ctx, livelist.Metadata(corev1.SchemeGroupVersion.WithKind("Namespace")), client.ObjectKey{Name: name}, namespace)
	if err != nil {
		return source.Namespace{}, fmt.Errorf("reading namespace %s, which is not in the cache yet: %w", name, err)
	}
	if !exists {
		return source.Namespace{}, nil
	}
	return source.NewNamespace(namespace), nil
}

func (n *namespaces) read(ctx context.Context, reader client.Reader, name string) (source.Namespace, error) {
	return source.Reader{Reader: reader}.Namespace(ctx, name)
}

// refresh reads a namespace, and reports whether its metadata has changed in a way that may change a decision.
func (n *namespaces) refresh(ctx context.Context, name string) (bool, error) {
	namespace, err := n.read(ctx, n.live.Reader(), name)
	if apierrors.IsForbidden(err) {
		err = nil // A Role may lack this permission. The labels of the namespace then do not count.
	}
	if err != nil {
		return false, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	previous, ok := n.known[name]
	n.known[name] = namespace
	return ok && n.isOther(previous, namespace), nil
}

// refreshAll polls the namespaces and requests the reconciles of VectorSidecars in changed namespaces.
func (n *namespaces) refreshAll(ctx context.Context) error {
	for _, name := range n.names {
		changed, err := n.refresh(ctx, name)
		if err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "reading a namespace", telemetry.KeyNamespace, name)
		}
		if changed {
			n.notifier.Notify(n.sidecarKeys(ctx, name)...)
		}
	}
	return nil
}
