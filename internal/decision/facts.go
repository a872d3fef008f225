// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorconfig"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Facts are what a decision is made on, beside what is to be said of each workload.
type Facts struct {
	Sidecar *v1alpha1.VectorSidecar
	// NamespaceLabels are those of the VectorSidecar's namespace.
	NamespaceLabels map[string]string
	// Policy is the platform's, nil only where Desired is invalid.
	Policy *policy.Policy
	// Desired is what is known of all that is to be injected.
	Desired desired.Common
	// Findings are those in a configuration that no workload runs yet.
	Findings []vectorconfig.Finding
	// Matched is how many workloads the selector matches.
	Matched int
	// Companions are the objects made for this VectorSidecar. Their content may be
	// left out, and a digest be in its place.
	Companions []corev1.ConfigMap
	// ConfigMaps are others that were looked for, by name; nil is one that is not there.
	ConfigMaps map[string]*corev1.ConfigMap
	// Asked are the names of all ConfigMaps that were asked for.
	Asked []string
	// Verdicts are what Vector said of configurations, by key; nil when the operator may
	// not ask.
	Verdicts map[string]Verdict
	// Loops are the workloads from which somebody takes the sidecar again and
	// again, so that it is not to be written for now.
	Loops map[types.UID]Loop
	// Faults are what keeps pods of workloads from running, none included, of the
	// workloads whose pods were looked at.
	Faults map[types.UID]workload.Fault
	// Now is when these were the facts.
	Now time.Time
}

// Loop is a loop of repairs that was broken off.
type Loop struct {
	// InjectedHash tells which sidecar is concerned; another one may be tried.
	InjectedHash string
	// Writes is how many writes were undone.
	Writes int
}

// Verdict is what Vector said of a configuration.
type Verdict struct {
	State   VerdictState
	Message string
}

// VerdictState is how far Vector's judgement is.
type VerdictState int

const (
	// VerdictPending is one that nobody has given yet.
	VerdictPending VerdictState = iota
	// VerdictValid lets the configuration through.
	VerdictValid
	// VerdictInvalid is Vector's refusal.
	VerdictInvalid
	// VerdictUnable says that Vector could not be asked, which tells nothing
	// about the configuration.
	VerdictUnable
)

// find returns the ConfigMap of a name, nil if there is none.
func (f *Facts) find(name string) *corev1.ConfigMap {
	for i := range f.Companions {
		if f.Companions[i].Name == name {
			return &f.Companions[i]
		}
	}
	return f.ConfigMaps[name]
}

// isGone reports whether a ConfigMap was looked for and is not there.
func (f *Facts) isGone(name string) bool {
	object, isKnown := f.ConfigMaps[name]
	return isKnown && object == nil
}
