// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"crypto/sha256"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Variant is the desired sidecar for all workloads of a VectorSidecar with the same values. Most VectorSidecars have
// only one variant, because few workloads override values.
type Variant struct {
	// Source is the part that callers may keep in memory. The other fields keep all values in memory.
	Source *Source
	// Container is the name of the sidecar's container, or "" if the values are invalid.
	Container string
	// Basis is a digest of all inputs of the rendering except the workload.
	Basis string
	// Invalid explains why the operator must not inject the sidecar, or is nil if it may.
	Invalid *Invalid

	renderer *renderer
}

// Source is the part of a Variant that is still needed after its workloads are rendered.
type Source struct {
	// IsCommon reports whether the variant is for workloads without overrides.
	IsCommon bool
	// ChecksOff reports whether warnings about the Vector configuration are disabled.
	ChecksOff bool
	// ConfigMap is the ConfigMap that the values refer to, or nil for none.
	ConfigMap *corev1.ConfigMap
}

// Workload is the desired sidecar of one workload, or the reason why the workload does not get a sidecar.
type Workload struct {
	// Rendered is the rendering for the workload, or nil if it was not rendered.
	Rendered *Rendered
	// Desired is the desired sidecar, or nil if Invalid is set.
	Desired *plan.Desired
	Invalid *Invalid
	// LacksAccount reports whether the caller must read the workload's ServiceAccount and try again. Invalid is then
	// set.
	LacksAccount bool

	checksOff bool
}

// WorkloadFor returns the desired sidecar of one workload.
func (v *Variant) WorkloadFor(ctx context.Context, view *workload.View) Workload {
	if v.Invalid != nil {
		return Workload{Invalid: v.Invalid}
	}
	result := Workload{Rendered: v.renderer.render(ctx, view), checksOff: v.Source.ChecksOff}
	if result.Invalid = result.Rendered.Invalid; result.Invalid != nil {
		result.LacksAccount = view.Account == nil && readsAccountSecrets(result.Rendered.readTarget) && !view.ListsPullSecrets()
		return result
	}
	if result.Invalid = checkPullSecrets(result.Rendered.Overlay, view); result.Invalid != nil {
		result.LacksAccount = view.Account == nil
		return result
	}
	result.Desired = v.renderer.omitListedPullSecrets(result.Rendered, view)
	return result
}

// Warnings returns the warnings about the sidecar in the workload, separated by "; ", or "" for none. envNotInjected
// explains why the API server does not inject environment variables, or is "" if it does.
func (w *Workload) Warnings(manager, envNotInjected string, view *workload.View) string {
	return w.Rendered.warnings(manager, envNotInjected, view, w.checksOff)
}

// setBasis sets Basis from the inputs of the variant.
func (v *Variant) setBasis() {
	inputs := []any{v.Invalid}
	if v.renderer != nil {
		inputs = append(inputs, v.renderer.common)
	}
	text, _ := json.Marshal(inputs) // Strings always marshal.
	sum := sha256.Sum256(text)
	v.Basis = string(sum[:])
}
