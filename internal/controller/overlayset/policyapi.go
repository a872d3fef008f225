// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package overlayset

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
	// PolicyInterval is the approximate interval between checks for the MutatingAdmissionPolicy API. The API server may
	// be upgraded or downgraded while the operator runs.
	PolicyInterval = 5 * time.Minute
	// policyGroup and policyResource are the API group and the resource of MutatingAdmissionPolicies.
	policyGroup    = "admissionregistration.k8s.io/v1"
	policyResource = "mutatingadmissionpolicies"
)

// PolicyAPI reports whether the API server serves MutatingAdmissionPolicies. Only an installation with admission injection
// has it. Every replica checks, because every replica answers admission requests.
type PolicyAPI struct {
	apis discovery.ServerResourcesInterfaceWithContext
	// definitions are the schemas of the kinds that the API server injects into.
	definitions *definitions

	isLacking atomic.Bool
}

// NewPolicyAPI returns the PolicyAPI of an installation with admission injection. isServed reports whether the API server
// serves a kind.
func NewPolicyAPI(ctx context.Context, mgr ctrl.Manager, isServed func(*workload.Kind) bool, clock func() time.Time) (*PolicyAPI, error) {
	apis, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("creating a discovery client: %w", err)
	}
	return &PolicyAPI{apis: apis, definitions: &definitions{
		documents: apis.OpenAPIV3WithContext(ctx), isServed: isServed, now: clock, cached: map[string]*knownDefinition{},
	}}, nil
}

// NotServedReason explains why the API server does not inject sidecars. It returns "" if the API server may inject them.
func (p *PolicyAPI) NotServedReason() string {
	if p.isLacking.Load() {
		return "the API server does not serve MutatingAdmissionPolicies"
	}
	return "" // The result is also "" before the first answer.
}

// KindProblems returns a function that explains why the API server must not inject a pod into a kind, or returns ""
// if it may. KindProblems first reads the definitions of the kinds. It ignores read errors, because the Reconciler
// reports them.
func (p *PolicyAPI) KindProblems(ctx context.Context, kinds []v1alpha1.WorkloadKind) func(kind *workload.Kind, pod map[string]any) string {
	for _, name := range kinds {
		if kind := workload.KindByName(string(name)); kind != nil {
			_ = p.definitions.refreshDefinition(ctx, kind)
		}
	}
	return p.definitions.findUnknownField
}

// Detect asks the API server whether it serves MutatingAdmissionPolicies, and reports whether the answer has changed.
// Without an answer, the last one counts.
func (p *PolicyAPI) Detect(ctx context.Context) (isNew bool) {
	resources, err := p.apis.ServerResourcesForGroupVersionWithContext(ctx, policyGroup)
	if err != nil && !apierrors.IsNotFound(err) {
		log.FromContext(ctx).V(1).Info("checking for the API of MutatingAdmissionPolicies", "cause", err.Error())
		return false
	}
	isLacking := err != nil || !slices.ContainsFunc(resources.APIResources, func(resource metav1.APIResource) bool { return resource.Name == policyResource })
	if p.isLacking.Swap(isLacking) == isLacking {
		return false
	}
	log.FromContext(ctx).Info("detected API of MutatingAdmissionPolicies", "blocker", p.NotServedReason())
	return true
}

// Refresh checks the API and the definitions again, and reports whether one of them has changed. The operator
// maintains OverlaySets even without the API, so that they exist when the API becomes available.
func (p *PolicyAPI) Refresh(ctx context.Context) (isNew bool) {
	isNew = p.Detect(ctx)
	return p.definitions.haveChanged(ctx) || isNew
}
