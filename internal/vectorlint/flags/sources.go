// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package flags

import (
	"path"
	"slices"
	"strings"
)

// Source is the path or the pattern of configuration files or directories that Vector reads.
type Source struct {
	Path Text
	// Format is toml, json or yaml, or "" if the extension of each file determines its format.
	Format string
	// IsDirectory reports whether the path names directories. Match describes the files that Vector reads in a
	// directory.
	IsDirectory bool
	// IsDefault reports whether Vector reads the path only because the command line does not name another one.
	IsDefault bool
	// Origin is the name of the flag or the variable that sets the path, or "" for the default.
	Origin string
}

// Match describes how Vector reads a file.
type Match struct {
	// Format is toml, json or yaml.
	Format string
	// Directory is the configuration directory that contains the file, and RelativePath is the path of the file
	// in that directory. Both are "" for a file that the command line names directly.
	Directory, RelativePath string
}

// Sections are the subdirectories of a configuration directory with one component in each file, in the order in
// which Vector reads them. The name of such a file, without the extension, is the component's id.
var Sections = []string{"sources", "transforms", "sinks", "tests", "enrichment_tables"}

// Matches returns how Vector reads a file because of the source. It returns false if the source does not
// include the file. A relative path starts at the working directory.
func (s *Source) Matches(file, workingDirectory string) (Match, bool) {
	pattern := s.Absolute(workingDirectory)
	if !s.IsDirectory {
		format := s.Format
		if format == "" {
			format = FormatFor(file)
		}
		if format == "" {
			format = "toml" // Vector's default for an unknown extension.
		}
		return Match{Format: format}, matchesPath(pattern, file)
	}
	directory := path.Dir(file)
	for range strings.Count(file, "/") {
		if matchesPath(pattern, directory) {
			relative := strings.TrimPrefix(strings.TrimPrefix(file, directory), "/")
			return Match{Format: FormatFor(file), Directory: directory, RelativePath: relative}, isReadBelow(relative)
		}
		directory = path.Dir(directory)
	}
	return Match{}, false
}

// Absolute returns the absolute path of the source.
func (s *Source) Absolute(workingDirectory string) string {
	if path.IsAbs(s.Path.Value) {
		return path.Clean(s.Path.Value)
	}
	return path.Join("/", workingDirectory, s.Path.Value)
}

// isReadBelow reports whether Vector reads a file in a configuration directory. The argument is the path of the
// file in that directory. Vector reads files at the top of the directory and files in Sections. Below
// transforms, subdirectories may be nested, unless their names start with a dot.
func isReadBelow(relative string) bool {
	steps := strings.Split(relative, "/")
	if FormatFor(relative) == "" {
		return false
	}
	switch {
	case len(steps) == 1:
		return true
	case len(steps) == 2:
		return slices.Contains(Sections, steps[0])
	}
	isHidden := slices.ContainsFunc(steps[1:len(steps)-1], func(step string) bool { return step[0] == '.' })
	return steps[0] == "transforms" && !isHidden
}

// FormatFor returns the format for the extension of a file, or "" for an unknown extension. A name that
// consists only of an extension, such as .yaml, has no format.
func FormatFor(file string) string {
	switch base := path.Base(file); path.Ext(base) {
	case base:
		return ""
	case ".yaml", ".yml":
		return "yaml"
	case ".json":
		return "json"
	case ".toml":
		return "toml"
	}
	return ""
}

// IsPattern reports whether a path contains wildcards.
func IsPattern(file string) bool { return strings.ContainsAny(file, "*?[") }

// matchesPath reports whether a pattern matches a path. * and ? do not match a slash. ** as a whole step
// matches any number of directories.
func matchesPath(pattern, file string) bool {
	steps, fileSteps := strings.Split(pattern, "/"), strings.Split(file, "/")
	i, j, star, resume := 0, 0, -1, 0 // star is the last ** that was passed, from the next step of the path that it matches.
	for j < len(fileSteps) {
		switch {
		case i < len(steps) && steps[i] == "**":
			star, resume = i, j
			i++
		case i < len(steps) && matchesStep(steps[i], fileSteps[j]):
			i, j = i+1, j+1
		case star >= 0:
			resume++
			i, j = star+1, resume
		default:
			return false
		}
	}
	for i < len(steps) && steps[i] == "**" {
		i++
	}
	return i == len(steps)
}

// matchesStep reports whether one step of a pattern matches one step of a path. Vector's patterns have [!a]
// instead of [^a], and no escapes.
func matchesStep(pattern, step string) bool {
	matches, err := path.Match(strings.NewReplacer(`\`, `\\`, "[!", "[^").Replace(pattern), step)
	return err == nil && matches
}

// isPatternValid reports whether Vector accepts the wildcards of a path: ** must be a whole step, and each [
// must be closed.
func isPatternValid(pattern string) bool {
	for step := range strings.SplitSeq(pattern, "/") {
		if step != "**" && strings.Contains(step, "**") {
			return false
		}
		for {
			_, class, isOpen := strings.Cut(step, "[")
			if !isOpen {
				break
			}
			class = strings.TrimPrefix(class, "!")
			end := strings.IndexByte(class[min(1, len(class)):], ']')
			if end < 0 {
				return false
			}
			step = class[end+2:]
		}
	}
	return true
}

// Covers reports whether the source names a file or directory, or one of the directories above it.
func (s *Source) Covers(file, workingDirectory string) bool {
	pattern := s.Absolute(workingDirectory)
	for ; file != "/" && file != "."; file = path.Dir(file) {
		if matchesPath(pattern, file) {
			return true
		}
	}
	return pattern == "/"
}
