// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorconfig"
)

// lineAtEnd matches the line number at the end of a value's position.
var lineAtEnd = regexp.MustCompile(`:\d+$`)

// filesOf returns the files of ours that Vector is told to read: keys of the referenced
// ConfigMap and of companions. If nothing says which, it is the key that the values
// name, and every key of a companion with the extension of a configuration.
func filesOf(values environment.Values, given config, companions []corev1.ConfigMap, container *corev1.Container, spec *corev1.PodSpec) []vectorconfig.File {
	told, printed := toldFiles(container), printedRaw(values)
	var files []vectorconfig.File
	add := func(object *corev1.ConfigMap, source string, keys ...string) {
		isRead := map[string]bool{}
		if len(told) > 0 {
			isRead = toldKeys(told, mountedFiles(container, spec, object))
		}
		for _, key := range keys {
			if len(told) > 0 && !isRead[key] {
				continue
			}
			file := vectorconfig.File{Name: key, Source: source + " " + key, Text: object.Data[key]}
			if text := tree.Text(values.Tree, "sidecar", "config", "inline"); text != "" && text == file.Text {
				file.Source = inlineSource(values)
			}
			if printed.Text != "" && printed.Text == file.Text {
				file.Source, file.Printed = printed.Source, true
			}
			files = append(files, file)
		}
	}
	if given.object != nil {
		keys := []string{given.key}
		if len(told) > 0 {
			keys = configKeys(given.object)
		}
		add(given.object, fmt.Sprintf("ConfigMap %s/%s", given.object.Namespace, given.name), keys...)
	}
	if spec == nil && printed.Text != "" { // No rendering contains it yet.
		files = append(files, printed)
	}
	for i := range companions {
		add(&companions[i], "rendered ConfigMap "+companions[i].Name, configKeys(&companions[i])...)
	}
	return files
}

func configKeys(object *corev1.ConfigMap) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(object.Data)), func(key string) bool { return !vectorconfig.IsConfig(key) })
}

// toldFiles returns the files, file patterns, and folders (with a trailing slash) that
// a container's arguments and variables tell Vector to read.
func toldFiles(container *corev1.Container) []string {
	if container == nil {
		return nil
	}
	var told []string
	for i, argument := range container.Args {
		name, text, isJoined := strings.Cut(argument, "=")
		if !isJoined && i+1 < len(container.Args) {
			text = container.Args[i+1]
		}
		switch name {
		case "--config", "-c", "--config-yaml", "--config-toml", "--config-json":
			told = append(told, strings.Split(text, ",")...)
		case "--config-dir", "-C":
			told = append(told, strings.TrimSuffix(text, "/")+"/")
		}
	}
	for _, variable := range container.Env {
		switch variable.Name {
		case "VECTOR_CONFIG", "VECTOR_CONFIG_YAML", "VECTOR_CONFIG_TOML", "VECTOR_CONFIG_JSON":
			told = append(told, strings.Split(variable.Value, ",")...)
		case "VECTOR_CONFIG_DIR":
			told = append(told, strings.TrimSuffix(variable.Value, "/")+"/")
		}
	}
	return told
}

// toldKeys returns the keys of a mounted ConfigMap that Vector is told to read.
func toldKeys(told []string, files map[string]string) map[string]bool {
	keys := map[string]bool{}
	for file, key := range files {
		if slices.ContainsFunc(told, func(pattern string) bool { return isTold(pattern, file) }) {
			keys[key] = true
		}
	}
	return keys
}

// isTold reports whether Vector is told to read a file.
func isTold(pattern, file string) bool {
	matches, err := path.Match(path.Clean(pattern), file)
	return matches && err == nil || strings.HasSuffix(pattern, "/") && path.Dir(file) == path.Clean(pattern)
}

// readsUnseen reports whether Vector is told to read something that is neither in the
// referenced ConfigMap nor in a companion, so that its content is unknown.
func readsUnseen(given config, companions []corev1.ConfigMap, container *corev1.Container, spec *corev1.PodSpec) bool {
	var seen []map[string]string
	if given.object != nil && container != nil {
		seen = append(seen, mountedFiles(container, spec, given.object))
	}
	for i := range companions {
		if container != nil {
			seen = append(seen, mountedFiles(container, spec, &companions[i]))
		}
	}
	return slices.ContainsFunc(toldFiles(container), func(pattern string) bool {
		return !slices.ContainsFunc(seen, func(files map[string]string) bool { return len(toldKeys([]string{pattern}, files)) > 0 })
	})
}

// inlineSource names an inline configuration by the layer that sets it.
func inlineSource(values environment.Values) string {
	return keyIn(values.Origin("sidecar", "config", "inline"), "sidecar.config.inline")
}

// keyIn names a key in the layer that sets it.
func keyIn(layer, key string) string {
	if strings.HasSuffix(layer, " spec") {
		return layer + "." + key
	}
	return layer + " " + key
}

// printedRaw returns the file for a configuration that is given as data, as toYaml
// prints it. Its Text is empty if there is none.
func printedRaw(values environment.Values) vectorconfig.File {
	raw := tree.At(values.Tree, "sidecar", "config", "raw")
	if len(raw) == 0 {
		return vectorconfig.File{}
	}
	text, err := yaml.Marshal(raw)
	if err != nil {
		return vectorconfig.File{} // The template cannot print it either, and reports the error.
	}
	return vectorconfig.File{Name: "vector.yaml", Source: rawSource(values), Text: strings.TrimSuffix(string(text), "\n"), Printed: true}
}

// rawSource names the layers that set the data, each of which may set a part.
func rawSource(values environment.Values) string {
	var layers []string
	for _, origin := range values.OriginsBelow("sidecar", "config", "raw") {
		layers = append(layers, keyIn(lineAtEnd.ReplaceAllString(origin, ""), "sidecar.config.raw"))
	}
	slices.Sort(layers)
	return strings.Join(slices.Compact(layers), " and ")
}

// inlineName returns a name with the extension that the chart gives an inline
// configuration: what parses as a TOML table is TOML.
func inlineName(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			if strings.HasPrefix(line, "[") || strings.Contains(strings.SplitN(line, ":", 2)[0], "=") {
				return "vector.toml"
			}
			return "vector.yaml"
		}
	}
	return "vector.yaml"
}
