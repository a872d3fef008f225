// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"cmp"
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
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// lineAtEnd matches the line number at the end of a position, as in values.yaml:12.
var lineAtEnd = regexp.MustCompile(`:\d+$`)

// sidecarFiles finds the configuration files of a sidecar among the keys of the referenced ConfigMap and of the
// companions. container, spec and line are nil if the sidecar is not rendered.
type sidecarFiles struct {
	values     environment.Values
	config     configReference
	companions []corev1.ConfigMap
	container  *corev1.Container
	spec       *corev1.PodSpec
	line       *vectorflags.CommandLine
}

// foundFile is a configuration file with its path in the container. Its Match describes how Vector reads the file.
type foundFile struct {
	vectorflags.Match

	path string
	file vectorconfig.File
}

// files returns the configuration files that Vector reads, in the order in which Vector reads them. If the command line
// names no configuration, it returns defaultFiles.
func (s *sidecarFiles) files() []vectorconfig.File {
	var matches []foundFile
	if s.config.object != nil {
		matches = append(matches, s.matches(s.config.object)...)
	}
	for i := range s.companions {
		matches = append(matches, s.matches(&s.companions[i])...)
	}
	if len(matches) == 0 && !s.hasConfigArguments() {
		return s.defaultFiles()
	}
	section := func(f foundFile) int {
		name, _, _ := strings.Cut(f.RelativePath, "/")
		return slices.Index(vectorflags.Sections, name)
	}
	slices.SortFunc(matches, func(a, b foundFile) int {
		return cmp.Or(strings.Compare(a.Directory, b.Directory), section(a)-section(b), strings.Count(a.RelativePath, "/")-strings.Count(b.RelativePath, "/"),
			strings.Compare(a.path, b.path), strings.Compare(a.Format, b.Format))
	})
	matches = slices.CompactFunc(matches, func(a, b foundFile) bool { return a.path == b.path && a.Match == b.Match })
	var files []vectorconfig.File
	for _, f := range matches {
		files = append(files, f.file)
	}
	return files
}

// hasConfigArguments reports whether the arguments or environment variables of Vector name configuration files.
func (s *sidecarFiles) hasConfigArguments() bool {
	return s.line != nil && len(s.line.Sources) > 0 && !s.line.Sources[0].IsDefault
}

// matches returns the keys of a ConfigMap that are mounted in the container and that Vector reads as configuration
// files.
func (s *sidecarFiles) matches(object *corev1.ConfigMap) []foundFile {
	if s.container == nil {
		return nil
	}
	var matches []foundFile
	for file, key := range mountedFiles(s.container, s.spec, object) {
		if _, isText := object.Data[key]; !isText {
			continue
		}
		for i := range s.line.Sources {
			if match, isRead := s.line.Sources[i].Matches(file, s.container.WorkingDir); isRead && !s.line.Sources[i].Path.IsOpen {
				configFile := s.file(object, key)
				configFile.Name, configFile.Format, configFile.Directory, configFile.RelativePath = path.Base(file), match.Format, match.Directory, match.RelativePath
				matches = append(matches, foundFile{match, file, configFile})
			}
		}
	}
	return matches
}

// defaultFiles returns the configuration files of a sidecar with a command line that names none of them: the key of the
// referenced ConfigMap that the values name, and the keys of companions with the extension of a configuration file.
func (s *sidecarFiles) defaultFiles() []vectorconfig.File {
	var files []vectorconfig.File
	if s.config.object != nil {
		files = append(files, s.file(s.config.object, s.config.key))
	}
	if printed := rawFile(s.values); s.spec == nil && printed.Text != "" { // The sidecar is not rendered, so no companion contains the value.
		files = append(files, printed)
	}
	for i := range s.companions {
		for _, key := range configKeys(&s.companions[i]) {
			files = append(files, s.file(&s.companions[i], key))
		}
	}
	return files
}

// file returns a key of a ConfigMap as a configuration file. Its source for messages is the ConfigMap, or the value
// from which the templates rendered the key.
func (s *sidecarFiles) file(object *corev1.ConfigMap, key string) vectorconfig.File {
	source := "rendered ConfigMap " + object.Name
	if object == s.config.object {
		source = fmt.Sprintf("ConfigMap %s/%s", object.Namespace, s.config.name)
	}
	file := vectorconfig.File{Name: key, Source: source + " " + key, Text: object.Data[key]}
	if text := tree.Text(s.values.Tree, "sidecar", "config", "inline"); text != "" && text == file.Text {
		file.Source = inlineSource(s.values)
	}
	if printed := rawFile(s.values); printed.Text != "" && printed.Text == file.Text {
		file.Source, file.Printed = printed.Source, true
	}
	return file
}

// configKeys returns the sorted keys of a ConfigMap with the extension of a configuration file.
func configKeys(object *corev1.ConfigMap) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(object.Data)), func(key string) bool { return !vectorconfig.IsConfig(key) })
}

// readsUnknownFiles reports whether the command line names a configuration file with unknown content: the file is
// neither in the referenced ConfigMap nor in a companion.
func (s *sidecarFiles) readsUnknownFiles() bool {
	if !s.hasConfigArguments() {
		return false
	}
	var mounted []string
	for _, object := range s.config.appendTo(s.companions) {
		mounted = slices.AppendSeq(mounted, maps.Keys(mountedFiles(s.container, s.spec, &object)))
	}
	return slices.ContainsFunc(s.line.Sources, func(source vectorflags.Source) bool {
		return !slices.ContainsFunc(mounted, func(file string) bool {
			_, isRead := source.Matches(file, s.container.WorkingDir)
			return isRead
		})
	})
}

// inlineSource returns the source of the inline configuration for messages: the layer of values that sets it.
func inlineSource(values environment.Values) string {
	return describeKey(values.Origin("sidecar", "config", "inline"), "sidecar.config.inline")
}

// describeKey returns the name of a layer of values and a key in it, for messages.
func describeKey(layer, key string) string {
	if strings.HasSuffix(layer, " spec") {
		return layer + "." + key
	}
	return layer + " " + key
}

// rawFile returns the value sidecar.config.raw as a configuration file, with the text that the template function toYaml
// prints. Text is empty if the value is not set.
func rawFile(values environment.Values) vectorconfig.File {
	raw := tree.MapAt(values.Tree, "sidecar", "config", "raw")
	if len(raw) == 0 {
		return vectorconfig.File{}
	}
	text, err := yaml.Marshal(raw)
	if err != nil {
		return vectorconfig.File{} // The template function toYaml reports the same error.
	}
	return vectorconfig.File{Name: "vector.yaml", Source: rawSource(values), Text: strings.TrimSuffix(string(text), "\n"), Printed: true}
}

// rawSource returns the source of sidecar.config.raw for messages: all layers of values that set a part of it.
func rawSource(values environment.Values) string {
	var layers []string
	for _, origin := range values.OriginsBelow("sidecar", "config", "raw") {
		layers = append(layers, describeKey(lineAtEnd.ReplaceAllString(origin, ""), "sidecar.config.raw"))
	}
	slices.Sort(layers)
	return strings.Join(slices.Compact(layers), " and ")
}

// inlineName returns the name of the file with an inline configuration. The extension is toml if the first line looks
// like TOML, and yaml otherwise, as in the chart.
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
