// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// addCompanion adds a companion to the decision, unless it has a companion of this name. It returns the companion of the
// decision.
func (d *Decision) addCompanion(fresh *corev1.ConfigMap) *corev1.ConfigMap {
	for i := range d.Companions {
		if existing := &d.Companions[i]; existing.Name == fresh.Name {
			return existing
		}
	}
	d.Companions = append(d.Companions, *fresh)
	return &d.Companions[len(d.Companions)-1]
}

// addConfigMapCopy adds the copy of a referenced ConfigMap for a rendering. If the name of the copy does not depend on
// its content, workloads may need different keys, and addConfigMapCopy adds the missing keys.
func (d *Decision) addConfigMapCopy(configMapCopy *desired.ConfigMapCopy, source *corev1.ConfigMap, sidecar types.NamespacedName) {
	configMapCopy.AddTo(d.addCompanion(configMapCopy.NewConfigMap(source, sidecar)), source)
}

// missingCompanions returns the companions that do not exist or that differ. It returns none if the VectorSidecar has an
// error. The error is the argument, or a conflict with a ConfigMap of the same name that does not belong to the
// VectorSidecar.
func (e *evaluation) missingCompanions(companions []corev1.ConfigMap, invalid *desired.Invalid) ([]corev1.ConfigMap, *desired.Invalid) {
	var missing []corev1.ConfigMap
	for _, expected := range companions {
		live := e.findConfigMap(expected.Name)
		switch {
		case live == nil:
			missing = append(missing, expected)
		case !companion.IsLabeledFor(live, e.Sidecar):
			invalid = &desired.Invalid{Reason: meta.ReasonConflict, Message: fmt.Sprintf(
				"ConfigMap %s/%s exists, but does not belong to %s; delete the ConfigMap, or rename the VectorSidecar", live.Namespace, live.Name, desired.Describe(e.Sidecar))}
		case companion.KnownDigest(live) != companion.Digest(&expected) || !companion.IsOwnedBy(live, e.Sidecar):
			expected.UID = live.UID
			missing = append(missing, expected)
		}
	}
	if invalid != nil {
		return nil, invalid
	}
	return missing, nil
}

// withholdOverlays removes all admission overlays from the decision and sets the reason in OverlayBlocker.
func (d *Decision) withholdOverlays(reason string) {
	if d.Overlays != nil || d.OverlayBlocker == "" {
		d.Overlays, d.OverlayBlocker = nil, reason
	}
}

// findObsoleteCompanions sets Obsolete, if all workloads that may refer to the existing companions are ready.
func (d *Decision) findObsoleteCompanions(companions []corev1.ConfigMap) {
	if d.Invalid != nil {
		return
	}
	for i := range d.Plans {
		p := &d.Plans[i]
		isSettled := p.HasChange(plan.None) && p.Workload.Rollout == workload.RolloutComplete || !p.Existing.IsOwned && !p.Rollout.InFlight
		if p.Writes() || !isSettled {
			return
		}
	}
	d.HasSettled = true
	for i := range companions {
		name := companions[i].Name
		if !d.kept[name] && !slices.ContainsFunc(d.Companions, func(c corev1.ConfigMap) bool { return c.Name == name }) {
			d.Obsolete = append(d.Obsolete, name)
		}
	}
}
