// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// matches reports whether the VectorSidecar selects a workload. It also returns the reason as a text.
func (r *result) matches(object workload.Object) (bool, string) {
	record := r.findRecord(workload.NewRef(object))
	if record == nil {
		record = workloadcache.NewRecord(object)
	}
	if !r.input.Selects(record) {
		return false, mismatchReason(r.sidecar, record)
	}
	selector, _ := metav1.LabelSelectorAsSelector(&r.sidecar.Spec.Selector) // The selector is valid because it was used to select the workload.
	switch runner := record.Runner(); {
	case selector.Empty():
		return true, "matches all workloads (spec.matchAll)"
	case runner != nil && !selector.Matches(record.Labels()):
		return true, fmt.Sprintf("matches %s in the labels of workload %s %s, which runs the pods", selector, runner.Kind, runner.Name)
	}
	return true, "matches " + selector.String()
}

// findRecord returns the record of a workload, or nil if the VectorSidecar neither selects the workload nor has a
// sidecar in it.
func (r *result) findRecord(ref workload.Ref) *workloadcache.Record {
	for _, record := range r.input.Workloads {
		if record.Kind == ref.Kind && record.Name == ref.Name {
			return record
		}
	}
	return nil
}

// mismatchReason explains why a VectorSidecar does not select a workload: the first requirement that the workload does
// not meet.
func mismatchReason(sidecar *v1alpha1.VectorSidecar, record *workloadcache.Record) string {
	if sidecar.DeletionTimestamp != nil {
		return "selects no workloads, because it is being deleted"
	}
	if kinds := sidecar.Spec.Kinds(); !slices.Contains(kinds, v1alpha1.WorkloadKind(record.Kind)) {
		return fmt.Sprintf("does not select kind %s: spec.workloads lists %v", record.Kind, kinds)
	}
	selector, err := metav1.LabelSelectorAsSelector(&sidecar.Spec.Selector)
	if err != nil {
		return "has a selector that cannot be read: " + err.Error()
	}
	requirements, _ := selector.Requirements()
	workloadLabels := record.View().Labels
	for _, requirement := range requirements {
		if !requirement.Matches(labels.Set(workloadLabels)) {
			return fmt.Sprintf("requires %s, but the workload %s", requirement.String(), labelText(workloadLabels, requirement.Key()))
		}
	}
	return "selects no workloads, because its spec is not valid"
}

// labelText describes the value of a label of a workload.
func labelText(workloadLabels map[string]string, key string) string {
	if value, ok := workloadLabels[key]; ok {
		return fmt.Sprintf("has %s=%s", key, value)
	}
	text := "has no label " + key
	if near := humanize.Nearest(key, slices.Collect(maps.Keys(workloadLabels))); near != "" {
		text += fmt.Sprintf(" (it has %s=%s)", near, workloadLabels[near])
	}
	return text
}

// findInOtherNamespaces returns the name of a VectorSidecar of another namespace with a selector that matches the
// workload, or "" for none.
func (s *session) findInOtherNamespaces(ctx context.Context, deployment workload.Object) (string, error) {
	var name string
	selects := func(sidecar *v1alpha1.VectorSidecar) bool {
		if sidecar.Namespace == deployment.GetNamespace() || meta.IsOfCluster(sidecar.Name) || sidecar.Spec.MatchAll {
			return false
		}
		candidate, _ := workload.ToObject(deployment.DeepCopyObject())
		candidate.SetNamespace(sidecar.Namespace)
		input := decision.Input{Inputs: desired.Inputs{Sidecar: sidecar}}
		if input.Selects(workloadcache.NewRecord(candidate)) {
			name = sidecar.Namespace + "/" + sidecar.Name
		}
		return name != ""
	}
	if s.cluster == nil {
		_ = slices.ContainsFunc(s.objects.Sidecars(), selects) // It sets name.
		return name, nil
	}
	_, err := livelist.Contains(ctx, livelist.New(s.cluster), &v1alpha1.VectorSidecarList{}, selects)
	switch {
	case apierrors.IsForbidden(err) || isNoMatch(err):
		return "", nil // A user who may not list other namespaces gets the answer for this namespace.
	case err != nil:
		return "", fmt.Errorf("listing VectorSidecars of other namespaces: %w", err)
	}
	return name, nil
}

// setConclusion sets Reason and Message of the explanation. A cause that prevents the sidecar takes precedence over the
// state of an existing sidecar.
func (e *explanation) setConclusion(view *workload.View) {
	var matching []sidecarReport
	for _, report := range e.VectorSidecars {
		if report.Matches {
			matching = append(matching, report)
		}
	}
	removed := slices.IndexFunc(e.VectorSidecars, func(a sidecarReport) bool { return !a.Matches && a.Action == string(plan.Remove) })
	troubled := slices.IndexFunc(matching, func(a sidecarReport) bool { return a.Reason != "" && !a.isSuperseded(matching) })
	busy := slices.IndexFunc(matching, func(a sidecarReport) bool { return a.State != "Updated" && !a.isSuperseded(matching) })
	switch {
	case view.OptOut != "":
		e.Reason, e.Message = meta.ReasonOptedOut, fmt.Sprintf("annotation %s is %s", meta.AnnotationInject, view.OptOut)
	case troubled >= 0:
		report := matching[troubled]
		e.Reason, e.Message = report.Reason, fmt.Sprintf("%s: %s", meta.Title(report.Name), report.Message)
	case removed >= 0:
		e.Reason, e.Message = meta.ReasonRemoving, meta.Title(e.VectorSidecars[removed].Name)+" no longer selects the workload"
	case len(matching) == 0:
		e.Reason, e.Message = meta.ReasonNoMatch, e.unmatchedMessage()
	case busy >= 0:
		e.Reason, e.Message = meta.ReasonRollingOut, matching[busy].progressText()
	default:
		e.Reason, e.Message = meta.ReasonUpToDate, matching[0].upToDateText()
	}
}

// unmatchedMessage explains why no VectorSidecar selects the workload.
func (e *explanation) unmatchedMessage() string {
	var near []string
	for _, report := range e.VectorSidecars {
		near = append(near, fmt.Sprintf("%s %s", report.Name, report.Selector))
	}
	switch {
	case e.otherNamespaceMatch != "":
		return fmt.Sprintf("VectorSidecar %s matches the workload, but selects only workloads of its own namespace: create one here", e.otherNamespaceMatch)
	case len(near) == 0:
		return "the namespace contains no VectorSidecar" + e.unreached
	}
	return "no VectorSidecar selects the workload: " + strings.Join(near, "; ") + e.unreached
}

// isSuperseded reports whether another of the matching VectorSidecars supersedes this one.
func (a *sidecarReport) isSuperseded(matching []sidecarReport) bool {
	return a.Reason == meta.ReasonSuperseded && len(matching) > 1
}

// progressText describes the change in progress.
func (a *sidecarReport) progressText() string {
	if a.Action != string(plan.None) && a.Action != string(plan.RecordOnly) && a.Action != string(plan.Adopt) {
		return fmt.Sprintf("the operator writes the sidecar of %s to the workload next (%s); if that does not happen, check the operator: kubectl vectorsidecar check", meta.Title(a.Name), strings.ToLower(a.Action))
	}
	return fmt.Sprintf("the pod template has the current sidecar of %s, and pods are being replaced", meta.Title(a.Name))
}

// print writes the explanation for people.
func (e *explanation) print(w io.Writer, allFields bool) error {
	_ = humanize.Fprintf(w, "%s: %s\n  %s\n", e.Workload, e.Reason, e.Message)
	if e.Owner != "" {
		_ = humanize.Fprintf(w, "  The workload's controller owner is %s.\n", e.Owner)
	}
	for _, report := range e.VectorSidecars {
		_ = humanize.Fprintf(w, "\n%s\n", meta.Title(report.Name))
		var rows [][]string
		add := func(label, text string) {
			if text != "" {
				rows = append(rows, []string{"  " + label, text})
			}
		}
		add("selector", report.Selector)
		if report.Environment != "" {
			add("environment", report.Environment+", from "+report.EnvironmentFrom)
		}
		add("templates", report.Templates)
		add("assumed", report.Assumed)
		add("reverted", report.Reverted)
		add("action", report.actionText())
		add("cause", report.Cause)
		add("reason", strings.TrimSuffix(report.Reason+": "+report.Message, ": "))
		add("warning", report.Warning)
		add("QoS class", report.QoS)
		add("node", report.Node)
		if report.Matches {
			add("remark", report.Remark)
		}
		add("rollout", report.Rollout)
		add("injected", report.hashText())
		add("injected by", report.InjectedBy)
		add("new workloads", report.Admission)
		add("application env", report.InjectedEnv)
		add("last change", plan.CauseLine(report.ChangeCause))
		add("fields", summarizeFields(report.Fields))
		if err := printTable(w, nil, rows); err != nil {
			return err
		}
		if err := printFields(w, report.Fields, allFields); err != nil {
			return err
		}
	}
	return nil
}

// actionText describes the action for a workload, with its batch and its restarts. It returns "" for no action.
func (a *sidecarReport) actionText() string {
	if a.Action == "" {
		return ""
	}
	text := a.Action
	if a.Batch > 0 {
		text += fmt.Sprintf(" in batch %d, %s would restart", a.Batch, countNoun(a.Restarts, "pod"))
	}
	return text
}

// upToDateText describes a workload with the current sidecar.
func (a *sidecarReport) upToDateText() string {
	text := fmt.Sprintf("all pods run the current sidecar of %s", meta.Title(a.Name))
	if a.HasOlderRendering {
		text += ", rendered by an earlier release: the workload gets a newer rendering with its next change"
	}
	return text
}

// hashText describes the hashes of the existing and of the desired sidecar.
func (a *sidecarReport) hashText() string {
	switch {
	case a.InjectedHash == "" && a.WantedHash == "":
		return ""
	case a.InjectedHash == "":
		return "none yet; desired: " + a.WantedHash
	case a.InjectedHash == a.WantedHash || a.WantedHash == "":
		return a.InjectedHash
	case a.HasOlderRendering:
		return a.InjectedHash + "; with the next change: " + a.WantedHash
	}
	return a.InjectedHash + "; desired: " + a.WantedHash
}
