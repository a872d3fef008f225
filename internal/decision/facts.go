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

// Facts are the inputs of a decision, except the evaluations of the workloads.
type Facts struct {
	Terms

	Sidecar *v1alpha1.VectorSidecar
	// Policy is the platform's policy. It is nil only if Desired is invalid.
	Policy *policy.Policy
	// Desired is the desired state that all workloads have in common.
	Desired desired.Common
	// Findings are the findings in a configuration that no workload runs yet.
	Findings []vectorconfig.Finding
	// Kinds are the kinds of workloads that the selector matches.
	Kinds Kinds
	// Companions are the ConfigMaps that the operator created for the VectorSidecar. They may have a digest instead of
	// their content.
	Companions []corev1.ConfigMap
	// ConfigMaps are the other ConfigMaps that were looked up, by name. A missing ConfigMap is nil.
	ConfigMaps map[string]*corev1.ConfigMap
	// Offers are the sidecars of workloads that do not exist yet. Left explains why there are none. Both are empty if
	// they were not requested. They are also empty if the reason is unknown.
	Offers []desired.AdmissionOverlay
	Left   string
	// Undefined has the field of an offer that the definition of a kind does not have. The API server would drop it.
	Undefined map[OfferTo]string
	// Asked are the names of all ConfigMaps that were needed.
	Asked []string
	// Verdicts are the results of Vector's own validation, by key. It is nil if the operator may not run Vector.
	Verdicts map[string]Verdict
	// Trials are the valid results of dry runs of the sidecar, or nil if there are none.
	Trials map[preflight.Key]preflight.DryRunResult
	// Loops are the stopped correction loops, by workload. The sidecar is not written there for now, because another
	// client keeps removing it.
	Loops map[types.UID]CorrectionLoop
	// Denials are the last rejected writes, by workload.
	Denials map[types.UID]RejectedWrite
	// Faults are the causes that block pods, for the workloads with pods that were read. The zero value means that no
	// cause was found.
	Faults map[types.UID]workload.Fault
	// PodsNotRead explains why pods are not read, or is "" if they are read. BlindHalt explains why rollout.halt cannot
	// see the causes of failures. It is "" if rollout.halt can see them or is not set.
	PodsNotRead, BlindHalt string
	// OnNodes are the workloads of all namespaces that run on every node. It is nil if only the decision's workloads
	// are known, or if no workload of the decision runs on every node.
	OnNodes []*workloadcache.Record
	// Hold blocks all writes except removals. It is nil if writes are allowed.
	Hold *plan.Block
	// Late blocks the start of rollouts that waited for spec.rollout.maxAge. It is nil if they may start.
	Late *plan.Block
	// Gap is the time between two rollout windows that contains Now. It is nil in a window.
	Gap *plan.ClosedWindow
	// Now is the time of these facts.
	Now time.Time
}

// OfferTo identifies an offer, by its InjectedHash, together with a kind of workloads.
type OfferTo struct{ Hash, Kind string }

// Terms are the inputs of the evaluation of every workload, except the workload, its desired state and the existing
// ConfigMaps. An evaluation is cached with a digest of the terms, so every field must marshal.
type Terms struct {
	StrictOrder bool
	HostNetwork v1alpha1.HostNetworkPolicy
	Owned       v1alpha1.OwnedWorkloads
	Drift       v1alpha1.DriftPolicy
	Mode        v1alpha1.RolloutMode
	// NamespaceLabels are the labels of the VectorSidecar's namespace.
	NamespaceLabels map[string]string
	// NamespaceUsers are the user IDs that the namespace assigns to its pods and admits.
	NamespaceUsers policy.UserRange
	// Unserved explains why the API server cannot inject any sidecar. It is "" if such a reason is missing or unknown.
	Unserved string
	// Manifests is the field of the Offer.
	Manifests bool
}

// TermsOf returns the terms of a VectorSidecar in its namespace.
func TermsOf(spec *v1alpha1.VectorSidecarSpec, labels map[string]string, users policy.UserRange, unserved string) Terms {
	return Terms{
		StrictOrder: spec.StrictOrder, HostNetwork: spec.HostNetwork, Owned: spec.Owned(), Drift: spec.DriftPolicy, Mode: spec.RolloutMode(),
		NamespaceLabels: labels, NamespaceUsers: users, Unserved: unserved,
	}
}

// CorrectionLoop is a stopped correction loop.
type CorrectionLoop struct {
	// InjectedHash identifies the sidecar that was reverted. The operator may write a different sidecar.
	InjectedHash string
	// Writes is the number of reverted writes.
	Writes int
}

// RejectedWrite is the last write to a workload, which the API server rejected.
type RejectedWrite struct {
	plan.Denial

	// Seen, Action and Hash identify the plan of the rejected write. Other plans were not rejected.
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
	// VerdictPending means that the validation has not returned a result yet.
	VerdictPending VerdictState = iota
	// VerdictValid means that Vector accepted the configuration.
	VerdictValid
	// VerdictInvalid means that Vector rejected the configuration.
	VerdictInvalid
	// VerdictUnable means that Vector could not be run. It does not show whether the configuration is valid.
	VerdictUnable
)

// find returns the ConfigMap of a name, or nil if it does not exist.
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
