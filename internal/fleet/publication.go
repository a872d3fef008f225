// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Publication is the operator's record of the last published revision, and of the states of the parts of that revision.
// It is stored as a ConfigMap in the operator's namespace, before the first VectorSidecar starts the revision. Other
// programs read it and do not have to compute the revision. Only the operator has the last known good version of a part
// that cannot be loaded.
type Publication struct {
	// Revision is the digest of the published values, template sets and policy.
	Revision string `json:"revision"`
	// Since is the time at which the revision was published.
	Since metav1.Time `json:"since"`
	// TemplateSets are the states of the template sets that the platform team provides, sorted by name.
	TemplateSets []PartStatus `json:"templateSets,omitempty"`
	// Policy and Rollout are the states of these keys of the installation's values.
	Policy  PartStatus `json:"policy"`
	Rollout PartStatus `json:"rollout"`
	// RolloutText is the text of the rollout rules that are in use, "" if none are.
	RolloutText string `json:"rolloutText,omitempty"`
}

// PartStatus is the state of a template set, the policy or the rollout rules.
type PartStatus struct {
	// Name is the name of the template set, "" for the policy and the rollout rules.
	Name  string    `json:"name,omitempty"`
	State PartState `json:"state"`
	// Message explains why the current version cannot be used, or is "" if it is in use.
	Message string `json:"message,omitempty"`
	// Since is the time at which the part got this state and message.
	Since metav1.Time `json:"since"`
}

// PartState is the state of a part: which version of the part is in use.
type PartState string

const (
	// PartLoaded means that the current version of the part is in use.
	PartLoaded PartState = "Loaded"
	// PartLastKnownGood means that the current version of the part cannot be used, so that an earlier version is in
	// use.
	PartLastKnownGood PartState = "LastKnownGood"
	// PartBroken means that the current version of the part cannot be used, and that no earlier version is known.
	PartBroken PartState = "Broken"
)

// partMessageLimit is the maximum length of PartStatus.Message in bytes.
const partMessageLimit = 1024

// NewPartStatus returns the status of a part. err explains why the current version cannot be used, or is nil if it is
// in use. hasGood reports whether an earlier version is in use instead.
func NewPartStatus(name string, err error, hasGood bool) PartStatus {
	switch {
	case err == nil:
		return PartStatus{Name: name, State: PartLoaded}
	case hasGood:
		return PartStatus{Name: name, State: PartLastKnownGood, Message: humanize.ShortenMessage(err.Error(), partMessageLimit)}
	}
	return PartStatus{Name: name, State: PartBroken, Message: humanize.ShortenMessage(err.Error(), partMessageLimit)}
}

// KeepTimes sets the times of the publication. Unchanged parts keep the times of the earlier publication, which may be
// nil. Changed parts get the current time.
func (p *Publication) KeepTimes(last *Publication, now metav1.Time) {
	if last == nil {
		last = &Publication{}
	}
	p.Since = now
	if p.Revision == last.Revision {
		p.Since = last.Since
	}
	p.Policy.keepTime(last.Policy, now)
	p.Rollout.keepTime(last.Rollout, now)
	for i := range p.TemplateSets {
		previous := PartStatus{}
		for _, set := range last.TemplateSets {
			if set.Name == p.TemplateSets[i].Name {
				previous = set
			}
		}
		p.TemplateSets[i].keepTime(previous, now)
	}
}

// keepTime sets Since: to the time of the last status if state and message are the same, otherwise to now.
func (s *PartStatus) keepTime(last PartStatus, now metav1.Time) {
	s.Since = now
	if s.State == last.State && s.Message == last.Message {
		s.Since = last.Since
	}
}

// Faults returns a message for each part with a current version that is not in use. The message names the part and the
// version in use.
func (p *Publication) Faults() []string {
	var faults []string
	add := func(title string, status PartStatus) {
		switch status.State {
		case PartLastKnownGood:
			faults = append(faults, fmt.Sprintf("%s cannot be loaded; its last known good version is in use: %s", title, status.Message))
		case PartBroken:
			faults = append(faults, fmt.Sprintf("%s cannot be loaded, and no earlier version is in use: %s", title, status.Message))
		}
	}
	for _, set := range p.TemplateSets {
		add(fmt.Sprintf("template set %q", set.Name), set)
	}
	add("policy", p.Policy)
	add("rollout", p.Rollout)
	return faults
}

// publicationKey is the key of the ConfigMap that has the Publication, as JSON.
const publicationKey = "publication"

// PublicationName returns the name of the ConfigMap of the Publication. The argument is the ConfigMap of the
// installation's values, in the same namespace.
func PublicationName(installation types.NamespacedName) types.NamespacedName {
	return types.NamespacedName{Namespace: installation.Namespace, Name: installation.Name + "-published"}
}

// ConfigMap returns the ConfigMap that stores the publication of an installation.
func (p *Publication) ConfigMap(installation types.NamespacedName) *corev1.ConfigMap {
	text, _ := json.MarshalIndent(p, "", "  ") // Strings and times always marshal.
	name := PublicationName(installation)
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name, Labels: map[string]string{meta.LabelManagedBy: meta.Operator}},
		Data:       map[string]string{publicationKey: string(text)},
	}
}

// ReadPublication reads a Publication from its ConfigMap.
func ReadPublication(object *corev1.ConfigMap) (*Publication, error) {
	text, ok := object.Data[publicationKey]
	if !ok {
		return nil, fmt.Errorf("reading ConfigMap %s/%s: %w", object.Namespace, object.Name, errors.New("key "+publicationKey+" is missing"))
	}
	publication := &Publication{}
	if err := bounded.StoredConfigMap().DecodeJSON([]byte(text), publication); err != nil {
		return nil, fmt.Errorf("reading ConfigMap %s/%s: key %s: %w", object.Namespace, object.Name, publicationKey, err)
	}
	return publication, nil
}
