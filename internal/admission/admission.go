// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package admission is the validating webhook: it answers whether a VectorSidecar may be created or
// updated, by what the operator would decide about it, and keeps the certificate that it serves. The
// answers change nothing and have no rules of their own. The certificate is in a Secret: every replica
// serves it, and any of them may create and renew it and register the webhook with the API server.
package admission

import (
	"context"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/evaluate"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

const (
	// mostWorkloads bounds the work of one request. The controller reports on further workloads.
	mostWorkloads = 100
	// mostAtOnce is how many requests are processed at once; more wait.
	mostAtOnce = 4
)

// World takes snapshots, and reads the ConfigMaps that they turn out to refer to.
type World interface {
	desired.Objects

	// Snapshot is like the controller's.
	Snapshot(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (*evaluate.Snapshot, error)
}

// Options configure a Handler.
type Options struct {
	World World
	// Cache may be shared, and may be nil.
	Cache *desired.Cache
	// Bare is the platform without any ConfigMap.
	Bare *desired.Platform
}

// Handler answers the API server's requests. Make one with New.
type Handler struct {
	Options

	slots chan struct{}
}

// New returns a Handler.
func New(options Options) *Handler {
	return &Handler{Options: options, slots: make(chan struct{}, mostAtOnce)}
}

// Handle implements admission.Handler. It refuses a VectorSidecar for its own faults. It does not
// refuse an update for faults that existed before, and always allows one that does not change the
// spec.
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

// judge evaluates a VectorSidecar as it would be.
func (h *Handler) judge(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (review, error) {
	return h.judgeIn(ctx, sidecar, func(*evaluate.Snapshot) {})
}

// hush removes from a judgement what is only known from ConfigMaps.
func (h *Handler) hush(ctx context.Context, sidecar *v1alpha1.VectorSidecar, found *review) error {
	if len(found.faults)+len(found.doubts) == 0 {
		return nil
	}
	public, err := h.judgeIn(ctx, sidecar, func(s *evaluate.Snapshot) {
		s.Platform, s.Companions, s.Verdict, s.Adopted = h.Bare, nil, nil, decision.Adopted{}
		s.ConfigMaps, s.HasAllConfigMaps = nil, true // None are known.
	})
	if err != nil {
		return err
	}
	found.keep(public, sidecar)
	return nil
}

// judgeIn evaluates a VectorSidecar on its snapshot, modified by change. The content of ConfigMaps
// that it refers to may change at any time, so it is left to the controller.
func (h *Handler) judgeIn(ctx context.Context, sidecar *v1alpha1.VectorSidecar, change func(*evaluate.Snapshot)) (review, error) {
	taken, err := h.World.Snapshot(ctx, sidecar)
	if err != nil {
		return review{}, err
	}
	taken.LeavesReference = true
	change(taken)
	return judge(ctx, taken, h.decide)
}

func (h *Handler) decide(ctx context.Context, of *evaluate.Snapshot) (*decision.Decision, error) {
	return evaluate.DecideFrom(ctx, of, h.World, h.Cache)
}

// decode returns the new VectorSidecar and the old one, nil on creation.
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
		return nil, nil, fmt.Errorf("reading the old VectorSidecar: %w", err)
	}
	return after, before, nil
}

// undecided refuses a VectorSidecar because evaluating it failed.
func undecided(sidecar *v1alpha1.VectorSidecar, err error) admission.Response {
	return admission.Errored(http.StatusServiceUnavailable, fmt.Errorf("deciding on VectorSidecar %s/%s: %s", sidecar.Namespace, sidecar.Name, humanize.EscapeBlock(err.Error())))
}
