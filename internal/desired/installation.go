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

// environmentsFile is the file of the installation chart that converts values to the installation's ConfigMaps.
// environmentsTemplate is the template in that file.
const (
	installationChart    = "chart/"
	environmentsFile     = installationChart + "templates/_environments.tpl"
	environmentsTemplate = "vector-sidecar-operator.environments"
	environmentsKey      = "environments"
	templatesKey         = "templates"
)

// checkedLater are the keys of a values file that checkKeys skips. The operator checks them when it uses their values,
// with better messages.
var checkedLater = []string{"templateSet", "global", "sidecar", "initContainers", "volumes", "values", PolicyKey, RolloutKey}

// InstallationValues are the values of an installation, as a user passes them to helm install.
type InstallationValues struct {
	// Environment is the name of the installation's environment.
	Environment string

	// source is the name of the values file. files is the data of the installation's ConfigMap with these values.
	source string
	files  map[string]string
	// written is the parsed values file, or nil if the file cannot be parsed.
	written *environment.Layer
}

// ReadInstallationValues reads a values file as helm does, with the template of the installation chart. root contains
// the chart.
//
// The top-level keys of the file are for the environment that the file names in environment or global.environment. If
// the file names none, they are for the first of the given environments that the file does not define under
// environments. If the chart's schema rejects values, the function returns both the values and an error. The error does
// not include faults in the values of an environment, because they are reported when these values are used.
func ReadInstallationValues(ctx context.Context, root fs.FS, source string, text []byte, environments ...string) (*InstallationValues, error) {
	written, err := environment.ParseLayer(source, text)
	if err != nil {
		name := cmp.Or(environments...)
		//nolint:nilerr // The error is reported by the environment that the values are used for.
		return &InstallationValues{Environment: name, source: source, files: map[string]string{name + ".yaml": string(text)}}, nil
	}
	return NewInstallationValues(ctx, root, written, environments...)
}

// NewInstallationValues returns the same as ReadInstallationValues for a file that is already parsed, or for several
// merged files.
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
	schemaErr := checkKeys(root, written)
	values := maps.Clone(written.Tree)
	values["environment"] = name
	file, err := bounded.Chart().ReadFile(root, environmentsFile)
	if err != nil {
		return nil, fmt.Errorf("reading the operator's own Helm chart: %w", err)
	}
	set, err := gotemplate.Compile(map[string]string{environmentsFile: string(file)}, gotemplate.Options{})
	if err != nil {
		return nil, fmt.Errorf("reading the operator's own Helm chart: %w", err)
	}
	rendered, err := set.Execute(ctx, environmentsTemplate, values)
	if err != nil {
		return nil, cmp.Or(schemaErr, fmt.Errorf("reading %s as the installation does: %w", source, err))
	}
	read := &InstallationValues{Environment: name, source: source, written: &written, files: map[string]string{}}
	if err := bounded.Values().DecodeYAML([]byte(rendered+"\n"), &read.files); err != nil {
		return nil, cmp.Or(schemaErr, fmt.Errorf("reading %s as the installation does: %w", source, err))
	}
	return read, schemaErr
}

// checkKeys validates a values file with the schema of the installation chart, as helm does. It skips the keys in
// checkedLater.
func checkKeys(root fs.FS, written environment.Layer) error {
	schema, chartValues, err := readInstallationChart(root)
	if err != nil {
		return fmt.Errorf("reading the operator's own Helm chart: %w", err)
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
	text, err := bounded.Chart().ReadFile(root, installationChart+"values.schema.json")
	if err != nil {
		return nil, chartValues, err
	}
	schema, err := environment.CompileSchema(installationChart+"values.schema.json", text)
	if err != nil {
		return nil, chartValues, err
	}
	if text, err = bounded.Chart().ReadFile(root, installationChart+"values.yaml"); err != nil {
		return nil, chartValues, err
	}
	chartValues, err = environment.ParseLayer(installationChart+"values.yaml", text)
	return schema, chartValues, err
}

// withoutKeys returns a copy of the values without some top-level keys.
func withoutKeys(values map[string]any, keys []string) map[string]any {
	remaining := maps.Clone(values)
	maps.DeleteFunc(remaining, func(key string, _ any) bool { return slices.Contains(keys, key) })
	return remaining
}

// Files returns the data of the installation's ConfigMap for the values. Callers must not modify it.
func (v *InstallationValues) Files() map[string]string { return v.files }

// layersFor returns a copy of a set of environments in which these values replace the installation's values.
func (v *InstallationValues) layersFor(set *environment.Set) *environment.Set {
	if v.written == nil {
		return set.WithInstallation(v.source, v.files)
	}
	return set.WithWritten(v.written, v.files, func(name string) []string { return v.PathInFile(environmentsKey, name) })
}

// PathInFile converts the path of a part of the values, such as Fault.Path, to its path in the values file.
func (v *InstallationValues) PathInFile(keys ...string) []string {
	if len(keys) > 1 && keys[0] == environmentsKey && keys[1] == v.Environment {
		return keys[2:] // The values of this environment are at the top level of the file.
	}
	return keys
}

// TemplateSets returns the ConfigMaps of the template sets that an installation with these values would have.
// installation is the name of the ConfigMap of the installation's values. As helm does, it merges the files in the
// values into the files of the existing sets, and null removes a file or a set.
func (v *InstallationValues) TemplateSets(installation types.NamespacedName, sets []corev1.ConfigMap) []corev1.ConfigMap {
	templates, isSet := v.templates()
	if !isSet {
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

// templates returns the template sets in the values, and whether the values set the key templates. The sets are nil if
// the values remove all template sets.
func (v *InstallationValues) templates() (sets map[string]any, isSet bool) {
	if v.written == nil {
		return nil, false
	}
	value, isSet := v.written.Tree[templatesKey]
	return tree.Map(value), isSet
}

// mergeFiles merges the files of a template set into the base files. A file with the value null is removed.
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

// MergeInto returns a copy of a platform in which these values and their policy replace those of the installation. The
// platform must already contain the template sets that TemplateSets returns.
func (v *InstallationValues) MergeInto(platform *Platform) *Platform {
	merged := &Platform{Environments: v.layersFor(platform.Environments), Roll: platform.Roll}
	for _, set := range platform.Sets() {
		setCopy := *set
		if templates, _ := v.templates(); set.Err != nil && templates[set.Name] != nil {
			setCopy.Err = fmt.Errorf("%s: %w", v.written.Position(templatesKey, set.Name), set.Err)
		}
		if set.Environments != nil {
			setCopy.Environments = v.layersFor(set.Environments)
		}
		merged.Add(&setCopy)
	}
	merged.Policy, merged.PolicyErr = policy.Parse(v.source+" "+PolicyKey, []byte(v.files[PolicyKey]))
	merged.Rollout, merged.RolloutErr = fleet.Parse(v.source+" "+RolloutKey, []byte(v.files[RolloutKey]))
	merged.Stop = v.mergeStop(platform.Stop)
	if v.written != nil {
		merged.AboutURL = tree.Text(v.written.Tree, "aboutURL")
	}
	return merged
}

// mergeStop returns the reason why writes are stopped after these values replace those of the installation. A stop by a
// user's annotation remains.
func (v *InstallationValues) mergeStop(installed WriteStop) WriteStop {
	switch {
	case installed == StoppedByAnnotation:
		return installed
	case v.written != nil && v.written.Tree["writes"] == meta.WritesStopped:
		return StoppedByValues
	}
	return NotStopped
}
