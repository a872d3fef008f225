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

// DefaultTemplateSet is the name of the template set that is used if none is named: the built-in
// one, unless the platform team provides one of that name.
const DefaultTemplateSet = "default"

// Platform is what a platform team has given at one moment: template sets, values and policy.
// Once made, it is immutable.
type Platform struct {
	// Policy is the one in force, nil if there never was a good one.
	Policy *policy.Policy
	// PolicyErr says what is wrong with the current policy; an earlier one may be in force.
	PolicyErr error
	// Rollout paces rollouts over all VectorSidecars, nil if there never were good rules.
	Rollout *fleet.Rules
	// RolloutErr says what is wrong with the current rules; earlier ones may be in force.
	RolloutErr error
	// Stopped reports whether all writes but removals are stopped.
	Stopped bool
	// Unpublished explains why nothing has been published yet, "" if something has.
	Unpublished string
	// Overdue are template sets of the release that have differed from the list of its values for a minute.
	Overdue []Mismatch
	// Given is what paces it as a whole: Rollout and the rest.
	Given fleet.Given
	// Content is what the sets and values were made from, nil for one that nobody gives out,
	// and Revision its name.
	Content  *fleet.Content
	Revision string
	// Roll is that of the Content, or of the chart if there is none.
	Roll string
	// Missing says why Revision is not the one that a VectorSidecar has, nil if that was not
	// looked for or could be found.
	Missing error
	// Environments are those of the default set.
	Environments *environment.Set

	// rolloutText is the text that Rollout was parsed from.
	rolloutText string
	sets        map[string]*TemplateSet
	// builtIn are the operator's own templates, nil for a Platform of one chart.
	builtIn render.Files
}

// TemplateSet is a template set.
type TemplateSet struct {
	Name string
	// Chart is the last good version, nil if there never was one.
	Chart *render.Chart
	// Given is a digest of what the platform team provided for it, "" for the built-in set.
	// Files taken from the built-in set are not part of it.
	Given string
	// Files has the digests of the provided files by ConfigMap key, nil if none were
	// provided.
	Files map[string]any
	// Environments are its values, including the installation's; nil if Chart is nil.
	Environments *environment.Set
	// Err says what is wrong with the current version.
	Err error
}

// Add adds a template set, while the Platform is made.
func (p *Platform) Add(set *TemplateSet) {
	if p.sets == nil {
		p.sets = map[string]*TemplateSet{}
	}
	p.sets[set.Name] = set
}

// Under returns a Platform of an earlier revision with what is in force now: pace and stops, and
// the policy beside its own.
func (p *Platform) Under(now *Platform) *Platform {
	then := *now
	if now.Policy != nil {
		then.Policy = p.Policy.Under(now.Policy, p.Revision)
	}
	then.Content, then.Revision, then.Roll, then.Environments, then.sets, then.builtIn = p.Content, p.Revision, p.Roll, p.Environments, p.sets, p.builtIn
	return &then
}

// Awaiting returns a copy for the time in which other ConfigMaps wait to be published: their policy applies at once, in
// addition to its own.
func (p *Platform) Awaiting(wait *Wait) *Platform {
	next := *p
	next.Overdue = wait.Overdue
	installation := wait.Present.Installation
	source := describeConfigMap(installation) + " " + PolicyKey
	if rules, err := policy.Parse(source, []byte(installation.Data[PolicyKey])); err == nil && p.Policy != nil {
		next.Policy = p.Policy.Under(rules, p.Revision)
	}
	return &next
}

// Lacking returns a copy that stands for a revision that cannot be read back, for a reason.
func (p *Platform) Lacking(why error) *Platform {
	lacking := *p
	lacking.Missing = why
	return &lacking
}

// OnTrial returns a copy in which every chart counts as provided by the user (TemplateSet.Given),
// for a chart that someone tries out in place of the built-in one.
func (p *Platform) OnTrial() *Platform {
	tried := *p
	tried.sets = maps.Clone(p.sets)
	for name, set := range p.sets {
		if set.Chart == nil {
			continue
		}
		asked := *set
		asked.Given = set.Chart.Digest
		tried.sets[name] = &asked
	}
	return &tried
}

// UnknownSetError says that there is no template set of a name.
type UnknownSetError struct {
	Set   string
	Known []string
}

// Error names the sets that exist.
func (e *UnknownSetError) Error() string {
	text := fmt.Sprintf("template set %q does not exist: there are %s", e.Set, strings.Join(e.Known, ", "))
	if len(e.Known) == 1 {
		text = fmt.Sprintf("template set %q does not exist: there is only %s", e.Set, e.Known[0])
	}
	if near := humanize.Nearest(e.Set, e.Known); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return text
}

// Set returns a template set by its name; "" is the default one. The error is an
// *UnknownSetError.
func (p *Platform) Set(name string) (*TemplateSet, error) {
	if name == "" {
		name = DefaultTemplateSet
	}
	if set, ok := p.sets[name]; ok {
		return set, nil
	}
	return nil, &UnknownSetError{Set: name, Known: slices.Sorted(maps.Keys(p.sets))}
}

// SetFor returns the template set that a VectorSidecar in an environment is rendered with: the one that
// it names, else the one that the environment's values name, else the default.
func (p *Platform) SetFor(name, environment string) (*TemplateSet, error) {
	return p.Set(cmp.Or(name, p.Environments.TemplateSet(environment)))
}

// Sets returns all template sets, sorted by name.
func (p *Platform) Sets() []*TemplateSet {
	var all []*TemplateSet
	for _, name := range slices.Sorted(maps.Keys(p.sets)) {
		all = append(all, p.sets[name])
	}
	return all
}
