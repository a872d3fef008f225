// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package catalog is what a platform team has given the operator: template sets
// with the values of every environment, and the policy. It keeps the last good
// version of each; it takes ConfigMaps as they come and asks no cluster.
package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/sidecarchart"
)

// DefaultSet is the name of the template set that is used where none is named: the
// one that is built in, unless the platform gives one of that name.
const DefaultSet = "default"

// Platform is what there is at one moment. It does not change once made.
type Platform struct {
	// Policy that holds, nil if there never was a good one.
	Policy *policy.Policy
	// PolicyErr says what is wrong with the present policy; another one, from
	// before, may hold.
	PolicyErr error
	// Environments are those of the default set.
	Environments *environment.Set

	sets map[string]*Set
}

// Set is a template set.
type Set struct {
	Name string
	// Chart is the last good version, nil if there never was one.
	Chart *sidecarchart.Chart
	// Given is a digest of what the platform gave for it, "" for the one that is built
	// in. Files that it leaves to the built-in one have no part in it.
	Given string
	// Files has digests of the same by the keys of the ConfigMap, nil where there is
	// none.
	Files map[string]any
	// Environments are its values, the installation's included; nil as Chart is.
	Environments *environment.Set
	// Err says what is wrong with the present version.
	Err error
}

// Of returns a Platform of one chart as the default set, and of what the
// installation gave: a source's files "ENVIRONMENT.yaml", and its policy in the file
// PolicyKey.
func Of(chart *sidecarchart.Chart, source string, files map[string]string) *Platform {
	environments := chart.Environments.WithInstallation(source, files)
	only := &Platform{
		Environments: environments,
		sets:         map[string]*Set{DefaultSet: {Name: DefaultSet, Chart: chart, Environments: environments}},
	}
	only.Policy, only.PolicyErr = policy.Parse(source+" "+PolicyKey, []byte(files[PolicyKey]))
	return only
}

// OnTrial returns the same with a chart that somebody tries out in the place of the
// built-in one: whatever is made of it was asked for.
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
func (p *Platform) Set(name string) (*Set, error) {
	if name == "" {
		name = DefaultSet
	}
	if set, ok := p.sets[name]; ok {
		return set, nil
	}
	return nil, &UnknownSetError{Set: name, Known: slices.Sorted(maps.Keys(p.sets))}
}

// Sets are all template sets, by name.
func (p *Platform) Sets() []*Set {
	var all []*Set
	for _, name := range slices.Sorted(maps.Keys(p.sets)) {
		all = append(all, p.sets[name])
	}
	return all
}
