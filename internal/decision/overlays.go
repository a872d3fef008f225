// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// addOverlays sets Overlays to the sidecars that a new workload would get now, so that the API server may inject them. It
// also adds the companions that they need, which have to exist first.
func (d *Decision) addOverlays(e *evaluation) {
	d.OverlayBlocker = e.overlayBlocker
	if len(e.overlays) == 0 {
		return
	}
	if d.OverlayBlocker = d.admissionBlocker(); d.OverlayBlocker != "" {
		return
	}
	for i := range e.overlays {
		overlay := &e.overlays[i]
		if reason := e.findOverlayBlocker(overlay); reason != "" {
			d.OverlayBlocker = reason
			continue
		}
		d.Overlays = append(d.Overlays, *overlay)
		for n := range overlay.Rendered.Companions {
			d.addCompanion(&overlay.Rendered.Companions[n])
		}
		if overlay.Rendered.Copied != nil {
			d.addConfigMapCopy(overlay.Rendered.Copied, overlay.ConfigMap, types.NamespacedName{Namespace: e.Sidecar.Namespace, Name: e.Sidecar.Name})
		}
	}
	if len(d.Overlays) > 0 {
		d.OverlayBlocker = ""
	}
}

// admissionBlocker explains why the API server must not inject the sidecar into new workloads now. It returns "" if it
// may.
func (d *Decision) admissionBlocker() string {
	switch {
	case d.Invalid != nil:
		return d.Invalid.Message
	case d.Limit.WriteHold != nil:
		return d.Limit.WriteHold.Message
	case d.Limit.Paused:
		return "spec.rollout.paused is true"
	case d.IsForDeletion:
		return "the VectorSidecar is being deleted"
	}
	if d.mode.needsApproval() {
		return "spec.rollout.mode is Manual, and this sidecar is not promoted"
	}
	if d.Canary != nil && d.Canary.State == v1alpha1.CanaryWithoutPods {
		return d.Limit.Unproven
	}
	for i := range d.Plans {
		switch p := &d.Plans[i]; {
		case p.Rollout.Phase == plan.RolloutFailed:
			return "the rollout of " + p.Target.Kind + " " + p.Target.Name + " has failed with this sidecar"
		case p.IsCanaryInProgress():
			return "waiting for canary " + p.Target.Kind + " " + p.Target.Name + " to finish its rollout (spec.rollout.canary)"
		}
	}
	return ""
}

// overlayBlockerFor explains why the API server must not inject an overlay into workloads of a kind. It returns "" if it
// may.
func (e *evaluation) overlayBlockerFor(kind string, overlay *desired.AdmissionOverlay) string {
	if reason := e.findOverlayBlocker(overlay); reason != "" {
		return reason
	}
	if adapter := workload.KindByName(kind); adapter != nil && e.FindUndefinedField != nil {
		return e.FindUndefinedField(adapter, tree.MapAt(overlay.Rendered.Overlay.Body, "spec"))
	}
	return ""
}

// findOverlayBlocker explains why the API server must not inject an overlay into any workload. It returns "" if it may.
func (input *Input) findOverlayBlocker(overlay *desired.AdmissionOverlay) string {
	if input.verdict(overlay.Rendered).State != VerdictValid {
		return "Vector has not accepted the configuration yet (sidecar.config.validateJob)"
	}
	if err := input.Platform.Policy.AdmitAlone(input.NamespaceLabels, &overlay.Rendered.Overlay.Template); err != nil {
		return err.Error()
	}
	return input.dryRunRejection(overlay)
}

// dryRunRejection explains that the API server rejected pods with an overlay in a dry run. It returns "" if it did not.
func (input *Input) dryRunRejection(overlay *desired.AdmissionOverlay) string {
	hash := overlay.Rendered.Desired.InjectedHash()
	for key, verdict := range input.DryRuns {
		if key.Hash == hash && verdict.Result == preflight.Rejected {
			return "the API server rejected pods with this sidecar in a dry run for a workload of the namespace (preflight)"
		}
	}
	return ""
}
