// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package admission answers the API server whether a VectorSidecar may be created or
// changed: with what the operator would decide on it. It changes nothing, and judges
// nothing that package decision does not.
package admission

import (
	"context"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/catalog"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/evaluate"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// Path is where the webhook is served.
const Path = "/validate-vectorsidecar"

const (
	// mostWorkloads bounds the work of one request. Of the workloads beyond, the
	// loop tells.
	mostWorkloads = 100
	// mostAtOnce is how many requests are worked on at once; more wait.
	mostAtOnce = 4
)

// World is where snapshots are taken, and what they turn out to refer to is read.
type World interface {
	source.ConfigMaps

	// Snapshot is as the controller's.
	Snapshot(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (*evaluate.Snapshot, error)
}

// Options are what a Handler judges by.
type Options struct {
	World World
	// Cache may be shared with others, and nil.
	Cache *desired.Cache
	// Bare is what the platform gives without any ConfigMap.
	Bare *catalog.Platform
}

// Handler answers the requests of an API server. Make one with New.
type Handler struct {
	Options

	slots chan struct{}
}

// New returns a Handler.
func New(options Options) *Handler {
	return &Handler{Options: options, slots: make(chan struct{}, mostAtOnce)}
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
	if !isProven(ctx) {
		if err := h.hush(ctx, after, &found); err != nil {
			return undecided(after, err)
		}
	}
	return found.answer()
}

// judge judges a VectorSidecar as it would be.
func (h *Handler) judge(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (judgement, error) {
	return h.judgeIn(ctx, sidecar, func(*evaluate.Snapshot) {})
}

// hush takes out of a judgement what is not known without ConfigMaps.
func (h *Handler) hush(ctx context.Context, sidecar *v1alpha1.VectorSidecar, found *judgement) error {
	if len(found.faults)+len(found.doubts) == 0 {
		return nil
	}
	public, err := h.judgeIn(ctx, sidecar, func(s *evaluate.Snapshot) {
		s.Platform, s.Companions, s.Verdict, s.Taken = h.Bare, nil, nil, decision.Taken{}
		s.ConfigMaps, s.HasAllConfigMaps = nil, true // There are none.
	})
	if err != nil {
		return err
	}
	found.keep(public, sidecar)
	return nil
}

// judgeIn judges a VectorSidecar in its world, changed. What a ConfigMap holds that it
// refers to may change at any time, and so is for the loop to judge.
func (h *Handler) judgeIn(ctx context.Context, sidecar *v1alpha1.VectorSidecar, change func(*evaluate.Snapshot)) (judgement, error) {
	taken, err := h.World.Snapshot(ctx, sidecar)
	if err != nil {
		return judgement{}, err
	}
	taken.LeavesReference = true
	change(taken)
	return judge(ctx, taken, h.decide)
}

func (h *Handler) decide(ctx context.Context, of *evaluate.Snapshot) (*decision.Decision, error) {
	return source.Decide(ctx, of, h.World, h.Cache)
}

// decode reads what is to be, and what there was; nil if it is to be created.
func decode(request *admission.Request) (after, before *v1alpha1.VectorSidecar, err error) {
	after = &v1alpha1.VectorSidecar{}
	if err := read(request.Object.Raw, after); err != nil {
		return nil, nil, fmt.Errorf("reading the VectorSidecar: %w", err)
	}
	if request.Operation != admissionv1.Update {
		return after, nil, nil
	}
	before = &v1alpha1.VectorSidecar{}
	if err := read(request.OldObject.Raw, before); err != nil {
		return nil, nil, fmt.Errorf("reading the VectorSidecar as it was: %w", err)
	}
	return after, before, nil
}

// undecided refuses for want of a decision.
func undecided(sidecar *v1alpha1.VectorSidecar, err error) admission.Response {
	return admission.Errored(http.StatusServiceUnavailable, fmt.Errorf("deciding on VectorSidecar %s/%s: %s", sidecar.Namespace, sidecar.Name, humanize.EscapeBlock(err.Error())))
}
