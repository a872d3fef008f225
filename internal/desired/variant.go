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

// Variant is what workloads of one VectorSidecar with the same values share: nearly
// always all of them.
type Variant struct {
	// Source is the part that may be kept: the rest holds all values.
	Source *Source
	// Container is the name of the sidecar's container, "" if the values are invalid.
	Container string
	// Basis is a digest of everything that the sidecar is rendered from except the
	// workload.
	Basis string
	// Invalid says why there is nothing to inject.
	Invalid *Invalid

	renderer *renderer
}

// Source is what is needed of a Variant after its workloads are rendered.
type Source struct {
	// IsCommon reports whether it is for workloads without overrides.
	IsCommon bool
	// ChecksOff turns warnings about the Vector configuration off.
	ChecksOff bool
	// ConfigMap is the one that the values refer to, nil for none.
	ConfigMap *corev1.ConfigMap
}

// Workload is what one workload should carry, or why it gets nothing.
type Workload struct {
	// Rendered is nil if there was nothing to render.
	Rendered *Rendered
	// Desired is that of Rendered for this workload; nil if Invalid.
	Desired *plan.Desired
	Invalid *Invalid
	// LacksAccount reports whether it is Invalid because the ServiceAccount was not looked up.
	LacksAccount bool

	checksOff bool
}

// For returns what one workload should carry.
func (v *Variant) For(ctx context.Context, view *workload.View) Workload {
	if v.Invalid != nil {
		return Workload{Invalid: v.Invalid}
	}
	found := Workload{Rendered: v.renderer.render(ctx, view), checksOff: v.Source.ChecksOff}
	if found.Invalid = found.Rendered.Invalid; found.Invalid != nil {
		found.LacksAccount = view.Account == nil && readsAccount(found.Rendered.readTarget) && !view.ListsPullSecrets()
		return found
	}
	if found.Invalid = takesPullSecrets(found.Rendered.Overlay, view); found.Invalid != nil {
		found.LacksAccount = view.Account == nil
		return found
	}
	found.Desired = v.renderer.beside(found.Rendered, view)
	return found
}

// Doubts returns warnings about the sidecar in the workload, "" if there are none. untold says why no
// application is told of it, "" if some are.
func (w *Workload) Doubts(manager, untold string, view *workload.View) string {
	return w.Rendered.doubts(manager, untold, view, w.checksOff)
}

// setBasis computes the digest of what the variant is made from.
func (v *Variant) setBasis() {
	parts := []any{v.Invalid}
	if v.renderer != nil {
		parts = append(parts, v.renderer.common)
	}
	text, _ := json.Marshal(parts) // Strings always marshal.
	sum := sha256.Sum256(text)
	v.Basis = string(sum[:])
}
