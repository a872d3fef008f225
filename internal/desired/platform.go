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

// DefaultTemplateSet is the name of the template set that is used if none is named. It is built in,
// unless the platform team provides a template set with this name.
const DefaultTemplateSet = "default"

// Platform has the template sets, values and policy of the platform team at one moment. It is
// immutable after its creation.
type Platform struct {
	// Policy is the policy in force, nil if there was never a valid one.
	Policy *policy.Policy
	// PolicyErr explains why the current policy is invalid. An earlier one may be in force.
	PolicyErr error
	// Rollout limits rollouts across all VectorSidecars, nil if there were never valid rules.
	Rollout *fleet.Rules
	// RolloutErr explains why the current rules are invalid. Earlier ones may be in force.
	RolloutErr error
	// Stopped reports whether all writes except removals are stopped.
	Stopped bool
	// Unpublished explains why nothing has been published yet, "" if something has.
	Unpublished string
	// Overdue are ConfigMaps that have been missing, or have differed from the list of the installation's values, for a minute.
	Overdue []Mismatch
	// Target is the target revision with the rules for its rollout, which include Rollout.
	Target fleet.Given
	// Content is the content of the sets and values, nil for a Platform that is not published.
	// Revision is its name.
	Content  *fleet.Content
	Revision string
	// Roll is the Roll of the Content, or of the chart if there is no Content.
	Roll string
	// Missing explains why Revision is not the revision of a VectorSidecar. It is nil if that
	// revision was found or was not searched.
	Missing error
	// Environments are the environments of the default set.
	Environments *environment.Set

	// rolloutText is the text from which Rollout was parsed.
	rolloutText string
	sets        map[string]*TemplateSet
	// builtIn are the built-in templates, nil for a Platform of one chart.
	builtIn render.Files
}

// TemplateSet is a chart that renders sidecars, with its environments.
type TemplateSet struct {
	Name string
	// Chart is the last known good version, nil if there was never one.
	Chart *render.Chart
	// ProvidedDigest is a digest of the files that the platform team provided, "" for the built-in set.
	// Files from the built-in set are not included.
	ProvidedDigest string
	// Files has the digests of the provided files by ConfigMap key, nil if none were provided.
	Files map[string]any
	// Environments have the values of the set, including the installation's; nil if Chart is nil.
	Environments *environment.Set
	// Err explains why the current version is invalid.
	Err error
}

// Add adds a template set. It must only be called during the creation of the Platform.
func (p *Platform) Add(set *TemplateSet) {
	if p.sets == nil {
		p.sets = map[string]*TemplateSet{}
	}
	p.sets[set.Name] = set
}

// WithCurrent returns a Platform of an earlier revision with the settings that are in force now: the
// rollout rules, the stop of writes, and the policy in addition to its own.
func (p *Platform) WithCurrent(current *Platform) *Platform {
	combined := *current
	if current.Policy != nil {
		combined.Policy = p.Policy.WithCurrent(current.Policy, p.Revision)
	}
	combined.Content, combined.Revision, combined.Roll, combined.Environments, combined.sets, combined.builtIn = p.Content, p.Revision, p.Roll, p.Environments, p.sets, p.builtIn
	return &combined
}

// Awaiting returns a copy for the time in which other ConfigMaps wait to be published. Their policy
// applies at once, in addition to its own.
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

// WithMissing returns a copy for a revision that cannot be read back, with the reason.
func (p *Platform) WithMissing(reason error) *Platform {
	incomplete := *p
	incomplete.Missing = reason
	return &incomplete
}

// OnTrial returns a copy in which every chart counts as provided by the user (TemplateSet.Given),
// for a chart that a user tries instead of the built-in one.
func (p *Platform) OnTrial() *Platform {
	tried := *p
	tried.sets = maps.Clone(p.sets)
	for name, set := range p.sets {
		if set.Chart == nil {
			continue
		}
		providedSet := *set
		providedSet.ProvidedDigest = set.Chart.Digest
		tried.sets[name] = &providedSet
	}
	return &tried
}

// UnknownSetError reports that a template set does not exist.
type UnknownSetError struct {
	Set      string
	SetNames []string
}

// Error names the sets that exist.
func (e *UnknownSetError) Error() string {
	text := fmt.Sprintf("template set %q does not exist: there are %s", e.Set, strings.Join(e.SetNames, ", "))
	if len(e.SetNames) == 1 {
		text = fmt.Sprintf("template set %q does not exist: there is only %s", e.Set, e.SetNames[0])
	}
	if near := humanize.Nearest(e.Set, e.SetNames); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return text
}

// Set returns a template set by its name; "" is the default set. The error is an *UnknownSetError.
func (p *Platform) Set(name string) (*TemplateSet, error) {
	if name == "" {
		name = DefaultTemplateSet
	}
	if set, ok := p.sets[name]; ok {
		return set, nil
	}
	return nil, &UnknownSetError{Set: name, SetNames: slices.Sorted(maps.Keys(p.sets))}
}

// SetFor returns the template set that renders a VectorSidecar in an environment: the set that it
// names, else the set that the environment's values name, else the default set.
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
