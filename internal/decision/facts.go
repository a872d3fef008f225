// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
)

// Facts are an Input and everything derived from it before the decision, except the evaluations of workloads.
type Facts struct {
	Input

	// Desired is the desired state that all workloads have in common.
	Desired desired.Common
	// Findings are the findings in a configuration that no workload runs yet.
	Findings []vectorconfig.Finding
	// Kinds are the kinds of workloads that the selector matches.
	Kinds Kinds
	// Reader reads the ConfigMaps of the sidecars. After a failed read, the decision must not be used.
	Reader *desired.Reader
	// Overlays are the sidecars of workloads that do not exist yet. OverlayBlocker explains why there are none. Both
	// are empty if they were not requested. They are also empty if the reason is unknown.
	Overlays       []desired.AdmissionOverlay
	OverlayBlocker string
	// UndefinedFields has the field of an overlay that the definition of a kind does not have. The API server would drop
	// it.
	UndefinedFields map[OfferTo]string

	// texts caches the texts of the plans.
	texts plan.Texts
}

// OfferTo identifies an offer, by its InjectedHash, together with a kind of workloads.
type OfferTo struct{ Hash, Kind string }

// find returns an existing ConfigMap by name, or nil if it does not exist.
func (f *Facts) find(name string) *corev1.ConfigMap {
	for i := range f.Companions {
		if f.Companions[i].Name == name {
			return &f.Companions[i]
		}
	}
	return f.Reader.ConfigMap(name)
}
