// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package admission answers the API server whether a VectorSidecar may be created or
// changed: with what the operator would decide on it. It changes nothing, and judges
// nothing that package decision does not.
package admission

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// Path is where the webhook is served.
const Path = "/validate-vectorsidecar"

const (
	// mostWorkloads bounds the work of one request. Of the workloads beyond, the
	// loop tells.
	mostWorkloads = 100
	// mostLines bounds what one answer says.
	mostLines = 10
	// mostAtOnce is how many requests are worked on at once; more wait.
	mostAtOnce = 4
)

// World is where snapshots are taken.
type World interface {
	// Snapshot is as the controller's.
	Snapshot(ctx context.Context, sidecar *v1alpha1.VectorSidecar, fail context.CancelCauseFunc) (*decision.Snapshot, error)
}

// Handler answers the requests of an API server. Make one with New.
type Handler struct {
	world World
	memo  *decision.Memo
	slots chan struct{}
}

// New returns a Handler. The memo may be shared with others.
func New(world World, memo *decision.Memo) *Handler {
	return &Handler{world: world, memo: memo, slots: make(chan struct{}, mostAtOnce)}
}

// Handle implements admission.Handler. What is wrong with a VectorSidecar refuses it.
// An update is refused for what it makes wrong, not for what was so before; one
// that changes nothing of what is wanted always passes.
func (h *Handler) Handle(ctx context.Context, request admission.Request) admission.Response {
	after, before, err := decode(&request)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if after.DeletionTimestamp != nil || before != nil && equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		return admission.Allowed("")
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return admission.Errored(http.StatusServiceUnavailable, ctx.Err())
	}
	found, err := h.judge(ctx, after)
	if err != nil {
		return undecided(after, err)
	}
	if before != nil && len(found.faults) > 0 {
		was, err := h.judge(ctx, before)
		if err != nil {
			return undecided(after, err)
		}
		found.forgive(was.faults)
	}
	return found.answer()
}

// judge judges a VectorSidecar as it would be.
func (h *Handler) judge(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (judgement, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	snapshot, err := h.world.Snapshot(ctx, sidecar, fail)
	if err != nil {
		return judgement{}, err
	}
	found, err := judge(ctx, snapshot, h.memo)
	return found, cmp.Or(context.Cause(ctx), err)
}

// decode reads what is to be, and what there was; nil if it is to be created.
func decode(request *admission.Request) (after, before *v1alpha1.VectorSidecar, err error) {
	after = &v1alpha1.VectorSidecar{}
	if err := bounded.Object().DecodeJSON(request.Object.Raw, after); err != nil {
		return nil, nil, fmt.Errorf("reading the VectorSidecar: %w", err)
	}
	if request.Operation != admissionv1.Update {
		return after, nil, nil
	}
	before = &v1alpha1.VectorSidecar{}
	if err := bounded.Object().DecodeJSON(request.OldObject.Raw, before); err != nil {
		return nil, nil, fmt.Errorf("reading the VectorSidecar as it was: %w", err)
	}
	return after, before, nil
}

// undecided refuses for want of a decision.
func undecided(sidecar *v1alpha1.VectorSidecar, err error) admission.Response {
	return admission.Errored(http.StatusServiceUnavailable, fmt.Errorf("deciding on VectorSidecar %s/%s: %w", sidecar.Namespace, sidecar.Name, err))
}

// forgive makes doubts of faults that were there before.
func (j *judgement) forgive(before []string) {
	isOld := func(fault string) bool { return slices.Contains(before, fault) }
	for _, fault := range j.faults {
		if isOld(fault) {
			j.doubts = append(j.doubts, "as before: "+fault)
		}
	}
	j.faults = slices.DeleteFunc(j.faults, isOld)
}

// answer says what is wrong, and refuses because of faults.
func (j *judgement) answer() admission.Response {
	response := admission.Allowed("").WithWarnings(warnings(j.doubts)...)
	if len(j.faults) == 0 {
		return response
	}
	response.Allowed = false
	response.Result = &metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
		Message: strings.Join(few(j.faults), "\n"),
	}
	return response
}

// warnings are texts without repetition, each on one line, as the header that they
// are sent in needs it.
func warnings(texts []string) []string {
	var lines []string
	for _, text := range texts {
		if line := strings.Join(strings.Fields(text), " "); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return few(lines)
}

// few keeps the first lines and counts the rest.
func few(lines []string) []string {
	if len(lines) <= mostLines {
		return lines
	}
	return append(slices.Clone(lines[:mostLines]), fmt.Sprintf("and %d more", len(lines)-mostLines))
}
