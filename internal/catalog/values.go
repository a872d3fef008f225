// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/template"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// environmentsFile is the file of the installation chart that makes its ConfigMap of its
// values, and environments what it defines to that end.
const (
	environmentsFile = "chart/templates/_environments.tpl"
	environments     = "vector-sidecar-operator.environments"
)

// Values are those of an installation, as they are given to helm.
type Values struct {
	// Environment that the installation is for.
	Environment string

	// source is the file that they are from, files what the installation's ConfigMap has
	// of them.
	source string
	files  map[string]string
	// written is the file as it stands, nil if it cannot be read.
	written *environment.Layer
}

// ReadValues reads a file of values as the installation does: by the template of its chart,
// which is below root. Keys at the top level are for the environment that the file says the
// installation is for; else, for the first of those asked for that is none of its
// environments. What is wrong with an environment's values is found when they are used.
func ReadValues(ctx context.Context, root fs.FS, source string, text []byte, asked ...string) (*Values, error) {
	written, err := environment.ParseLayer(source, text)
	if err != nil {
		name := cmp.Or(asked...)
		//nolint:nilerr // It spoils the environment that it is used for, which says it.
		return &Values{Environment: name, source: source, files: map[string]string{name + ".yaml": string(text)}}, nil
	}
	name, _ := written.Tree["environment"].(string)
	for _, one := range asked {
		if _, isOther := tree.At(written.Tree, "environments")[one]; name == "" && !isOther {
			name = one
		}
	}
	values := maps.Clone(written.Tree)
	values["environment"] = name
	file, err := bounded.Chart().File(root, environmentsFile)
	if err != nil {
		return nil, fmt.Errorf("reading the installation chart: %w", err)
	}
	set, err := template.Compile(map[string]string{environmentsFile: string(file)}, template.Options{})
	if err != nil {
		return nil, fmt.Errorf("reading the installation chart: %w", err)
	}
	made, err := set.Execute(ctx, environments, values)
	if err != nil {
		return nil, fmt.Errorf("reading %s as the installation does: %w", source, err)
	}
	read := &Values{Environment: name, source: source, written: &written, files: map[string]string{}}
	if err := bounded.Values().DecodeYAML([]byte(made+"\n"), &read.files); err != nil {
		return nil, fmt.Errorf("reading %s as the installation does: %w", source, err)
	}
	return read, nil
}

// Files are what the installation's ConfigMap has of the values. They must not be changed.
func (v *Values) Files() map[string]string { return v.files }

// layersFor is the set with these values as the installation's.
func (v *Values) layersFor(set *environment.Set) *environment.Set {
	if v.written == nil {
		return set.WithInstallation(v.source, v.files)
	}
	return set.WithWritten(v.written, v.files, func(name string) []string {
		if name == v.Environment {
			return nil
		}
		return []string{"environments", name}
	})
}

// WithValues returns the same with other values, and their policy, in the place of those of
// the installation.
func (p *Platform) WithValues(values *Values) *Platform {
	tried := *p
	tried.sets = maps.Clone(p.sets)
	for name, set := range p.sets {
		if set.Environments == nil {
			continue
		}
		other := *set
		other.Environments = values.layersFor(set.Environments)
		tried.sets[name] = &other
	}
	tried.Environments = values.layersFor(p.Environments)
	tried.Policy, tried.PolicyErr = policy.Parse(values.source+" "+PolicyKey, []byte(values.files[PolicyKey]))
	return &tried
}
