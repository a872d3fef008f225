// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package admission is the validating webhook. It takes a VectorSidecar or a ClusterVectorSidecar
// that is created or updated, and allows or denies it according to the decision that the operator
// would make. It adds no rules, and its answers do not change anything. It also maintains the
// certificate of the webhook in a Secret: every replica serves the certificate, can create and
// renew it, and can register the webhook with the API server.
package admission

import (
	"context"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/evaluate"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

const (
	// mostWorkloads limits the number of workloads of one request, in all namespaces together. The
	// controller reports on further workloads.
	mostWorkloads = 100
	// mostAtOnce limits the number of requests that are processed at the same time. Others wait.
	mostAtOnce = 4
)

// World takes snapshots, and reads the ConfigMaps that they refer to.
type World interface {
	desired.Objects

	// Namespaces returns the namespaces that a ClusterVectorSidecar selects.
	Namespaces(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar) ([]clusterwide.Namespace, error)
	// Snapshot returns the same snapshot as the controller.
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

// Handler answers the API server's requests. New creates it.
type Handler struct {
	Options

	slots chan struct{}
}

// New returns a Handler.
func New(options Options) *Handler {
	return &Handler{Options: options, slots: make(chan struct{}, mostAtOnce)}
}

// Handle implements admission.Handler. It denies a VectorSidecar because of faults in the
// VectorSidecar. It does not deny an update because of faults that existed before, and always
// allows an update that does not change the spec.
func (h *Handler) Handle(ctx context.Context, request admission.Request) admission.Response {
	question, err := h.read(&request)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if !question.isChange {
		return admission.Allowed("")
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return admission.Errored(http.StatusServiceUnavailable, ctx.Err())
	}
	result, err := question.review(ctx)
	if err != nil {
		return admission.Errored(http.StatusServiceUnavailable, fmt.Errorf("deciding on %s: %s", question.title, humanize.EscapeBlock(err.Error())))
	}
	return result.answer()
}

// question is the content of a request.
type question struct {
	// title names the object.
	title string
	// isChange is true if the desired state changes.
	isChange bool
	review   func(context.Context) (review, error)
}

// read reads a request.
func (h *Handler) read(request *admission.Request) (*question, error) {
	if request.Kind.Kind == kindCluster {
		cluster, oldCluster, err := decode[v1alpha1.ClusterVectorSidecar](request)
		if err != nil {
			return nil, err
		}
		return &question{
			title:    meta.Title(meta.InNamespace(cluster.Name)),
			isChange: cluster.DeletionTimestamp == nil && (oldCluster == nil || !equality.Semantic.DeepEqual(oldCluster.Spec, cluster.Spec)),
			review:   func(ctx context.Context) (review, error) { return h.reviewCluster(ctx, cluster, oldCluster) },
		}, nil
	}
	sidecar, oldSidecar, err := decode[v1alpha1.VectorSidecar](request)
	if err != nil {
		return nil, err
	}
	return &question{
		title:    desired.Describe(sidecar),
		isChange: sidecar.DeletionTimestamp == nil && (oldSidecar == nil || !equality.Semantic.DeepEqual(oldSidecar.Spec, sidecar.Spec)),
		review: func(ctx context.Context) (review, error) {
			result, public, err := h.reviewChange(ctx, &change{sidecar: sidecar, oldSidecar: oldSidecar, maxWorkloads: mostWorkloads})
			if err == nil && !isProven(ctx) {
				result.redactPrivate(public, sidecar)
			}
			return result, err
		},
	}, nil
}

// change is a change of a VectorSidecar in a namespace.
type change struct {
	// oldSidecar is nil on creation.
	sidecar, oldSidecar *v1alpha1.VectorSidecar
	// maxWorkloads is the maximum number of workloads that are checked.
	maxWorkloads int
	// isExampleNamespace is true if the namespace is only an example, so that its content does not count.
	// oldExcludesNamespace is true if before did not apply to the namespace.
	isExampleNamespace, oldExcludesNamespace bool
}

// reviewChange evaluates a VectorSidecar after and before the change. It also returns the public
// part of the review, which does not depend on ConfigMaps. This part is empty if the caller may see
// the whole review.
func (h *Handler) reviewChange(ctx context.Context, change *change) (result, public review, err error) {
	result, err = h.reviewSnapshot(ctx, change, change.sidecar, func(*evaluate.Snapshot) {})
	if err != nil {
		return review{}, review{}, err
	}
	if change.oldSidecar != nil && len(result.faults) > 0 {
		previous, err := h.reviewSnapshot(ctx, change, change.oldSidecar, func(s *evaluate.Snapshot) {
			if change.oldExcludesNamespace {
				s.Workloads, s.Others = nil, nil
			}
		})
		if err != nil {
			return review{}, review{}, err
		}
		result.demoteOldFaults(previous.faults)
	}
	if isProven(ctx) || len(result.faults)+len(result.doubts) == 0 {
		return result, review{}, nil
	}
	public, err = h.reviewSnapshot(ctx, change, change.sidecar, func(s *evaluate.Snapshot) {
		s.Platform = h.Bare
		withoutConfigMaps(s)
	})
	return result, public, err
}

// withoutConfigMaps removes all data from ConfigMaps of the namespace from a snapshot.
func withoutConfigMaps(s *evaluate.Snapshot) {
	s.Companions, s.Verdict, s.Adopted = nil, nil, decision.Adopted{}
	s.ConfigMaps, s.HasAllConfigMaps = nil, true // The namespace counts as empty.
}

// reviewSnapshot evaluates a VectorSidecar on its modified snapshot. The content of referenced ConfigMaps
// is left to the controller, because it may change at any time.
func (h *Handler) reviewSnapshot(ctx context.Context, change *change, sidecar *v1alpha1.VectorSidecar, modify func(*evaluate.Snapshot)) (review, error) {
	snapshot, err := h.World.Snapshot(ctx, sidecar)
	if err != nil {
		return review{}, err
	}
	snapshot.LeavesReference = true
	if change.isExampleNamespace {
		snapshot.Workloads, snapshot.Others, snapshot.NamespaceLabels = nil, nil, nil
		withoutConfigMaps(snapshot)
	}
	modify(snapshot)
	return newReview(ctx, snapshot, change.maxWorkloads, h.decide)
}

func (h *Handler) decide(ctx context.Context, snapshot *evaluate.Snapshot) (*decision.Decision, error) {
	return evaluate.DecideFrom(ctx, snapshot, h.World, h.Cache)
}

// decode returns the new object and the old one, nil on creation.
func decode[T v1alpha1.VectorSidecar | v1alpha1.ClusterVectorSidecar](request *admission.Request) (object, oldObject *T, err error) {
	object = new(T)
	if err := read(request.Object.Raw, object); err != nil {
		return nil, nil, fmt.Errorf("reading the object: %w", err)
	}
	if request.Operation != admissionv1.Update {
		return object, nil, nil
	}
	oldObject = new(T)
	if err := read(request.OldObject.Raw, oldObject); err != nil {
		return nil, nil, fmt.Errorf("reading the old object: %w", err)
	}
	return object, oldObject, nil
}
