// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// clusters reconciles ClusterVectorSidecars. Such a reconcile adds the finalizer, requests the reconciles of the
// namespaces, and writes the status that their reports add up to. No other reconcile writes that status. Each namespace is
// reconciled separately, like a VectorSidecar. So a failing namespace does not block other namespaces, and an event causes the reconcile of one
// namespace only.
type clusters struct {
	*clusterCache
	*instruments

	workloads *workloadcache.Cache
	sidecars  *sidecarcache.Lister
	writer    *apply.Writer
	client    client.Client
	events    *events.Recorder
	slots     *slotScheduler
	waves     *state.Waves
	// injects is true if the API server injects from OverlaySets.
	injects bool
}

// notifyNamespaces requests the reconciles of namespaces. After a change, it also requests the reconciles of the VectorSidecars
// there, because they may match the same workloads. The start of the process is not a change.
func (c *clusters) notifyNamespaces(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar, namespaces map[string]bool, isChange bool) {
	for namespace := range namespaces {
		c.notifier.Notify(sidecarcache.KeyIn(namespace, cluster.Name))
		if isChange {
			c.notifier.Notify(sidecarcache.Keys(c.sidecars.ListIn(ctx, namespace))...)
		}
	}
}

// isReleased reports whether the namespace of a VectorSidecar has no objects or fields left of its
// ClusterVectorSidecar, which is being deleted.
func (c *clusters) isReleased(sidecar *v1alpha1.VectorSidecar) bool {
	return c.getOrCreate(clusterName(sidecar)).isReleased(sidecar)
}

// restoreCanary sets the canary status that a namespace of a ClusterVectorSidecar has reported last.
func (c *clusters) restoreCanary(sidecar *v1alpha1.VectorSidecar) {
	if sidecar.Cluster == nil {
		return
	}
	if namespaceStatus := c.getOrCreate(clusterName(sidecar)).statusIn(sidecar.Namespace); namespaceStatus != nil {
		sidecar.Status.Canary = namespaceStatus.Canary
	}
}

// reportNamespaceError records the error of the reconcile of a namespace. isTold is true if the status of the
// namespace reports the error already.
func (c *clusters) reportNamespaceError(ctx context.Context, namespace, name string, failure error, isTold bool) {
	sidecar, err := c.sidecars.Get(ctx, sidecarcache.KeyIn(namespace, name))
	if err != nil || sidecar == nil {
		return
	}
	clusterState := c.getOrCreate(name)
	report := &lastgood.NamespaceReport{Attempt: lastgood.NewAttempt(sidecar), IsRetrying: true}
	report.CopyTimes(clusterState.reportIn(namespace), sidecar, c.clock())
	if isTold {
		clusterState.setReport(namespace, report)
		c.notifier.NotifyAfter(statusDelay, sidecarcache.ClusterKey(name))
		return
	}
	if previous := clusterState.statusIn(namespace); previous != nil {
		sidecar.Status = *previous
	}
	sidecar.Status = status.NewFailureStatus(sidecar, failure, metav1.Now())
	c.report(sidecar, report, false)
}

// reportError writes to the status why the reconcile of a ClusterVectorSidecar itself has failed.
func (c *clusters) reportError(ctx context.Context, name string, failure error) {
	c.Metrics.SetSidecarState(sidecarcache.ClusterKey(name), telemetry.SidecarState{Ready: string(metav1.ConditionFalse), Reason: meta.ReasonRetrying})
	cluster, err := c.sidecars.Cluster(ctx, name)
	if cluster == nil || err != nil {
		return
	}
	previous := cluster.Status.DeepCopy()
	cluster.Status = status.NewClusterFailureStatus(cluster, failure, metav1.Now())
	announceError(ctx, c.events, c.Reports, cluster, previous.Conditions, cluster.Status.Conditions)
	if equality.Semantic.DeepEqual(previous, &cluster.Status) {
		return
	}
	if err := c.applyStatus(ctx, cluster); err != nil {
		log.FromContext(ctx).V(1).Info("writing the failure to the status", "cause", err.Error())
	}
}

// forget drops a deleted ClusterVectorSidecar, and requests the reconciles that drop it in its namespaces.
func (c *clusters) forget(name string) {
	c.sidecars.ForgetWritten(name)
	c.slots.forget(sidecarcache.ClusterKey(name))
	c.waves.Forget(sidecarcache.ClusterKey(name))
	clusterState := c.drop(name)
	c.Metrics.Forget(sidecarcache.ClusterKey(name))
	if clusterState == nil {
		return
	}
	for namespace := range clusterState.namespaces() {
		c.notifier.Notify(sidecarcache.KeyIn(namespace, name))
	}
}

// applyStatus writes the whole status.
func (c *clusters) applyStatus(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar) error {
	ctx, cancel := shutdown.Detach(ctx)
	defer cancel()
	if err := c.writer.ClusterStatus(ctx, cluster); err != nil {
		return err
	}
	c.sidecars.SetWritten(cluster)
	return nil
}
