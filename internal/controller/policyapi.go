// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

const (
	// policyInterval is the approximate interval between checks for the MutatingAdmissionPolicy API. The API server may
	// be upgraded or downgraded while the operator runs.
	policyInterval = 5 * time.Minute
	policyGroup    = "admissionregistration.k8s.io/v1"
	policyResource = "mutatingadmissionpolicies"
)

// policyAPI reports whether the API server serves MutatingAdmissionPolicies. It is nil if the installation does not use
// admission injection. Every replica checks, because every replica answers admission requests.
type policyAPI struct {
	apis discovery.ServerResourcesInterfaceWithContext
	// definitions are the schemas of the kinds that the API server injects into.
	definitions *definitions

	isLacking atomic.Bool
}

// newPolicyAPI returns the policyAPI of an installation with admission injection, otherwise nil.
func newPolicyAPI(ctx context.Context, mgr ctrl.Manager, options *Options) (*policyAPI, error) {
	if !options.OverlaySets {
		return nil, nil //nolint:nilnil // An installation without admission injection is not an error.
	}
	apis, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("creating a discovery client: %w", err)
	}
	return &policyAPI{apis: apis, definitions: &definitions{
		documents: apis.OpenAPIV3WithContext(ctx), isServed: options.Workloads.HasKind, now: options.Clock, cached: map[string]*knownDefinition{},
	}}, nil
}

// notServedReason explains why the API server does not inject sidecars. It returns "" if the API server may inject them.
func (p *policyAPI) notServedReason() string {
	switch {
	case p == nil:
		return "the installation's admissionInjection.enabled is false"
	case p.isLacking.Load():
		return "the API server serves no MutatingAdmissionPolicy"
	}
	return "" // The result is also "" before the first answer.
}

// kindProblems reads the definitions of kinds. It ignores read errors, because the writer of the OverlaySet reports them.
func (p *policyAPI) kindProblems(ctx context.Context, kinds []v1alpha1.WorkloadKind) func(kind *workload.Kind, pod map[string]any) string {
	if p == nil {
		return nil
	}
	for _, name := range kinds {
		if kind := workload.KindByName(string(name)); kind != nil {
			_ = p.definitions.refresh(ctx, kind)
		}
	}
	return p.definitions.findUnknownField
}

// detect asks the API server and reports whether the answer has changed. If the API server does not answer, the last
// answer applies.
func (p *policyAPI) detect(ctx context.Context) (isNew bool) {
	resources, err := p.apis.ServerResourcesForGroupVersionWithContext(ctx, policyGroup)
	if err != nil && !apierrors.IsNotFound(err) {
		log.FromContext(ctx).V(1).Info("checking for an API", "cause", err.Error())
		return false
	}
	isLacking := err != nil || !slices.ContainsFunc(resources.APIResources, func(resource metav1.APIResource) bool { return resource.Name == policyResource })
	if p.isLacking.Swap(isLacking) == isLacking {
		return false
	}
	log.FromContext(ctx).Info("availability of admission injection changed", "why", p.notServedReason())
	return true
}

// refresh checks the API and the definitions again, and reports whether one of them has changed. The operator maintains
// OverlaySets even without the API, so that they exist when the API becomes available.
func (p *policyAPI) refresh(ctx context.Context) (isNew bool) {
	isNew = p.detect(ctx)
	return p.definitions.haveChanged(ctx) || isNew
}
