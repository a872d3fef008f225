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

// maxCanaries limits the changes in a status that wait for canaries with pods.
const maxCanaries = 16

// ClusterFacts are the facts about a ClusterVectorSidecar and its namespaces.
type ClusterFacts struct {
	Cluster *v1alpha1.ClusterVectorSidecar
	// Namespaces has the status in each namespace.
	Namespaces map[string]*InNamespace
	// Unseen is the number of further namespaces that have not been read yet.
	Unseen int
	// Changed is true if a workload was written.
	Changed bool
	// Asking is the value of the annotation that requests a reconcile, "" for none.
	Asking string
	// Waves are as in the status.
	Waves []v1alpha1.RolloutStatus
	// BlindHalt explains why rollout.halt cannot detect the causes of failures, "" if it can, or is
	// not set.
	BlindHalt string
	// Invalid explains why the namespaces cannot be selected, "" if they can.
	Invalid string
	// Trial is the spec generation and retry that all namespaces must have tried.
	Trial lastgood.Trial
	// Own is the last known good spec of the ClusterVectorSidecar, and the spec from which it was
	// reverted.
	Own lastgood.Kept
}

// InNamespace is the status of a ClusterVectorSidecar in one namespace.
type InNamespace struct {
	v1alpha1.VectorSidecarStatus

	// Trial is the trial that the status describes.
	Trial lastgood.Trial
	// IsLeaving is true if the namespace is not selected, or if the ClusterVectorSidecar is being
	// deleted.
	IsLeaving bool
}

// OfCluster returns the status of a ClusterVectorSidecar from its status in each namespace. Its
// lastReconcileTime changes as in Of.
func OfCluster(facts ClusterFacts, now metav1.Time) v1alpha1.ClusterVectorSidecarStatus {
	before := &facts.Cluster.Status
	sum := clusterSum{facts: &facts, groups: map[state]*namespaceGroup{}, kinds: map[v1alpha1.WorkloadKind]*v1alpha1.KindStatus{}}
	status := &sum.status
	status.ObservedGeneration, status.LastReconcileTime, status.Waves = facts.Cluster.Generation, before.LastReconcileTime, facts.Waves
	status.LastKnownGood, status.Reverted = facts.Own.LastGood, facts.Own.Reverted
	for i := range before.Conditions {
		status.Conditions = append(status.Conditions, *before.Conditions[i].DeepCopy())
	}
	status.RemovedByOwners = decision.HeldTakenOut(before.RemovedByOwners, &facts.Cluster.Spec.VectorSidecarSpec, facts.Cluster.Annotations)
	for _, name := range slices.Sorted(maps.Keys(facts.Namespaces)) {
		sum.add(name, facts.Namespaces[name])
		found := decision.HeldTakenOut(facts.Namespaces[name].RemovedByOwners, &facts.Cluster.Spec.VectorSidecarSpec, facts.Cluster.Annotations)
		found = slices.DeleteFunc(found, func(one v1alpha1.OwnerRemoval) bool { return !one.IsIn(name) })
		status.RemovedByOwners = decision.MergeTakenOut(status.RemovedByOwners, found)
	}
	sum.keepFinishedCanaries()
	status.Retry = sum.firstRetry(before.Retry)
	sum.finish()
	v := sum.judge()
	v.add(facts.BlindHalt)
	setConditions(&status.Conditions, v, sum.validity(), facts.Cluster.Generation, now)
	if facts.Changed || !equality.Semantic.DeepEqual(*before, *status) {
		status.LastReconcileTime = &now
	}
	return *status
}

// OfClusterFailure is OfFailure for a ClusterVectorSidecar.
func OfClusterFailure(cluster *v1alpha1.ClusterVectorSidecar, failure error, now metav1.Time) v1alpha1.ClusterVectorSidecarStatus {
	status := cluster.Status.DeepCopy()
	if reportFailure(&status.Conditions, failure, cluster.Generation, now) {
		status.LastReconcileTime = &now
	}
	return *status
}

// clusterSum adds up the namespaces of a ClusterVectorSidecar.
type clusterSum struct {
	facts  *ClusterFacts
	status v1alpha1.ClusterVectorSidecarStatus
	groups map[state]*namespaceGroup
	kinds  map[v1alpha1.WorkloadKind]*v1alpha1.KindStatus
	// failing are the namespaces with failures that are retried. invalid are the namespaces in
	// which nothing may be injected.
	failing, invalid namespaceGroup
	// lists are the entries of status.workloads by state. Entries of whole namespaces have the
	// state "".
	lists map[v1alpha1.WorkloadState][]v1alpha1.NamespacedWorkloadStatus
	// entries is the number of all entries.
	entries int
	// isAsking is true if a namespace has not handled the requested reconcile.
	isAsking bool
}

// add adds a namespace.
func (c *clusterSum) add(name string, of *InNamespace) {
	ready := cmp.Or(apimeta.FindStatusCondition(of.Conditions, meta.ConditionReady), &metav1.Condition{})
	at := stateOf(of, c.facts.Trial)
	if c.groups[at] == nil {
		c.groups[at] = &namespaceGroup{}
	}
	c.groups[at].add(name, ready)
	if apimeta.IsStatusConditionTrue(of.Conditions, meta.ConditionError) && at == working {
		c.failing.add(name, ready)
	}
	if valid := apimeta.FindStatusCondition(of.Conditions, meta.ConditionConfigValid); valid != nil && valid.Status == metav1.ConditionFalse {
		c.invalid.add(name, valid)
	}
	if !of.IsLeaving {
		c.status.SelectedNamespaces++
		switch {
		case at != current:
		case of.WorkloadsWithoutPods > 0 && of.WorkloadsWithoutPods == of.InjectedWorkloads:
			c.status.NamespacesWithoutPods++
		default:
			c.status.ReadyNamespaces++
		}
	}
	c.status.MatchedWorkloads += of.MatchedWorkloads
	c.status.InjectedWorkloads += of.InjectedWorkloads
	c.status.ReadyWorkloads += of.ReadyWorkloads
	c.status.WorkloadsWithoutPods += of.WorkloadsWithoutPods
	for i := range of.Kinds {
		c.addKind(&of.Kinds[i])
	}
	c.addCanary(name, of)
	c.isAsking = c.isAsking || of.LastHandledReconcileAt != c.facts.Asking
	c.list(name, of, at, ready)
}

// addCanary adds the change that the canaries of a namespace receive: while the canaries have no
// pods, and after they have finished but other workloads have not.
func (c *clusterSum) addCanary(name string, namespace *InNamespace) {
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

// keepFinishedCanaries keeps the entries of namespaces that have not reported since the operator started, and limits the list.
func (c *clusterSum) keepFinishedCanaries() {
	entries := c.status.FinishedCanaries
	for _, entry := range c.facts.Cluster.Status.FinishedCanaries {
		if c.facts.Namespaces[entry.Namespace] == nil && c.facts.Unseen > 0 {
			entries = append(entries, entry)
		}
	}
	slices.SortFunc(entries, func(a, b v1alpha1.FinishedCanary) int { return strings.Compare(a.Namespace, b.Namespace) })
	c.status.FinishedCanaries = entries[:min(len(entries), v1alpha1.MaxFinishedCanaries)]
}

func (c *clusterSum) addKind(of *v1alpha1.KindStatus) {
	into := c.kinds[of.Kind]
	if into == nil {
		into = &v1alpha1.KindStatus{Kind: of.Kind}
		c.kinds[of.Kind] = into
	}
	into.Add(of)
}

// list adds the entries of a namespace: its workloads that are not up to date, or, if there are
// none, the namespace itself.
func (c *clusterSum) list(name string, of *InNamespace, at state, ready *metav1.Condition) {
	if c.lists == nil {
		c.lists = map[v1alpha1.WorkloadState][]v1alpha1.NamespacedWorkloadStatus{}
	}
	put := func(under v1alpha1.WorkloadState, entry v1alpha1.NamespacedWorkloadStatus) {
		if len(c.lists[under]) < maxListed {
			c.lists[under] = append(c.lists[under], entry)
		}
	}
	c.entries += len(of.Workloads) + int(of.WorkloadsOmitted)
	for i := range of.Workloads {
		one := &of.Workloads[i]
		put(one.State, v1alpha1.NamespacedWorkloadStatus{
			Namespace: name, Kind: one.Kind, Name: one.Name, State: string(one.State), Reason: one.Reason, Message: one.Message,
		})
	}
	if len(of.Workloads) > 0 || at == current || ready.Reason == "" {
		return
	}
	c.entries++
	entry := v1alpha1.NamespacedWorkloadStatus{Namespace: name, State: meta.ConditionReconciling, Reason: ready.Reason, Message: humanize.Message(ready.Message, 512)}
	if at == stalled {
		entry.State = meta.ConditionStalled
	}
	put("", entry)
}

// firstRetry returns the requested retry with the time of the first namespace that handled it. The
// retry does not apply to later failures.
func (c *clusterSum) firstRetry(before *v1alpha1.RetryStatus) *v1alpha1.RetryStatus {
	requested := fleet.RetryOf(c.facts.Cluster.Annotations)
	switch {
	case requested == "":
		return nil
	case before != nil && before.Requested == requested:
		return before.DeepCopy()
	}
	var first *v1alpha1.RetryStatus
	for _, of := range c.facts.Namespaces {
		if retry := of.Retry; retry != nil && retry.Requested == requested && (first == nil || retry.RetryTime.Before(&first.RetryTime)) {
			first = retry
		}
	}
	return first.DeepCopy()
}

// finish sets the fields that depend on all namespaces.
func (c *clusterSum) finish() {
	for _, kind := range slices.Sorted(maps.Keys(c.kinds)) {
		c.status.Kinds = append(c.status.Kinds, *c.kinds[kind])
	}
	for _, at := range slices.Concat([]v1alpha1.WorkloadState{""}, unsettled) {
		room := maxListed - len(c.status.Workloads)
		c.status.Workloads = append(c.status.Workloads, c.lists[at][:min(len(c.lists[at]), room)]...)
	}
	slices.Sort(c.status.CanariesWithoutPods)
	c.status.CanariesWithoutPods = c.status.CanariesWithoutPods[:min(len(c.status.CanariesWithoutPods), maxCanaries)]
	c.status.WorkloadsOmitted = int32(c.entries - len(c.status.Workloads)) //nolint:gosec // No cluster has two billion.
	c.status.LastHandledReconcileAt = c.facts.Cluster.Status.LastHandledReconcileAt
	if c.facts.Asking != "" && !c.isAsking && c.facts.Unseen == 0 {
		c.status.LastHandledReconcileAt = c.facts.Asking
	}
}

// stateOf returns the state of a namespace. A status that describes another trial does not count.
func stateOf(of *InNamespace, now lastgood.Trial) state {
	switch {
	case of.Trial != now:
		return working
	case apimeta.IsStatusConditionTrue(of.Conditions, meta.ConditionStalled):
		return stalled
	case apimeta.IsStatusConditionTrue(of.Conditions, meta.ConditionReady) && !of.IsLeaving:
		return current
	}
	return working
}

// judge returns the most important state to report.
func (c *clusterSum) judge() verdict {
	v, own := c.judgeNamespaces(), &c.facts.Own
	switch text := own.Text(meta.InNamespace(c.facts.Cluster.Name)); {
	case c.facts.Invalid != "":
	case text != "": // The applied spec is not the requested one, and a user must change that after all workloads are reverted.
		if v.state = stalled; c.groups[working] != nil || c.facts.Unseen > 0 {
			v.state = working
		}
		v.reason, v.message = meta.ReasonReverted, humanize.Message(text+"; "+v.message, conditionLimit)
	case own.IsTooLarge && v.state == current:
		v.message = humanize.Message(v.message+tooLarge(), conditionLimit)
	}
	return v
}

// judgeNamespaces returns the most important state to report of all namespaces.
func (c *clusterSum) judgeNamespaces() verdict {
	all := len(c.facts.Namespaces) + c.facts.Unseen
	switch {
	case c.facts.Invalid != "":
		return c.unreadable()
	case c.groups[stalled] != nil:
		of := c.groups[stalled]
		return of.verdict(stalled, fmt.Sprintf("%d of %d namespaces need a person", of.count, all))
	case c.failing.count > 0:
		v := c.failing.verdict(working, fmt.Sprintf("%d of %d namespaces fail", c.failing.count, all))
		v.failing = true
		return v
	case c.groups[working] != nil:
		of := c.groups[working]
		return of.verdict(working, fmt.Sprintf("%d of %d namespaces are at work", of.count+c.facts.Unseen, all))
	case c.facts.Unseen > 0:
		return verdict{state: working, reason: meta.ReasonRollingOut, message: fmt.Sprintf("%d of %d namespaces have not been looked at yet", c.facts.Unseen, all)}
	}
	spec := &c.facts.Cluster.Spec
	switch {
	case c.status.SelectedNamespaces == 0:
		return verdict{reason: meta.ReasonNoMatch, message: "spec.namespaceSelector selects no namespace"}
	case !spec.IsEnabled():
		return verdict{reason: meta.ReasonDisabled, message: "spec.enabled is false: no workload carries the sidecar"}
	case c.status.MatchedWorkloads == 0:
		return verdict{reason: meta.ReasonNoMatch, message: fmt.Sprintf("the selector matches no %s in %d namespaces", workload.Singular(spec.Kinds()...), c.status.SelectedNamespaces)}
	}
	message := fmt.Sprintf("%d of %d %s in %d namespaces run the current sidecar",
		c.status.ReadyWorkloads, c.status.MatchedWorkloads, workload.Plural(spec.Kinds()...), c.status.SelectedNamespaces)
	if n := c.status.WorkloadsWithoutPods; n > 0 {
		message += fmt.Sprintf(", %d have no pods that run it", n)
	}
	return verdict{reason: meta.ReasonUpToDate, message: message}
}

// unreadable returns the result for a selector of namespaces that cannot be parsed.
func (c *clusterSum) unreadable() verdict {
	message := fmt.Sprintf("%s: %s: nothing is changed in any namespace until it is corrected", meta.Title(meta.InNamespace(c.facts.Cluster.Name)), c.facts.Invalid)
	return verdict{state: stalled, reason: meta.ReasonInvalidSelector, message: humanize.Message(message, conditionLimit)}
}

// validity returns the result for values, templates and configuration.
func (c *clusterSum) validity() verdict {
	if c.facts.Invalid != "" {
		return c.unreadable()
	}
	if c.invalid.count > 0 {
		return c.invalid.verdict(stalled, fmt.Sprintf("nothing is injected in %d of %d namespaces", c.invalid.count, len(c.facts.Namespaces)))
	}
	return verdict{reason: meta.ReasonAsExpected, message: "values, templates and Vector configuration produce a sidecar in every namespace"}
}

// namespaceGroup is a group of namespaces with the same result: their number, the reason of the
// first, and the messages of the first few.
type namespaceGroup struct {
	count  int
	reason string
	texts  []string
}

func (g *namespaceGroup) add(name string, why *metav1.Condition) {
	g.count++
	g.reason = cmp.Or(g.reason, why.Reason)
	if len(g.texts) < maxNamed && why.Message != "" {
		g.texts = append(g.texts, name+": "+why.Message)
	}
}

// verdict returns the result for the group.
func (g *namespaceGroup) verdict(at state, what string) verdict {
	message := what
	if len(g.texts) > 0 {
		message += ": " + strings.Join(humanize.TruncateList(g.texts, maxNamed, g.count), "; ")
	}
	return verdict{state: at, reason: cmp.Or(g.reason, meta.ReasonRollingOut), message: humanize.Message(message, conditionLimit)}
}
