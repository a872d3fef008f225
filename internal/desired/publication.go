// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
)

// Publication returns the record of the published revision, and of the state of each part of the platform. previous is
// the previous record, or nil if there is none. A part with an unchanged state keeps the time in the previous record.
func (p *Platform) Publication(previous *fleet.Publication, now metav1.Time) *fleet.Publication {
	publication := &fleet.Publication{
		Revision:    p.Revision,
		Policy:      fleet.NewPartStatus("", p.PolicyErr, p.Policy != nil),
		Rollout:     fleet.NewPartStatus("", p.RolloutErr, p.Rollout != nil),
		RolloutText: p.rolloutText,
	}
	for _, set := range p.Sets() {
		if isProvided := set.ProvidedDigest != "" || set.Err != nil; isProvided {
			publication.TemplateSets = append(publication.TemplateSets, fleet.NewPartStatus(set.Name, set.Err, set.Chart != nil))
		}
	}
	publication.KeepTimes(previous, now)
	return publication
}

// Publishing returns a copy of the Platform with another target revision than the one of its content. annotations are
// the annotations of the ConfigMap with the installation's values.
func (p *Platform) Publishing(revision string, annotations map[string]string) *Platform {
	published := *p
	published.Target = fleet.NewTarget(p.Rollout, revision, annotations)
	return &published
}

// LacksValidVersion reports whether a template set, the policy or the rollout rules have had no valid version so far.
func (p *Platform) LacksValidVersion() bool {
	for _, set := range p.Sets() {
		if set.Chart == nil {
			return true
		}
	}
	return p.Policy == nil || p.Rollout == nil
}
