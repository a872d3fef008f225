// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// maxCanaries is the maximum length of status.canariesWithoutPods.
const maxCanaries = 16

// ClusterFacts are the facts from which the status of a ClusterVectorSidecar is computed.
type ClusterFacts struct {
	Cluster *v1alpha1.ClusterVectorSidecar
	// Namespaces contains the status in each namespace, by the name of the namespace.
	Namespaces map[string]*lastgood.NamespaceStatus
	// UnreportedNamespaces is the number of namespaces with a status that has not been read since the process started.
	UnreportedNamespaces int
	// Changed is true if this reconcile has written a workload.
	Changed bool
	// ReconcileRequest is the value of the annotation that requests a reconcile, or "" for none.
	ReconcileRequest string
	// Waves is the new value of status.waves.
	Waves []v1alpha1.RolloutStatus
	// BlindHalt is the message that rollout.halt cannot detect the causes of failures. It is "" if rollout.halt can, or
	// is not set.
	BlindHalt string
	// Invalid explains why the selector of namespaces is invalid, or is "" if it is valid.
	Invalid string
	// Trial is the spec generation and the retry request that every namespace must have applied.
	Trial lastgood.Attempt
	// SpecStatus contains the last known good spec of the ClusterVectorSidecar, and the failed spec from which it was
	// reverted.
	SpecStatus lastgood.SpecStatus
}

// NewClusterStatus returns the status of a ClusterVectorSidecar from its status in each namespace. Its
// lastReconcileTime changes as in NewSidecarStatus.
func NewClusterStatus(facts ClusterFacts, now metav1.Time) v1alpha1.ClusterVectorSidecarStatus {
	previous := &facts.Cluster.Status
	sum := clusterSum{facts: &facts, groups: map[state]*namespaceGroup{}, kinds: map[v1alpha1.WorkloadKind]*v1alpha1.KindStatus{}}
	status := &sum.status
	status.ObservedGeneration, status.LastReconcileTime, status.Waves = facts.Cluster.Generation, previous.LastReconcileTime, facts.Waves
	status.LastKnownGood, status.Reverted = facts.SpecStatus.LastGood, facts.SpecStatus.Reverted
	for i := range previous.Conditions {
		status.Conditions = append(status.Conditions, *previous.Conditions[i].DeepCopy())
	}
	status.RemovedByOwners = decision.ActiveOwnerRemovals(previous.RemovedByOwners, &facts.Cluster.Spec.VectorSidecarSpec, facts.Cluster.Annotations)
	for _, name := range slices.Sorted(maps.Keys(facts.Namespaces)) {
		sum.addNamespace(name, facts.Namespaces[name])
		removals := decision.ActiveOwnerRemovals(facts.Namespaces[name].RemovedByOwners, &facts.Cluster.Spec.VectorSidecarSpec, facts.Cluster.Annotations)
		removals = slices.DeleteFunc(removals, func(removal v1alpha1.OwnerRemoval) bool { return !removal.IsIn(name) })
		status.RemovedByOwners = decision.MergeOwnerRemovals(status.RemovedByOwners, removals)
	}
	sum.keepFinishedCanaries()
	status.Retry = sum.firstRetry(previous.Retry)
	sum.finishCounts()
	result := sum.readyOutcome()
	result.addText(facts.BlindHalt)
	setConditions(&status.Conditions, result, sum.validityOutcome(), facts.Cluster.Generation, now)
	if facts.Changed || !equality.Semantic.DeepEqual(*previous, *status) {
		status.LastReconcileTime = &now
	}
	return *status
}

// NewClusterFailureStatus returns the status of a ClusterVectorSidecar after a reconcile that failed early: the
// previous status with the error in its conditions.
func NewClusterFailureStatus(cluster *v1alpha1.ClusterVectorSidecar, failure error, now metav1.Time) v1alpha1.ClusterVectorSidecarStatus {
	status := cluster.Status.DeepCopy()
	if reportFailure(&status.Conditions, failure, cluster.Generation, now) {
		status.LastReconcileTime = &now
	}
	return *status
}

// clusterSum computes the status of a ClusterVectorSidecar from the status in each namespace.
type clusterSum struct {
	facts  *ClusterFacts
	status v1alpha1.ClusterVectorSidecarStatus
	groups map[state]*namespaceGroup
	kinds  map[v1alpha1.WorkloadKind]*v1alpha1.KindStatus
	// failing are the namespaces with failures that the operator retries. invalid are the namespaces with invalid
	// values, templates or configuration.
	failing, invalid namespaceGroup
	// lists contains the entries of status.workloads by state. An entry for a whole namespace has the state "".
	lists map[v1alpha1.WorkloadState][]v1alpha1.NamespacedWorkloadStatus
	// entries is the number of all entries, including those that exceed the limits of the lists.
	entries int
	// hasPendingRequest is true if a namespace has not handled the requested reconcile yet.
	hasPendingRequest bool
}

// addNamespace adds the status in one namespace.
func (c *clusterSum) addNamespace(name string, namespace *lastgood.NamespaceStatus) {
	ready := cmp.Or(apimeta.FindStatusCondition(namespace.Conditions, meta.ConditionReady), &metav1.Condition{})
	state := namespaceState(namespace, c.facts.Trial)
	if c.groups[state] == nil {
		c.groups[state] = &namespaceGroup{}
	}
	c.groups[state].add(name, ready)
	if apimeta.IsStatusConditionTrue(namespace.Conditions, meta.ConditionError) && state == working {
		c.failing.add(name, ready)
	}
	if valid := apimeta.FindStatusCondition(namespace.Conditions, meta.ConditionConfigValid); valid != nil && valid.Status == metav1.ConditionFalse {
		c.invalid.add(name, valid)
	}
	if !namespace.IsLeaving {
		c.status.SelectedNamespaces++
		switch {
		case state != current:
		case namespace.WorkloadsWithoutPods > 0 && namespace.WorkloadsWithoutPods == namespace.InjectedWorkloads:
			c.status.NamespacesWithoutPods++
		default:
			c.status.ReadyNamespaces++
		}
	}
	c.status.MatchedWorkloads += namespace.MatchedWorkloads
	c.status.InjectedWorkloads += namespace.InjectedWorkloads
	c.status.ReadyWorkloads += namespace.ReadyWorkloads
	c.status.WorkloadsWithoutPods += namespace.WorkloadsWithoutPods
	for i := range namespace.Kinds {
		c.addKind(&namespace.Kinds[i])
	}
	c.addCanary(name, namespace)
	c.hasPendingRequest = c.hasPendingRequest || namespace.LastHandledReconcileAt != c.facts.ReconcileRequest
	c.listNamespace(name, namespace, state, ready)
}

// addCanary adds the change that the canaries of a namespace get, in two cases: the canaries have no pods, or they have
// finished but other workloads of the namespace have not.
func (c *clusterSum) addCanary(name string, namespace *lastgood.NamespaceStatus) {
	canary := namespace.Canary
	if canary == nil || canary.Change == "" {
		return
	}
	if canary.State == v1alpha1.CanaryWithoutPods && !slices.Contains(c.status.CanariesWithoutPods, canary.Change) {
		c.status.CanariesWithoutPods = append(c.status.CanariesWithoutPods, canary.Change)
	}
	if canary.State == v1alpha1.CanaryFinished && namespace.ReadyWorkloads < namespace.MatchedWorkloads {
		c.status.FinishedCanaries = append(c.status.FinishedCanaries, v1alpha1.FinishedCanary{Namespace: name, Change: canary.Change})
	}
}

// keepFinishedCanaries also keeps the previous entries of namespaces that have not reported since the operator started,
// and limits the length of the list.
func (c *clusterSum) keepFinishedCanaries() {
	entries := c.status.FinishedCanaries
	for _, entry := range c.facts.Cluster.Status.FinishedCanaries {
		if c.facts.Namespaces[entry.Namespace] == nil && c.facts.UnreportedNamespaces > 0 {
			entries = append(entries, entry)
		}
	}
	slices.SortFunc(entries, func(a, b v1alpha1.FinishedCanary) int { return strings.Compare(a.Namespace, b.Namespace) })
	c.status.FinishedCanaries = entries[:min(len(entries), v1alpha1.MaxFinishedCanaries)]
}

// addKind adds the counts of one kind in one namespace.
func (c *clusterSum) addKind(kind *v1alpha1.KindStatus) {
	into := c.kinds[kind.Kind]
	if into == nil {
		into = &v1alpha1.KindStatus{Kind: kind.Kind}
		c.kinds[kind.Kind] = into
	}
	into.Add(kind)
}

// listNamespace lists the workloads of a namespace that are not up to date. If there are none and the namespace is not
// ready, it lists the namespace itself.
func (c *clusterSum) listNamespace(name string, namespace *lastgood.NamespaceStatus, state state, ready *metav1.Condition) {
	if c.lists == nil {
		c.lists = map[v1alpha1.WorkloadState][]v1alpha1.NamespacedWorkloadStatus{}
	}
	put := func(workloadState v1alpha1.WorkloadState, entry v1alpha1.NamespacedWorkloadStatus) {
		if len(c.lists[workloadState]) < maxListed {
			c.lists[workloadState] = append(c.lists[workloadState], entry)
		}
	}
	c.entries += len(namespace.Workloads) + int(namespace.WorkloadsOmitted)
	for i := range namespace.Workloads {
		workloadStatus := &namespace.Workloads[i]
		put(workloadStatus.State, v1alpha1.NamespacedWorkloadStatus{
			Namespace: name, Kind: workloadStatus.Kind, Name: workloadStatus.Name, State: string(workloadStatus.State), Reason: workloadStatus.Reason, Message: workloadStatus.Message,
		})
	}
	if len(namespace.Workloads) > 0 || state == current || ready.Reason == "" {
		return
	}
	c.entries++
	entry := v1alpha1.NamespacedWorkloadStatus{Namespace: name, State: meta.ConditionReconciling, Reason: ready.Reason, Message: humanize.ShortenMessage(ready.Message, 512)}
	if state == stalled {
		entry.State = meta.ConditionStalled
	}
	put("", entry)
}

// firstRetry returns the requested retry with the time at which the first namespace handled it, or nil if none has.
// Failures after that time are not retried.
func (c *clusterSum) firstRetry(previous *v1alpha1.RetryStatus) *v1alpha1.RetryStatus {
	requested := fleet.RetryDigest(c.facts.Cluster.Annotations)
	switch {
	case requested == "":
		return nil
	case previous != nil && previous.Requested == requested:
		return previous.DeepCopy()
	}
	var earliest *v1alpha1.RetryStatus
	for _, namespace := range c.facts.Namespaces {
		if retry := namespace.Retry; retry != nil && retry.Requested == requested && (earliest == nil || retry.RetryTime.Before(&earliest.RetryTime)) {
			earliest = retry
		}
	}
	return earliest.DeepCopy()
}

// finishCounts sets the fields of the status that need the counts of all namespaces.
func (c *clusterSum) finishCounts() {
	for _, kind := range slices.Sorted(maps.Keys(c.kinds)) {
		c.status.Kinds = append(c.status.Kinds, *c.kinds[kind])
	}
	for _, state := range slices.Concat([]v1alpha1.WorkloadState{""}, listedPhases) {
		room := maxListed - len(c.status.Workloads)
		c.status.Workloads = append(c.status.Workloads, c.lists[state][:min(len(c.lists[state]), room)]...)
	}
	slices.Sort(c.status.CanariesWithoutPods)
	c.status.CanariesWithoutPods = c.status.CanariesWithoutPods[:min(len(c.status.CanariesWithoutPods), maxCanaries)]
	c.status.WorkloadsOmitted = int32(c.entries - len(c.status.Workloads)) //nolint:gosec // No cluster has two billion.
	c.status.LastHandledReconcileAt = c.facts.Cluster.Status.LastHandledReconcileAt
	if c.facts.ReconcileRequest != "" && !c.hasPendingRequest && c.facts.UnreportedNamespaces == 0 {
		c.status.LastHandledReconcileAt = c.facts.ReconcileRequest
	}
}

// namespaceState returns the state of a namespace. A namespace with a status for another spec or retry request is still
// working.
func namespaceState(namespace *lastgood.NamespaceStatus, attempt lastgood.Attempt) state {
	switch {
	case namespace.Trial != attempt:
		return working
	case apimeta.IsStatusConditionTrue(namespace.Conditions, meta.ConditionStalled):
		return stalled
	case apimeta.IsStatusConditionTrue(namespace.Conditions, meta.ConditionReady) && !namespace.IsLeaving:
		return current
	}
	return working
}

// readyOutcome returns the result for the conditions Ready, Error, Reconciling and Stalled.
func (c *clusterSum) readyOutcome() outcome {
	result, specStatus := c.namespacesOutcome(), &c.facts.SpecStatus
	switch text := specStatus.Message(meta.ClusterSidecarName(c.facts.Cluster.Name)); {
	case c.facts.Invalid != "":
	case text != "": // The applied spec is not the requested one, and a user must change that after all workloads are reverted.
		if result.state = stalled; c.groups[working] != nil || c.facts.UnreportedNamespaces > 0 {
			result.state = working
		}
		result.reason, result.message = meta.ReasonReverted, humanize.ShortenMessage(text+"; "+result.message, conditionLimit)
	case specStatus.IsTooLarge && result.state == current:
		result.message = humanize.ShortenMessage(result.message+tooLargeMessage(), conditionLimit)
	}
	return result
}

// namespacesOutcome returns the most important result of all namespaces.
func (c *clusterSum) namespacesOutcome() outcome {
	total := len(c.facts.Namespaces) + c.facts.UnreportedNamespaces
	switch {
	case c.facts.Invalid != "":
		return c.invalidSelectorOutcome()
	case c.groups[stalled] != nil:
		group := c.groups[stalled]
		return group.outcome(stalled, fmt.Sprintf("%d of %d namespaces are stalled", group.count, total))
	case c.failing.count > 0:
		result := c.failing.outcome(working, fmt.Sprintf("%d of %d namespaces fail", c.failing.count, total))
		result.failing = true
		return result
	case c.groups[working] != nil:
		group := c.groups[working]
		return group.outcome(working, fmt.Sprintf("%d of %d namespaces are in progress", group.count+c.facts.UnreportedNamespaces, total))
	case c.facts.UnreportedNamespaces > 0:
		return outcome{state: working, reason: meta.ReasonRollingOut, message: fmt.Sprintf("%d of %d namespaces have not been reconciled yet", c.facts.UnreportedNamespaces, total)}
	}
	spec := &c.facts.Cluster.Spec
	switch {
	case c.status.SelectedNamespaces == 0:
		return outcome{reason: meta.ReasonNoMatch, message: "spec.namespaceSelector selects no namespace"}
	case !spec.IsEnabled():
		return outcome{reason: meta.ReasonDisabled, message: "spec.enabled is false: no workload has the sidecar"}
	case c.status.MatchedWorkloads == 0:
		return outcome{reason: meta.ReasonNoMatch, message: fmt.Sprintf("the selector matches no %s in %d namespaces", workload.Singular(spec.Kinds()...), c.status.SelectedNamespaces)}
	}
	message := fmt.Sprintf("%d of %d %s in %d namespaces run the current sidecar",
		c.status.ReadyWorkloads, c.status.MatchedWorkloads, workload.Plural(spec.Kinds()...), c.status.SelectedNamespaces)
	if n := c.status.WorkloadsWithoutPods; n > 0 {
		message += fmt.Sprintf(", %d have no pods that run the sidecar", n)
	}
	return outcome{reason: meta.ReasonUpToDate, message: message}
}

// invalidSelectorOutcome returns the outcome for an invalid namespaceSelector.
func (c *clusterSum) invalidSelectorOutcome() outcome {
	message := fmt.Sprintf("ClusterVectorSidecar %s: %s; no namespace changes until the spec is corrected", c.facts.Cluster.Name, c.facts.Invalid)
	return outcome{state: stalled, reason: meta.ReasonInvalidSelector, message: humanize.ShortenMessage(message, conditionLimit)}
}

// validityOutcome returns the result for the condition ConfigValid.
func (c *clusterSum) validityOutcome() outcome {
	if c.facts.Invalid != "" {
		return c.invalidSelectorOutcome()
	}
	if c.invalid.count > 0 {
		return c.invalid.outcome(stalled, fmt.Sprintf("%d of %d namespaces have no injected sidecar", c.invalid.count, len(c.facts.Namespaces)))
	}
	return outcome{reason: meta.ReasonAsExpected, message: "values, templates and Vector configuration produce a sidecar in every namespace"}
}

// namespaceGroup is a group of namespaces with the same state: their number, the reason of the first one, and the
// messages of the first few.
type namespaceGroup struct {
	count  int
	reason string
	texts  []string
}

// add adds a namespace to the group. The group has the reason of the first namespace, and the messages of the first
// maxNamed.
func (g *namespaceGroup) add(name string, condition *metav1.Condition) {
	g.count++
	g.reason = cmp.Or(g.reason, condition.Reason)
	if len(g.texts) < maxNamed && condition.Message != "" {
		g.texts = append(g.texts, name+": "+condition.Message)
	}
}

// outcome returns the result of a group of namespaces: the summary, followed by the messages.
func (g *namespaceGroup) outcome(state state, summary string) outcome {
	message := summary
	if len(g.texts) > 0 {
		message += ": " + strings.Join(humanize.TruncateList(g.texts, maxNamed, g.count), "; ")
	}
	return outcome{state: state, reason: cmp.Or(g.reason, meta.ReasonRollingOut), message: humanize.ShortenMessage(message, conditionLimit)}
}
