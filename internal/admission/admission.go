// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package admission implements the validating webhook. It takes a VectorSidecar or ClusterVectorSidecar that is
// created or updated, and allows or denies the request according to the operator's decision. It does not add
// rules, and its answers do not change anything in the cluster. It also creates and renews the webhook's
// certificate in a Secret, and registers the webhook with the API server, in every replica.
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
	"kontroloop.ai/vector-sidecar-operator/internal/fairslots"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

const (
	// mostWorkloads is the maximum number of workloads that a review of one request checks, in all namespaces together.
	// The status reports on all workloads.
	mostWorkloads = 100
	// mostAtOnce is the maximum number of requests that are processed at the same time, and mostOfNamespace the maximum
	// for one namespace. Other requests wait, and namespaces take turns.
	mostAtOnce, mostOfNamespace = 4, 2
)

// World reads the cluster.
type World interface {
	// Namespaces returns the namespaces that a ClusterVectorSidecar selects.
	Namespaces(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar) ([]clusterwide.Namespace, error)
	// Snapshot returns the snapshot of a VectorSidecar that the controller would use.
	Snapshot(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (*decision.Input, error)
}

// Options configure a Handler.
type Options struct {
	// World reads the cluster.
	World World
	// Cache caches renderings. It may be shared with the controller, and may be nil.
	Cache *desired.Cache
	// Bare is the platform of an operator without ConfigMaps of the platform team.
	Bare *desired.Platform
}

// Handler answers the admission requests of the API server. Use New to create a Handler.
type Handler struct {
	Options

	slots *fairslots.Slots
}

// New returns a Handler with the options.
func New(options Options) *Handler {
	return &Handler{Options: options, slots: fairslots.New(mostAtOnce, mostOfNamespace)}
}

// Handle implements admission.Handler. It denies a request only because of faults in the VectorSidecar or
// ClusterVectorSidecar itself. An update is not denied because of faults that the old object also has. An
// update that does not change the spec is always allowed.
func (h *Handler) Handle(ctx context.Context, request admission.Request) admission.Response {
	decoded, err := h.decodeRequest(&request)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if !decoded.isChange {
		return admission.Allowed("")
	}
	if err := h.slots.Acquire(ctx, request.Namespace); err != nil {
		return admission.Errored(http.StatusServiceUnavailable, err)
	}
	defer h.slots.Release(request.Namespace)
	result, err := decoded.review(ctx)
	if err != nil {
		return admission.Errored(http.StatusServiceUnavailable, fmt.Errorf("deciding on the admission of %s: %s", decoded.title, humanize.EscapeBlock(err.Error())))
	}
	return result.answer()
}

// decodedRequest is an admission request with its decoded object.
type decodedRequest struct {
	// title is the name of the object in messages.
	title string
	// isChange reports whether the request changes the desired state.
	isChange bool
	// review returns the review of the new object.
	review func(context.Context) (review, error)
}

// decodeRequest decodes the new and the old object of a request, and returns the request for their kind. The error
// is for a request that cannot be read.
func (h *Handler) decodeRequest(request *admission.Request) (*decodedRequest, error) {
	if request.Kind.Kind == kindCluster {
		cluster, oldCluster, err := decodeObjects[v1alpha1.ClusterVectorSidecar](request)
		if err != nil {
			return nil, err
		}
		return &decodedRequest{
			title:    meta.Title(meta.ClusterSidecarName(cluster.Name)),
			isChange: cluster.DeletionTimestamp == nil && (oldCluster == nil || !equality.Semantic.DeepEqual(oldCluster.Spec, cluster.Spec)),
			review:   func(ctx context.Context) (review, error) { return h.reviewCluster(ctx, cluster, oldCluster) },
		}, nil
	}
	sidecar, oldSidecar, err := decodeObjects[v1alpha1.VectorSidecar](request)
	if err != nil {
		return nil, err
	}
	return &decodedRequest{
		title:    desired.Describe(sidecar),
		isChange: sidecar.DeletionTimestamp == nil && (oldSidecar == nil || !equality.Semantic.DeepEqual(oldSidecar.Spec, sidecar.Spec)),
		review: func(ctx context.Context) (review, error) {
			result, public, err := h.reviewChange(ctx, &change{sidecar: sidecar, oldSidecar: oldSidecar, maxWorkloads: mostWorkloads})
			if err == nil && !isFromAPIServer(ctx) {
				result.redactPrivate(public, sidecar)
			}
			return result, err
		},
	}, nil
}

// change is the creation or update of a VectorSidecar in one namespace, which a request asks for.
type change struct {
	// oldSidecar is the VectorSidecar before the update, or nil for a creation.
	sidecar, oldSidecar *v1alpha1.VectorSidecar
	// scope and oldScope are the scopes of both.
	scope, oldScope desired.ParentScope
	// maxWorkloads is the maximum number of workloads to check.
	maxWorkloads int
	// isExampleNamespace reports whether the namespace is only an example, with content that is ignored.
	// oldExcludesNamespace reports whether the ClusterVectorSidecar did not select the namespace before the update.
	isExampleNamespace, oldExcludesNamespace bool
}

// reviewChange reviews a VectorSidecar. Faults that the old VectorSidecar also has become doubts. It also returns a
// public review, which does not depend on ConfigMaps, because the caller may not be allowed to read them. The public
// review is empty if the caller may see the whole review, or if no remarks exist.
func (h *Handler) reviewChange(ctx context.Context, change *change) (result, public review, err error) {
	result, err = h.reviewSnapshot(ctx, change, change.sidecar, func(*decision.Input) {})
	if err != nil {
		return review{}, review{}, err
	}
	if change.oldSidecar != nil && len(result.faults) > 0 {
		previous, err := h.reviewSnapshot(ctx, change, change.oldSidecar, func(s *decision.Input) {
			s.SetScope(change.oldScope)
			if change.oldExcludesNamespace {
				s.Workloads, s.Others = nil, nil
			}
		})
		if err != nil {
			return review{}, review{}, err
		}
		result.demoteOldFaults(previous.faults)
	}
	if isFromAPIServer(ctx) || len(result.faults)+len(result.doubts) == 0 {
		return result, review{}, nil
	}
	public, err = h.reviewSnapshot(ctx, change, change.sidecar, func(s *decision.Input) {
		s.Platform = h.Bare
		withoutConfigMaps(s)
	})
	return result, public, err
}

// withoutConfigMaps removes all data that is from ConfigMaps of the namespace from a snapshot.
func withoutConfigMaps(s *decision.Input) {
	s.Companions, s.Verdict, s.Adopted = nil, nil, decision.Adopted{}
	s.ConfigMaps = source.Reader{Reader: source.NewObjectOverlay(nil)} // The namespace counts as empty.
}

// reviewSnapshot reviews a VectorSidecar with its snapshot, after a function has modified the snapshot. It does
// not check the content of referenced ConfigMaps, because the content may change at any time. The controller
// checks it.
func (h *Handler) reviewSnapshot(ctx context.Context, change *change, sidecar *v1alpha1.VectorSidecar, modify func(*decision.Input)) (review, error) {
	snapshot, err := h.World.Snapshot(ctx, sidecar)
	if err != nil {
		return review{}, err
	}
	snapshot.LeavesReference = true
	snapshot.SetScope(change.scope)
	if change.isExampleNamespace {
		snapshot.Workloads, snapshot.Others, snapshot.NamespaceLabels = nil, nil, nil
		withoutConfigMaps(snapshot)
	}
	modify(snapshot)
	return newReview(ctx, snapshot, change.maxWorkloads, h.decide)
}

// decide returns the operator's decision about a VectorSidecar, with the cached renderings.
func (h *Handler) decide(ctx context.Context, snapshot *decision.Input) (*decision.Decision, error) {
	return decision.Decide(ctx, snapshot, h.Cache)
}

// decodeObjects decodes the new object and the old object of a request. The old object is nil for a creation.
func decodeObjects[T v1alpha1.VectorSidecar | v1alpha1.ClusterVectorSidecar](request *admission.Request) (object, oldObject *T, err error) {
	object = new(T)
	if err := decodeStrictly(request.Object.Raw, object); err != nil {
		return nil, nil, fmt.Errorf("reading the object of the admission request: %w", err)
	}
	if request.Operation != admissionv1.Update {
		return object, nil, nil
	}
	oldObject = new(T)
	if err := decodeStrictly(request.OldObject.Raw, oldObject); err != nil {
		return nil, nil, fmt.Errorf("reading the old object of the admission request: %w", err)
	}
	return object, oldObject, nil
}
