// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// environmentsFile is the file of the installation chart that turns its values into its ConfigMap.
// environmentsTemplate is the template in this file.
const (
	installationChart    = "chart/"
	environmentsFile     = installationChart + "templates/_environments.tpl"
	environmentsTemplate = "vector-sidecar-operator.environments"
	environmentsKey      = "environments"
	templatesKey         = "templates"
)

// checkedLater are the keys of a values file that the operator checks itself. Errors in them are
// reported when they are used.
var checkedLater = []string{"templateSet", "global", "sidecar", "initContainers", "volumes", "values", PolicyKey, RolloutKey}

// InstallationValues are an installation's values, as they are passed to helm.
type InstallationValues struct {
	// Environment is the environment of the installation.
	Environment string

	// source is the file of the values. files is the data of the installation's ConfigMap, which is
	// made from them.
	source string
	files  map[string]string
	// written is the file as written, nil if it cannot be parsed.
	written *environment.Layer
}

// ReadInstallationValues reads a values file as the installation does, with the template of its
// chart below the root.
//
// Top-level keys apply to the environment that the file names, in environment or
// global.environment. If it names none, they apply to the first requested environment that the file
// does not list under environments. The error reports values that the schema of the installation
// chart rejects, and is returned together with the values. Errors in an environment's values are
// not included, because they are reported when the values are used.
func ReadInstallationValues(ctx context.Context, root fs.FS, source string, text []byte, environments ...string) (*InstallationValues, error) {
	written, err := environment.ParseLayer(source, text)
	if err != nil {
		name := cmp.Or(environments...)
		//nolint:nilerr // The error is reported by the environment that the values are used for.
		return &InstallationValues{Environment: name, source: source, files: map[string]string{name + ".yaml": string(text)}}, nil
	}
	return NewInstallationValues(ctx, root, written, environments...)
}

// NewInstallationValues is ReadInstallationValues for a parsed file, or for several merged files.
func NewInstallationValues(ctx context.Context, root fs.FS, written environment.Layer, environments ...string) (*InstallationValues, error) {
	source := written.Name
	name, _ := written.Tree["environment"].(string)
	if name == "" {
		name, _ = tree.MapAt(written.Tree, "global")["environment"].(string)
	}
	for _, candidate := range environments {
		if _, isOther := tree.MapAt(written.Tree, environmentsKey)[candidate]; name == "" && !isOther {
			name = candidate
		}
	}
	refused := checkKeys(root, written)
	values := maps.Clone(written.Tree)
	values["environment"] = name
	file, err := bounded.Chart().File(root, environmentsFile)
	if err != nil {
		return nil, fmt.Errorf("reading the installation chart: %w", err)
	}
	set, err := gotemplate.Compile(map[string]string{environmentsFile: string(file)}, gotemplate.Options{})
	if err != nil {
		return nil, fmt.Errorf("reading the installation chart: %w", err)
	}
	rendered, err := set.Execute(ctx, environmentsTemplate, values)
	if err != nil {
		return nil, cmp.Or(refused, fmt.Errorf("reading %s as the installation does: %w", source, err))
	}
	read := &InstallationValues{Environment: name, source: source, written: &written, files: map[string]string{}}
	if err := bounded.Values().DecodeYAML([]byte(rendered+"\n"), &read.files); err != nil {
		return nil, cmp.Or(refused, fmt.Errorf("reading %s as the installation does: %w", source, err))
	}
	return read, refused
}

// checkKeys checks a values file against the schema of the installation chart, as helm does, except
// for the keys that are checked later.
func checkKeys(root fs.FS, written environment.Layer) error {
	schema, chartValues, err := readInstallationChart(root)
	if err != nil {
		return fmt.Errorf("reading the installation chart: %w", err)
	}
	written.Tree = withoutKeys(written.Tree, checkedLater)
	if environments := maps.Clone(tree.Map(written.Tree[environmentsKey])); environments != nil {
		for name, values := range environments {
			if values := tree.Map(values); values != nil {
				environments[name] = withoutKeys(values, checkedLater)
			}
		}
		written.Tree[environmentsKey] = environments
	}
	return schema.CheckOver(chartValues, written)
}

// readInstallationChart reads the schema and the values of the installation chart.
func readInstallationChart(root fs.FS) (*environment.Schema, environment.Layer, error) {
	var chartValues environment.Layer
	text, err := bounded.Chart().File(root, installationChart+"values.schema.json")
	if err != nil {
		return nil, chartValues, err
	}
	schema, err := environment.CompileSchema(installationChart+"values.schema.json", text)
	if err != nil {
		return nil, chartValues, err
	}
	if text, err = bounded.Chart().File(root, installationChart+"values.yaml"); err != nil {
		return nil, chartValues, err
	}
	chartValues, err = environment.ParseLayer(installationChart+"values.yaml", text)
	return schema, chartValues, err
}

func withoutKeys(values map[string]any, keys []string) map[string]any {
	remaining := maps.Clone(values)
	maps.DeleteFunc(remaining, func(key string, _ any) bool { return slices.Contains(keys, key) })
	return remaining
}

// Files returns the data of the installation's ConfigMap that is made from the values. It must not
// be modified.
func (v *InstallationValues) Files() map[string]string { return v.files }

// layersFor returns the environments with these values as the installation's.
func (v *InstallationValues) layersFor(set *environment.Set) *environment.Set {
	if v.written == nil {
		return set.WithInstallation(v.source, v.files)
	}
	return set.WithWritten(v.written, v.files, func(name string) []string { return v.PathInFile(environmentsKey, name) })
}

// PathInFile returns the path of a part of the values in the file, for example the path of a Fault.
func (v *InstallationValues) PathInFile(keys ...string) []string {
	if len(keys) > 1 && keys[0] == environmentsKey && keys[1] == v.Environment {
		return keys[2:] // At the top.
	}
	return keys
}

// TemplateSets returns the ConfigMaps of the template sets that an installation has with these
// values. As with helm, their files are merged over the files of the present sets, and null removes
// a file or a set. The installation is named by the ConfigMap of its values.
func (v *InstallationValues) TemplateSets(installation types.NamespacedName, sets []corev1.ConfigMap) []corev1.ConfigMap {
	templates, isGiven := v.templates()
	if !isGiven {
		return sets
	}
	prefix := setPrefix(installation.Name)
	configMaps := map[string]corev1.ConfigMap{}
	for i := range sets {
		if isOwn := sets[i].Name == prefix+sets[i].Labels[meta.LabelTemplateSet]; !isOwn || templates != nil {
			configMaps[sets[i].Name] = sets[i]
		}
	}
	for name, files := range templates {
		object := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: installation.Namespace, Name: prefix + name, Labels: map[string]string{meta.LabelTemplateSet: name},
		}}
		previous := configMaps[object.Name]
		if files != nil {
			object.Data, object.BinaryData = mergeFiles(tree.Map(files), previous.Data), previous.BinaryData
		}
		if configMaps[object.Name] = object; len(object.Data)+len(object.BinaryData) == 0 {
			delete(configMaps, object.Name)
		}
	}
	return slices.Collect(maps.Values(configMaps))
}

// templates returns the template sets in the values, and whether the values set the key. The sets
// are nil if the values remove all of them.
func (v *InstallationValues) templates() (sets map[string]any, isGiven bool) {
	if v.written == nil {
		return nil, false
	}
	value, isGiven := v.written.Tree[templatesKey]
	return tree.Map(value), isGiven
}

// mergeFiles returns the files of a set, merged over other files.
func mergeFiles(files map[string]any, base map[string]string) map[string]string {
	result := map[string]string{}
	maps.Copy(result, base)
	for key, text := range files {
		if text, isText := text.(string); isText {
			result[key] = text
		} else {
			delete(result, key) // The value is null.
		}
	}
	return result
}

// MergeInto returns a platform with these values and their policy instead of the installation's. The
// platform must have the sets of TemplateSets.
func (v *InstallationValues) MergeInto(platform *Platform) *Platform {
	tried := &Platform{Environments: v.layersFor(platform.Environments), Roll: platform.Roll}
	for _, set := range platform.Sets() {
		setCopy := *set
		if templates, _ := v.templates(); set.Err != nil && templates[set.Name] != nil {
			setCopy.Err = fmt.Errorf("%s: %w", v.written.Position(templatesKey, set.Name), set.Err)
		}
		if set.Environments != nil {
			setCopy.Environments = v.layersFor(set.Environments)
		}
		tried.Add(&setCopy)
	}
	tried.Policy, tried.PolicyErr = policy.Parse(v.source+" "+PolicyKey, []byte(v.files[PolicyKey]))
	tried.Rollout, tried.RolloutErr = fleet.Parse(v.source+" "+RolloutKey, []byte(v.files[RolloutKey]))
	tried.Stopped = platform.Stopped
	return tried
}
