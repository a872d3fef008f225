// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// tell writes the status if it says anything new, and events if anything
// happened. A status that would be written too often is held back, and what would
// be told with it.
func (r *Reconciler) tell(ctx context.Context, sidecar *v1alpha1.VectorSidecar, decided *decision.Decision, result *outcome) error {
	known, before := r.memory.Of(client.ObjectKeyFromObject(sidecar)), sidecar.DeepCopy()
	before.Status = *known.Status(sidecar)
	changed := known.HasChanged(len(result.done) > 0)
	facts := status.Facts{Sidecar: before, Decision: decided, Changed: changed, Asking: result.asking, Failures: result.failures}
	sidecar.Status = status.Of(facts, metav1.Now())
	r.tellMetrics(sidecar, facts)
	r.tellEvents(sidecar, result)
	isUnknown := known.IsStatusUnknown()
	if !isUnknown && equality.Semantic.DeepEqual(before.Status, sidecar.Status) {
		return nil
	}
	if result.statusWait = known.ReserveStatus(); result.statusWait > 0 {
		log.FromContext(ctx).V(1).Info("status held back", "for", result.statusWait)
		return nil
	}
	r.tellErrors(ctx, before, sidecar)
	ctx, cancel := finishing(ctx)
	defer cancel()
	ctx, telling := r.begin(ctx, "tell")
	err := r.writeStatus(ctx, before, sidecar, isUnknown)
	telling.end(err)
	if err != nil {
		known.StatusFailed()
		return fmt.Errorf("writing the status: %w", err)
	}
	known.StatusWritten(sidecar)
	return nil
}

// writeStatus writes the difference to the status before, or all of it where that is
// not known.
func (r *Reconciler) writeStatus(ctx context.Context, before, after *v1alpha1.VectorSidecar, isUnknown bool) error {
	patch := client.MergeFrom(before)
	if isUnknown {
		all, err := whole(&after.Status)
		if err != nil {
			return err
		}
		patch = all
	}
	return client.IgnoreNotFound(r.client.Status().Patch(ctx, after, patch, client.FieldOwner(meta.Operator)))
}

// whole is a patch that gives a VectorSidecar a status whatever it has before: a
// difference to what it does not have would leave a part of that.
func whole(status *v1alpha1.VectorSidecarStatus) (client.Patch, error) {
	given, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		return nil, err
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[v1alpha1.VectorSidecarStatus]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if _, isGiven := given[name]; !isGiven {
			given[name] = nil
		}
	}
	text, err := json.Marshal(map[string]any{"status": given})
	if err != nil {
		return nil, err
	}
	return client.RawPatch(types.MergePatchType, text), nil
}

// tellMetrics takes down where everything stands.
func (r *Reconciler) tellMetrics(sidecar *v1alpha1.VectorSidecar, facts status.Facts) {
	ready := apimeta.FindStatusCondition(sidecar.Status.Conditions, meta.ConditionReady)
	r.Metrics.Stand(client.ObjectKeyFromObject(sidecar), telemetry.SidecarState{
		Ready: string(ready.Status), Reason: ready.Reason,
		Workloads: func(yield func(telemetry.WorkloadState) bool) {
			for s := range status.Standings(facts) {
				if !yield(telemetry.WorkloadState{UID: s.Target.UID, State: s.State, Reason: s.Reason}) {
					return
				}
			}
		},
	})
}

func (r *Reconciler) tellEvents(after *v1alpha1.VectorSidecar, result *outcome) {
	written, causes := map[plan.Action][]string{}, map[plan.Action][]string{}
	for _, p := range result.done {
		if !p.StartsPods() {
			continue // Nothing has happened to the workload.
		}
		target := reference(p.Target)
		// Events of one version are counted as one, with what the first of them said.
		target.ResourceVersion = p.ResourceVersion
		r.events.Eventf(target, after, corev1.EventTypeNormal, happened[p.Action], string(p.Action),
			"%s the sidecar of VectorSidecar %s: %s", happened[p.Action], after.Name, p.Cause)
		written[p.Action] = append(written[p.Action], p.Target.Name)
		if !slices.Contains(causes[p.Action], p.Cause) {
			causes[p.Action] = append(causes[p.Action], p.Cause)
		}
	}
	for _, action := range []plan.Action{plan.Inject, plan.Update, plan.Remove} {
		if names := written[action]; len(names) > 0 {
			note := fmt.Sprintf("%s the sidecar of %d %s: %s: %s", happened[action], len(names), workload.Plural(), strings.Join(humanize.First(names, mostNames, len(names)), ", "), oneOf(causes[action]))
			r.events.Eventf(after, nil, corev1.EventTypeNormal, happened[action], string(action), "%s", humanize.Message(note, noteLimit))
		}
	}
}

// tellErrors tells of an error that is new.
func (r *Reconciler) tellErrors(ctx context.Context, before, after *v1alpha1.VectorSidecar) {
	was := apimeta.FindStatusCondition(before.Status.Conditions, meta.ConditionError)
	is := apimeta.FindStatusCondition(after.Status.Conditions, meta.ConditionError)
	if is.Status != metav1.ConditionTrue || was != nil && was.Status == is.Status && was.Message == is.Message {
		return
	}
	r.events.Eventf(after, nil, corev1.EventTypeWarning, is.Reason, "Reconcile", "%s", humanize.Message(is.Message, noteLimit))
	if apimeta.IsStatusConditionTrue(after.Status.Conditions, meta.ConditionStalled) {
		telemetry.Warn(log.FromContext(ctx), "a person has to do something first", "reason", is.Reason, "cause", is.Message)
		r.Reports.Terminal(is.Reason)
	}
}

const (
	// noteLimit is how many bytes of a note an event gets, which may hold 1024.
	noteLimit = 1000
	// mostNames is how many Deployments are named in a line.
	mostNames = 10
)

// happened names an action once it is done.
var happened = map[plan.Action]string{
	plan.Inject: meta.ReasonInjected, plan.Update: meta.ReasonUpdated, plan.Remove: meta.ReasonRemoved,
}

// oneOf is the first of some causes, and how many others there are.
func oneOf(causes []string) string {
	if len(causes) == 1 {
		return causes[0]
	}
	return fmt.Sprintf("%s (and %d other causes)", causes[0], len(causes)-1)
}

// reference is as much of a workload as an event needs.
func reference(target workload.Ref) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: target.Kind})
	object.Namespace, object.Name, object.UID = target.Namespace, target.Name, target.UID
	return object
}
