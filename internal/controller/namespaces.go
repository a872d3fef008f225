// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	ctrlbuilder "sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlsource "sigs.k8s.io/controller-runtime/pkg/source"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// namespaceInterval is how often to poll namespaces that cannot be watched.
const namespaceInterval = 10 * time.Second

// newNamespace returns an empty Namespace for a metadata-only read.
func newNamespace(name string) *metav1.PartialObjectMetadata {
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	namespace.Name = name
	return namespace
}

// namespaceLabels are the labels of a Namespace that a decision depends on; waves select by any.
var namespaceLabels = []string{meta.LabelEnvironment, api.EnforceLevelLabel, api.EnforceVersionLabel}

// isOther reports whether a change of a namespace may change a decision.
func (n *namespaces) isOther(before, after source.Namespace) bool {
	return before.Users != after.Users || n.rules().IsOtherWave(before.Labels, after.Labels) ||
		slices.ContainsFunc(namespaceLabels, func(label string) bool { return before.Labels[label] != after.Labels[label] })
}

// hasChanged reports whether a change of a Namespace, of which there is the metadata, may change a
// decision.
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

// namespaces knows what counts of namespaces. If the operator watches the whole cluster, it comes
// from the cache. If it is restricted to certain namespaces with Roles, it may get each of them but
// watch none, because Namespaces are cluster-scoped; then they are polled.
type namespaces struct {
	cached client.Reader
	live   *livelist.Client
	// names are the namespaces to poll, empty if all are in the cache.
	names   []string
	changed chan event.GenericEvent
	// rules are those of rollouts when anybody last looked: before that nobody has gone by any labels.
	rules func() *fleet.Rules

	mu    sync.Mutex
	known map[string]source.Namespace
}

func newNamespaces(cached client.Reader, live *livelist.Client, names []string, rules func() *fleet.Rules) *namespaces {
	return &namespaces{
		cached: cached, live: live, names: names, rules: rules,
		changed: make(chan event.GenericEvent), known: map[string]source.Namespace{},
	}
}

// watch maps namespaces whose environment, wave or Pod Security level changes to VectorSidecars.
func (n *namespaces) watch(builder *ctrlbuilder.Builder, eventHandler handler.EventHandler) *ctrlbuilder.Builder {
	if len(n.names) > 0 {
		return builder.WatchesRawSource(ctrlsource.Channel(n.changed, eventHandler))
	}
	return builder.WatchesMetadata(newNamespace(""), eventHandler, ctrlbuilder.WithPredicates(n.changes()))
}

// of returns what counts of a namespace, nothing if it does not exist or may not be read.
func (n *namespaces) of(ctx context.Context, name string) (source.Namespace, error) {
	if len(n.names) == 0 {
		return n.read(ctx, n.cached, name)
	}
	n.mu.Lock()
	namespace, ok := n.known[name]
	n.mu.Unlock()
	if ok {
		return namespace, nil
	}
	_, err := n.look(ctx, name)
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.known[name], err
}

// seen returns an error while the cache does not show the namespace of a VectorSidecar yet: its environment is not known.
// What is being deleted goes all the same, and a ClusterVectorSidecar is only where the cache shows a namespace.
func (n *namespaces) seen(ctx context.Context, sidecar *v1alpha1.VectorSidecar) error {
	if len(n.names) > 0 || sidecar.Cluster != nil || sidecar.DeletionTimestamp != nil {
		return nil
	}
	err := n.cached.Get(ctx, client.ObjectKey{Name: sidecar.Namespace}, newNamespace(""))
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("namespace %s is not in the cache yet: %w", sidecar.Namespace, apply.ErrStale)
	}
	return err
}

// unseen is of, for whom nobody comes again when the cache shows a namespace: one that it does not show yet is read from
// the API server. This lists because the operator's permission is that of the watch.
func (n *namespaces) unseen(ctx context.Context, name string) (source.Namespace, error) {
	if len(n.names) > 0 || !apierrors.IsNotFound(n.cached.Get(ctx, client.ObjectKey{Name: name}, newNamespace(""))) {
		return n.of(ctx, name)
	}
	namespace := newNamespace(name)
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

// look reads a namespace and reports whether what counts of it has changed.
func (n *namespaces) look(ctx context.Context, name string) (bool, error) {
	namespace, err := n.read(ctx, n.live.Reader(), name)
	if apierrors.IsForbidden(err) {
		err = nil // A Role may leave this permission out: then its labels do not count.
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

// Start polls the namespaces until the context ends.
func (n *namespaces) Start(ctx context.Context) error {
	ticker := time.NewTicker(namespaceInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			n.lookAtAll(ctx)
		}
	}
}

func (n *namespaces) lookAtAll(ctx context.Context) {
	for _, name := range n.names {
		changed, err := n.look(ctx, name)
		if err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "reading a namespace", telemetry.KeyNamespace, name)
		}
		if !changed {
			continue
		}
		select {
		case n.changed <- event.GenericEvent{Object: newNamespace(name)}:
		case <-ctx.Done():
		}
	}
}
