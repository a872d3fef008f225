// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// clusters makes the passes over ClusterVectorSidecars as such: one has the finalizer, is passed on
// to its namespaces, and gets the status that these add up to. What it does in a namespace is a pass
// of its own, like that of any VectorSidecar, so that a namespace in trouble holds up no other, and
// an event costs what it costs there.
type clusters struct {
	*clusterLister
	*instruments

	workloads *workloadcache.Cache
	sidecars  sidecarLister
	writer    *apply.Writer
	client    client.Client
	events    *announcer
	sets      *overlaySets
	// queue gets the passes that are due; it is set when the controller starts.
	queue queue

	mu    sync.Mutex
	known map[string]*clusterKnown
}

// statusDelay is how long what namespaces report is collected before the status is written.
const statusDelay = 500 * time.Millisecond

func newClusters(observed *instruments, cached client.Client, sidecars sidecarLister, sets *overlaySets, writer *apply.Writer, events *announcer, options *Options) *clusters {
	return &clusters{
		clusterLister: sidecars.clusters, instruments: observed, workloads: options.Workloads, sidecars: sidecars, writer: writer, client: cached,
		events: events, sets: sets, known: map[string]*clusterKnown{},
	}
}

// Start implements Source.
func (c *clusters) Start(_ context.Context, to queue) error {
	c.queue = to
	return nil
}

// String returns the name of the source for messages.
func (c *clusters) String() string { return "namespaces of ClusterVectorSidecars" }

// pass makes the pass of one ClusterVectorSidecar. It returns how long until the next look if
// nothing happens, 0 for ever.
func (c *clusters) pass(ctx context.Context, name string, stages *stages) (time.Duration, error) {
	cluster, err := c.named(ctx, name)
	if err != nil {
		return 0, err
	}
	if cluster == nil {
		c.forget(name)
		stages.forget(clusterKey(name))
		return 0, nil
	}
	if cluster.DeletionTimestamp == nil {
		// Before anything is written: nobody else would take it out again.
		if err := c.writer.AddFinalizer(ctx, cluster); err != nil {
			return 0, err
		}
	}
	known := c.of(name)
	known.catchUp(cluster)
	isNew, namespaces := known.isNew(cluster), map[string]bool{}
	if isNew {
		namespaces = c.concerned(ctx, cluster, known)
		known.expect(cluster, namespaces)
	}
	_, invalid := clusterwide.SelectorOf(&cluster.Spec, c.home)
	again, err := c.advance(ctx, stages, cluster, known, invalid != nil)
	if isNew {
		c.passOn(ctx, cluster, namespaces, known.isSpread)
		known.isSpread = true
	}
	if err != nil {
		return 0, fmt.Errorf("letting a revision through: %w", err)
	}
	if cluster.DeletionTimestamp != nil && known.isLeft() {
		return 0, c.writer.RemoveFinalizer(ctx, cluster)
	}
	return again, c.tell(ctx, cluster, known, invalid)
}

// concerned returns the namespaces that a ClusterVectorSidecar selects, and those where it may have
// left something.
func (c *clusters) concerned(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar, known *clusterKnown) map[string]bool {
	found := known.namespaces()
	selector := c.selectorOf(cluster)
	all := c.namespaces(ctx, "")
	for i := range all {
		if selector.Selects(&all[i]) {
			found[all[i].Name] = true
		}
	}
	manager := meta.Manager(meta.InNamespace(cluster.Name))
	for carrier := range carriersOf(c.workloads.Traced()) {
		for i := range carrier.Traces {
			if carrier.Traces[i].Manager == manager {
				found[carrier.Namespace] = true
			}
		}
	}
	var companions corev1.ConfigMapList
	label := client.MatchingLabels{meta.LabelSidecar: meta.LabelValue(meta.InNamespace(cluster.Name))}
	if err := c.client.List(ctx, &companions, label, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "listing companions")
	}
	for i := range companions.Items {
		found[companions.Items[i].Namespace] = true
	}
	for _, namespace := range c.sets.namespacesOf(ctx, meta.InNamespace(cluster.Name)) {
		found[namespace] = true
	}
	return found
}

// passOn requests the passes of namespaces, and, unless the process begins, of the VectorSidecars
// there whose workloads may be the same.
func (c *clusters) passOn(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar, namespaces map[string]bool, isChange bool) {
	for namespace := range namespaces {
		c.queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: meta.InNamespace(cluster.Name)}})
		if !isChange {
			continue
		}
		for _, request := range requests(keysOf(c.sidecars.list(ctx, namespace, "", ""))) {
			c.queue.Add(request)
		}
	}
}

// report records the status of a namespace after a pass, and has the whole status follow soon.
func (c *clusters) report(sidecar *v1alpha1.VectorSidecar, isChanged bool) {
	name, _ := meta.ClusterOf(sidecar.Name)
	c.of(name).report(sidecar, isChanged)
	c.queue.AddAfter(reconcile.Request{NamespacedName: clusterKey(name)}, statusDelay)
}

// fail records that the pass over a namespace failed before it had a status.
func (c *clusters) fail(ctx context.Context, key types.NamespacedName, failure error) {
	name, isCluster := meta.ClusterOf(key.Name)
	if !isCluster || key.Namespace == "" {
		return
	}
	sidecar, err := c.get(ctx, key.Namespace, name)
	if err != nil || sidecar == nil {
		return
	}
	if known := c.of(name); known.lacks(key.Namespace) {
		sidecar.Status = status.OfFailure(sidecar, failure, metav1.Now())
		c.report(sidecar, false)
	}
}

// leave records that nothing is left in a namespace, or that it is not there.
func (c *clusters) leave(key types.NamespacedName) {
	name, isCluster := meta.ClusterOf(key.Name)
	if !isCluster || key.Namespace == "" {
		return
	}
	c.mu.Lock()
	known := c.known[name]
	c.mu.Unlock()
	if known == nil {
		return
	}
	known.leave(key.Namespace)
	c.queue.AddAfter(reconcile.Request{NamespacedName: clusterKey(name)}, statusDelay)
}

// of returns what is known of a ClusterVectorSidecar.
func (c *clusters) of(name string) *clusterKnown {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[name] == nil {
		c.known[name] = newClusterKnown()
	}
	return c.known[name]
}

// forget drops a ClusterVectorSidecar that is gone, and has its namespaces dropped.
func (c *clusters) forget(name string) {
	c.mu.Lock()
	known := c.known[name]
	delete(c.known, name)
	c.mu.Unlock()
	c.Metrics.Forget(clusterKey(name))
	if known == nil {
		return
	}
	for namespace := range known.namespaces() {
		c.queue.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: meta.InNamespace(name)}})
	}
}

// tell writes the status if it has changed. After a start it waits until all namespaces were looked
// at: until then there is nothing new to tell. invalid is why they cannot be selected, nil if they can.
func (c *clusters) tell(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar, known *clusterKnown, invalid error) error {
	facts := known.facts(cluster)
	if invalid != nil && cluster.DeletionTimestamp == nil {
		facts.Invalid, facts.Waves = invalid.Error(), cluster.Status.Waves
	}
	if facts.Unseen > 0 && cluster.Status.ObservedGeneration == cluster.Generation {
		return nil
	}
	before := cluster.DeepCopy()
	cluster.Status = status.OfCluster(facts, metav1.Now())
	ready := apimeta.FindStatusCondition(cluster.Status.Conditions, meta.ConditionReady)
	c.Metrics.Stand(clusterKey(cluster.Name), telemetry.SidecarState{
		Ready: string(ready.Status), Reason: ready.Reason, Workloads: func(func(telemetry.WorkloadState) bool) {},
	})
	if equality.Semantic.DeepEqual(before.Status, cluster.Status) {
		return nil
	}
	announceError(ctx, c.events, c.Reports, cluster, before.Status.Conditions, cluster.Status.Conditions)
	if err := c.patch(ctx, before, cluster, known); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	known.told()
	return nil
}

// patch writes what has changed in the status.
func (c *clusters) patch(ctx context.Context, before, after *v1alpha1.ClusterVectorSidecar, known *clusterKnown) error {
	ctx, cancel := detached(ctx)
	defer cancel()
	// On another status than this one the patch would leave parts of it.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	err := client.IgnoreNotFound(c.client.Status().Patch(ctx, after, patch, client.FieldOwner(meta.Operator)))
	if apierrors.IsConflict(err) {
		return errors.Join(apply.ErrStale, err)
	}
	if err == nil {
		known.written(after)
	}
	return err
}
