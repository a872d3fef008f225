// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

const (
	// policyInterval is about how often to ask whether the API server serves the API by which it
	// injects itself: an upgrade or a downgrade of it ends no operator that talks to another one.
	policyInterval = 5 * time.Minute
	policyGroup    = "admissionregistration.k8s.io/v1"
	policyResource = "mutatingadmissionpolicies"
)

// policyAPI knows whether the API server serves MutatingAdmissionPolicies. A nil one is of an
// installation without any. Every replica looks, because every replica answers admission requests.
type policyAPI struct {
	apis discovery.ServerResourcesInterfaceWithContext
	// definitions are of the kinds into which it injects.
	definitions *definitions

	interval  time.Duration
	sidecars  sidecarLister
	resyncs   *resyncs
	elected   <-chan struct{}
	log       logr.Logger
	isLacking atomic.Bool
}

// unserved says why the API server injects nothing in the operator's place; "" if it may.
func (p *policyAPI) unserved() string {
	switch {
	case p == nil:
		return "the installation's admissionInjection.enabled is false"
	case p.isLacking.Load():
		return "the API server serves no MutatingAdmissionPolicy"
	}
	return "" // Where it is not known either.
}

// define reads the definitions of kinds. That one cannot be read is for who writes the OverlaySet to report.
func (p *policyAPI) define(ctx context.Context, kinds []v1alpha1.WorkloadKind) func(kind *workload.Kind, pod map[string]any) string {
	if p == nil {
		return nil
	}
	for _, name := range kinds {
		if kind := workload.KindByName(string(name)); kind != nil {
			_ = p.definitions.learn(ctx, kind)
		}
	}
	return p.definitions.undefined
}

// look asks the API server, and reports whether the answer is another one than before. Without an
// answer the last one holds.
func (p *policyAPI) look(ctx context.Context) (isNew bool) {
	resources, err := p.apis.ServerResourcesForGroupVersionWithContext(ctx, policyGroup)
	if err != nil && !apierrors.IsNotFound(err) {
		p.log.V(1).Info("looking for an API", "cause", err.Error())
		return false
	}
	isLacking := err != nil || !slices.ContainsFunc(resources.APIResources, func(resource metav1.APIResource) bool { return resource.Name == policyResource })
	if p.isLacking.Swap(isLacking) == isLacking {
		return false
	}
	p.log.Info("availability of injection by the API server changed", "why", p.unserved())
	return true
}

// Start looks periodically until the context ends. OverlaySets are kept all the while, for when the
// API comes.
func (p *policyAPI) Start(ctx context.Context) error {
	poll(ctx, p.interval, func(ctx context.Context) {
		isNew := p.look(ctx)
		if p.definitions.haveChanged(ctx) || isNew {
			p.resyncs.askAll(ctx, p.elected, p.sidecars)
		}
	})
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (*policyAPI) NeedLeaderElection() bool { return false }
