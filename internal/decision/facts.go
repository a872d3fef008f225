// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Facts are what a decision is based on, besides the evaluations of the workloads.
type Facts struct {
	Terms

	Sidecar *v1alpha1.VectorSidecar
	// Policy is the platform's, nil only if Desired is invalid.
	Policy *policy.Policy
	// Desired is what all workloads have in common.
	Desired desired.Common
	// Findings are those in a configuration that no workload runs yet.
	Findings []vectorconfig.Finding
	// Kinds are the kinds of workloads that the selector matches.
	Kinds Kinds
	// Companions are the objects made for this VectorSidecar. They may have a digest in
	// place of their content.
	Companions []corev1.ConfigMap
	// ConfigMaps are other ConfigMaps that were looked up, by name; nil is a missing
	// one.
	ConfigMaps map[string]*corev1.ConfigMap
	// Offers are what workloads would carry that are not there yet, and Left why there are
	// none; both are empty if nobody asks, or it is not known.
	Offers []desired.AdmissionOverlay
	Left   string
	// Undefined says which field of an offer the definition of a kind does not have, so that the API server would drop it.
	Undefined map[OfferTo]string
	// Asked are the names of all ConfigMaps that were needed.
	Asked []string
	// Verdicts are the results of Vector's own validation, by key; nil if the operator
	// may not run it.
	Verdicts map[string]Verdict
	// Trials are the verdicts of dry runs on the sidecar that hold now; nil if there are none.
	Trials map[preflight.Key]preflight.DryRunResult
	// Loops are the workloads where somebody keeps removing the sidecar, so that it is
	// not written for now.
	Loops map[types.UID]Loop
	// Denials are the last writes to workloads that were refused.
	Denials map[types.UID]Denial
	// Faults are what keeps pods from running, for the workloads whose pods were read;
	// the zero value if nothing does.
	Faults map[types.UID]workload.Fault
	// PodsNotRead explains why pods are not read, "" if they are. BlindHalt explains why rollout.halt cannot see the causes
	// of failures, "" if it can, or is not set.
	PodsNotRead, BlindHalt string
	// OnNodes are the workloads of all namespaces that are on every node; nil if only
	// those of the decision are known, or none of these is.
	OnNodes []*workloadcache.Record
	// Hold lets nothing but removals be written; nil if nothing does.
	Hold *plan.WriteHold
	// Late lets nothing begin that has waited for spec.rollout.maxAge; nil if nothing does.
	Late *plan.WriteHold
	// Gap is the time between two of its windows that Now is in, nil in a window.
	Gap *plan.ClosedWindow
	// Now is the time of these facts.
	Now time.Time
}

// OfferTo is an offer, by its InjectedHash, to the workloads of a kind.
type OfferTo struct{ Hash, Kind string }

// Terms are what each workload is evaluated by, besides itself, what is desired of it and the ConfigMaps that
// there are. An evaluation is remembered with a digest of them, so every field must marshal.
type Terms struct {
	StrictOrder bool
	HostNetwork v1alpha1.HostNetworkPolicy
	Owned       v1alpha1.OwnedWorkloads
	Drift       v1alpha1.DriftPolicy
	Mode        v1alpha1.RolloutMode
	// NamespaceLabels are those of the VectorSidecar's namespace.
	NamespaceLabels map[string]string
	// NamespaceUsers are the users that it assigns to its pods, and admits.
	NamespaceUsers policy.UserRange
	// Unserved says why the API server injects nothing in the operator's place, whatever the sidecar
	// is; "" for no such reason, or if it is not known.
	Unserved string
	// Manifests is the Offer's.
	Manifests bool
}

// TermsOf are the terms of a VectorSidecar in its namespace.
func TermsOf(spec *v1alpha1.VectorSidecarSpec, labels map[string]string, users policy.UserRange, unserved string) Terms {
	return Terms{
		StrictOrder: spec.StrictOrder, HostNetwork: spec.HostNetwork, Owned: spec.Owned(), Drift: spec.DriftPolicy, Mode: spec.RolloutMode(),
		NamespaceLabels: labels, NamespaceUsers: users, Unserved: unserved,
	}
}

// Loop is a repair loop that was stopped.
type Loop struct {
	// InjectedHash is the sidecar that was reverted; another one may be tried.
	InjectedHash string
	// Writes is how many writes were reverted.
	Writes int
}

// Denial is the last write to a workload, which was refused.
type Denial struct {
	plan.Denial

	// Seen, Action and Hash are those of its plan: another one was not refused.
	Seen   string
	Action plan.Action
	Hash   string
}

// Verdict is the result of Vector's own validation of a configuration.
type Verdict struct {
	State   VerdictState
	Message string
}

// VerdictState is the state of a validation.
type VerdictState int

const (
	// VerdictPending means that there is no result yet.
	VerdictPending VerdictState = iota
	// VerdictValid lets the configuration through.
	VerdictValid
	// VerdictInvalid means that Vector refused the configuration.
	VerdictInvalid
	// VerdictUnable means that Vector could not be run, which says nothing about the
	// configuration.
	VerdictUnable
)

// find returns the ConfigMap of that name, or nil.
func (f *Facts) find(name string) *corev1.ConfigMap {
	for i := range f.Companions {
		if f.Companions[i].Name == name {
			return &f.Companions[i]
		}
	}
	return f.ConfigMaps[name]
}

// isGone reports whether a ConfigMap was looked up and does not exist.
func (f *Facts) isGone(name string) bool {
	object, isKnown := f.ConfigMaps[name]
	return isKnown && object == nil
}
