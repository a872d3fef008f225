// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/template"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// environmentsFile is the file of the installation chart that turns its values into its
// ConfigMap, and environmentsTemplate the one that it defines for that.
const (
	environmentsFile     = "chart/templates/_environments.tpl"
	environmentsTemplate = "vector-sidecar-operator.environments"
)

// InstallationValues are an installation's values, as they are passed to helm.
type InstallationValues struct {
	// Environment is the one that the installation is for.
	Environment string

	// source is the file that the values come from, and files the data of the installation's
	// ConfigMap that is made from them.
	source string
	files  map[string]string
	// written is the file as written, nil if it cannot be parsed.
	written *environment.Layer
}

// ReadInstallationValues reads a values file as the installation does: with the template of its chart,
// which is below root. Top-level keys apply to the environment that the file says the
// installation is for; if it says none, to the first asked one that is not listed in the
// file's environments. Errors in an environment's values are reported when they are used.
func ReadInstallationValues(ctx context.Context, root fs.FS, source string, text []byte, asked ...string) (*InstallationValues, error) {
	written, err := environment.ParseLayer(source, text)
	if err != nil {
		name := cmp.Or(asked...)
		//nolint:nilerr // The error is reported by the environment that the values are used for.
		return &InstallationValues{Environment: name, source: source, files: map[string]string{name + ".yaml": string(text)}}, nil
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
	made, err := set.Execute(ctx, environmentsTemplate, values)
	if err != nil {
		return nil, fmt.Errorf("reading %s as the installation does: %w", source, err)
	}
	read := &InstallationValues{Environment: name, source: source, written: &written, files: map[string]string{}}
	if err := bounded.Values().DecodeYAML([]byte(made+"\n"), &read.files); err != nil {
		return nil, fmt.Errorf("reading %s as the installation does: %w", source, err)
	}
	return read, nil
}

// Files returns the data of the installation's ConfigMap made from the values. It must not
// be modified.
func (v *InstallationValues) Files() map[string]string { return v.files }

// layersFor returns the set with these values as the installation's.
func (v *InstallationValues) layersFor(set *environment.Set) *environment.Set {
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

// Over returns a platform with these values, and their policy, in place of the installation's.
func (v *InstallationValues) Over(platform *Platform) *Platform {
	tried := &Platform{Environments: v.layersFor(platform.Environments), Roll: platform.Roll}
	for _, set := range platform.Sets() {
		other := *set
		if set.Environments != nil {
			other.Environments = v.layersFor(set.Environments)
		}
		tried.Add(&other)
	}
	tried.Policy, tried.PolicyErr = policy.Parse(v.source+" "+PolicyKey, []byte(v.files[PolicyKey]))
	tried.Rollout, tried.RolloutErr = fleet.Parse(v.source+" "+RolloutKey, []byte(v.files[RolloutKey]))
	tried.Stopped = platform.Stopped
	return tried
}
