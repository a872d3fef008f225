// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package catalog holds what a platform team gave the operator: template sets with the
// values of every environment, and the policy. It keeps the last good version of each. It
// takes ConfigMaps as arguments and never reads from a cluster.
package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// DefaultSet is the name of the template set that is used if none is named: the built-in
// one, unless the platform team provides one of that name.
const DefaultSet = "default"

// Platform is a snapshot of the template sets, values and policy. It is immutable.
type Platform struct {
	// Policy is the one in force, nil if there never was a good one.
	Policy *policy.Policy
	// PolicyErr says what is wrong with the current policy; an earlier one may be in force.
	PolicyErr error
	// Environments are those of the default set.
	Environments *environment.Set

	sets map[string]*Set
}

// Set is a template set.
type Set struct {
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

// Of returns a Platform with one chart as the default set, and with what the installation
// provides: the files "ENVIRONMENT.yaml" of a source, and its policy in the file PolicyKey.
func Of(chart *render.Chart, source string, files map[string]string) *Platform {
	environments := chart.Environments.WithInstallation(source, files)
	only := &Platform{
		Environments: environments,
		sets:         map[string]*Set{DefaultSet: {Name: DefaultSet, Chart: chart, Environments: environments}},
	}
	only.Policy, only.PolicyErr = policy.Parse(source+" "+PolicyKey, []byte(files[PolicyKey]))
	return only
}

// OnTrial returns a copy in which every chart counts as provided by the user (Set.Given),
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

// UnknownSetError says that no template set has a name.
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
func (p *Platform) Set(name string) (*Set, error) {
	if name == "" {
		name = DefaultSet
	}
	if set, ok := p.sets[name]; ok {
		return set, nil
	}
	return nil, &UnknownSetError{Set: name, Known: slices.Sorted(maps.Keys(p.sets))}
}

// Sets returns all template sets, sorted by name.
func (p *Platform) Sets() []*Set {
	var all []*Set
	for _, name := range slices.Sorted(maps.Keys(p.sets)) {
		all = append(all, p.sets[name])
	}
	return all
}
