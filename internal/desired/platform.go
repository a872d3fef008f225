// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// DefaultTemplateSet is the name of the template set that is used if no template set is named. It is the
// built-in set, unless the platform team provides a template set with this name.
const DefaultTemplateSet = "default"

// Platform contains the template sets, the values and the policy of the platform team at one point in time. It must not
// be changed after its creation.
type Platform struct {
	// Policy is the policy in use, or nil if no policy has been valid so far.
	Policy *policy.Policy
	// PolicyErr explains why the current policy is invalid, or is nil if it is valid. If PolicyErr is set, Policy is an
	// earlier version.
	PolicyErr error
	// Rollout contains the limits of rollouts across all VectorSidecars, or is nil if no rules have been valid
	// so far.
	Rollout *fleet.Rules
	// RolloutErr explains why the current rollout rules are invalid, or is nil if they are valid. If RolloutErr is set,
	// Rollout is an earlier version.
	RolloutErr error
	// Stop is the reason why all writes except removals are stopped.
	Stop WriteStop
	// AboutURL is the URL of the platform team's page about sidecars, or "" for none.
	AboutURL string
	// Unpublished explains why the operator has not published a revision yet, or is "" if it has.
	Unpublished string
	// Overdue are the ConfigMaps that have been missing for at least a minute, or have differed from the list in the
	// installation's values for that time.
	Overdue []Mismatch
	// Target is the target revision and the rules for its rollout, which include Rollout.
	Target fleet.Target
	// Content is the content of the template sets and the values. It is nil if the Platform is not published. Revision
	// is the name of that content.
	Content  *fleet.Content
	Revision string
	// Roll names the last change of the built-in templates that restarts pods. Content has the same value, if it is not
	// nil.
	Roll string
	// Missing explains why the stored revision of a VectorSidecar cannot be read, so that this Platform has another
	// revision. It is nil if no stored revision was needed, or if it was read.
	Missing error
	// Environments are the environments of the default template set.
	Environments *environment.Set

	// rolloutText is the text of the rollout rules in Rollout.
	rolloutText string
	sets        map[string]*TemplateSet
	// builtIn are the files of the built-in templates, or nil for a Platform with only one chart.
	builtIn render.Files
}

// WriteStop is the reason why an installation writes only removals.
type WriteStop int

// NotStopped means that writes are allowed. StoppedByAnnotation means that a user has set the annotation stop-writes.
// StoppedByValues means that the value writes of the installation is Stopped.
const (
	NotStopped WriteStop = iota
	StoppedByAnnotation
	StoppedByValues
)

// IsActive reports whether all writes except removals are stopped.
func (s WriteStop) IsActive() bool { return s != NotStopped }

// TemplateSet is a chart that renders sidecars, and its environments.
type TemplateSet struct {
	Name string
	// Chart is the last known good version of the chart, or nil if no version has been valid so far.
	Chart *render.Chart
	// ProvidedDigest is a digest of the files that the platform team provides in this set, or "" for the built-in set.
	// It does not cover files that the built-in set provides.
	ProvidedDigest string
	// Files contains digests of the provided files by ConfigMap key, or is nil if no files are provided.
	Files map[string]any
	// Environments contains the values of the set and of the installation by environment. It is nil if Chart is
	// nil.
	Environments *environment.Set
	// Err explains why the current version of the set is invalid, or is nil.
	Err error
}

// Add adds a template set. It must be called only while the Platform is created.
func (p *Platform) Add(set *TemplateSet) {
	if p.sets == nil {
		p.sets = map[string]*TemplateSet{}
	}
	p.sets[set.Name] = set
}

// WithCurrent returns a copy of the Platform of an earlier revision with the current settings: the rollout rules and
// the stop of writes. The current policy applies in addition to the policy of the revision.
func (p *Platform) WithCurrent(current *Platform) *Platform {
	combined := *current
	if current.Policy != nil {
		combined.Policy = p.Policy.WithCurrent(current.Policy, p.Revision)
	}
	combined.Content, combined.Revision, combined.Roll, combined.Environments, combined.sets, combined.builtIn = p.Content, p.Revision, p.Roll, p.Environments, p.sets, p.builtIn
	return &combined
}

// Awaiting returns a copy of the Platform that is used while newer ConfigMaps wait to be published. The policy in these
// ConfigMaps applies immediately, in addition to the Platform's policy.
func (p *Platform) Awaiting(wait *Wait) *Platform {
	waiting := *p
	waiting.Overdue = wait.Overdue
	installation := wait.ConfigMaps.Installation
	source := describeConfigMap(installation) + " " + PolicyKey
	if rules, err := policy.Parse(source, []byte(installation.Data[PolicyKey])); err == nil && p.Policy != nil {
		waiting.Policy = p.Policy.WithCurrent(rules, p.Revision)
	}
	return &waiting
}

// WithMissing returns a copy of the Platform that has the reason why the stored revision of a VectorSidecar cannot be
// read.
func (p *Platform) WithMissing(reason error) *Platform {
	incomplete := *p
	incomplete.Missing = reason
	return &incomplete
}

// AsProvided returns a copy of the Platform in which the platform team provides every chart
// (TemplateSet.ProvidedDigest). Commands use it if a user's chart replaces the built-in one.
func (p *Platform) AsProvided() *Platform {
	provided := *p
	provided.sets = maps.Clone(p.sets)
	for name, set := range p.sets {
		if set.Chart == nil {
			continue
		}
		providedSet := *set
		providedSet.ProvidedDigest = set.Chart.Digest
		provided.sets[name] = &providedSet
	}
	return &provided
}

// UnknownSetError is the error for the name of a template set that does not exist. SetNames are the existing template
// sets.
type UnknownSetError struct {
	Set      string
	SetNames []string
}

// Error returns a message that lists the existing template sets.
func (e *UnknownSetError) Error() string {
	text := fmt.Sprintf("template set %q does not exist; existing template sets: %s", e.Set, strings.Join(e.SetNames, ", "))
	if near := humanize.Nearest(e.Set, e.SetNames); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return text
}

// Set returns the template set with a name, or the default set for the name "". The error is an *UnknownSetError.
func (p *Platform) Set(name string) (*TemplateSet, error) {
	if name == "" {
		name = DefaultTemplateSet
	}
	if set, ok := p.sets[name]; ok {
		return set, nil
	}
	return nil, &UnknownSetError{Set: name, SetNames: slices.Sorted(maps.Keys(p.sets))}
}

// SetFor returns the template set that renders a VectorSidecar in an environment. name is the set in the
// VectorSidecar's spec. If it is "", the values of the environment may name a set; otherwise it is the default set.
func (p *Platform) SetFor(name, environment string) (*TemplateSet, error) {
	return p.Set(cmp.Or(name, p.Environments.TemplateSet(environment)))
}

// Sets returns all template sets, sorted by name.
func (p *Platform) Sets() []*TemplateSet {
	var sets []*TemplateSet
	for _, name := range slices.Sorted(maps.Keys(p.sets)) {
		sets = append(sets, p.sets[name])
	}
	return sets
}
