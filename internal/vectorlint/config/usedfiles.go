// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"path"
	"slices"
	"strings"
)

const (
	// wildcards are the characters that start the variable part of a pattern.
	wildcards = "*?["
	// longestPath is the maximum length of a path in bytes.
	longestPath = 4096
)

// findUsedFiles returns the files that the configuration, or the arguments and variables of the container, may
// read. A pattern or a directory in a text stands for all files below it. If a part of the configuration is
// unknown, findUsedFiles returns all files.
func (c *checker) findUsedFiles(otherFiles []string, isWhole bool) []string {
	if len(otherFiles) == 0 {
		return nil
	}
	if !isWhole || c.root.hasKey("provider") {
		return otherFiles
	}
	isNamed := map[string]bool{}
	matchesAll := false
	note := func(text string) {
		for _, file := range otherFiles {
			matchesAll = matchesAll || c.coversFile(text, file)
			isNamed[file] = isNamed[file] || c.resolvePath(text) == file || mentions(text, file)
		}
	}
	for _, tree := range c.trees {
		tree.visit("", func(_ string, v *value) {
			// If there is too much to compare, the text may name any of the files.
			if matchesAll {
				return
			}
			pattern := c.expandPattern(v.scalar)
			if matchesAll = !c.effort.spendCharacters(len(otherFiles) * (1 + len(pattern)/8)); !matchesAll {
				note(pattern)
			}
		})
	}
	for _, text := range c.container.commandTexts() {
		note(text)
	}
	if matchesAll {
		return otherFiles
	}
	return slices.DeleteFunc(slices.Clone(otherFiles), func(file string) bool { return !isNamed[file] })
}

// commandTexts returns the words of a container's command lines, and the values of its environment variables.
func (c *Container) commandTexts() []string {
	var texts []string
	words := slices.Clone(c.Commands)
	for _, argument := range c.Args {
		words = append(words, argument.Value)
	}
	for _, word := range words {
		texts = append(texts, strings.FieldsFunc(word, func(r rune) bool { return r == '=' || r == ',' })...)
	}
	for _, value := range c.Env {
		texts = append(texts, strings.Split(value.Value, ",")...)
	}
	return texts
}

// expandPattern returns a text with a * instead of each unknown variable and secret, because their values are
// unknown.
func (c *checker) expandPattern(text string) string {
	if len(text) > longestPath || !c.isDynamic(text) {
		return text
	}
	return secret.ReplaceAllLiteralString(variable.ReplaceAllLiteralString(text, "*"), "*")
}

// resolvePath returns the absolute path for a path in the configuration. Relative paths start at Vector's
// working directory.
func (c *checker) resolvePath(text string) string {
	if path.IsAbs(text) {
		return path.Join("/", text)
	}
	return path.Join("/", c.container.WorkingDir, text)
}

// coversFile reports whether a text is a pattern that may match a file, or a directory that contains the file.
// A directory above the file's mount does not count, because "/" is also the path of many HTTP requests.
func (c *checker) coversFile(text, file string) bool {
	isPath := path.IsAbs(text) || strings.HasPrefix(text, "*/") || strings.Trim(c.container.WorkingDir, "/") != ""
	if !isPath {
		return false
	}
	named := c.resolvePath(text)
	if i := strings.IndexAny(named, wildcards); i >= 0 {
		if strings.HasPrefix(text, "*/") {
			return true // It starts with an unknown variable.
		}
		return strings.HasPrefix(file, named[:i])
	}
	if named == file || !isInDirectory(file, named) {
		return false
	}
	mount := c.container.mountFor(file)
	return mount != nil && isInDirectory(named, mount.Path)
}

// mentions reports whether a text, such as a VRL program, contains the path of a file.
func mentions(text, file string) bool {
	for {
		i := strings.Index(text, file)
		if i < 0 {
			return false
		}
		text = text[i+len(file):]
		if text == "" || !isNameByte(text[0]) {
			return true
		}
	}
}

// isNameByte reports whether a byte is allowed in a key of a ConfigMap. If such a byte follows a path in a
// text, the text contains a longer path.
func isNameByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-' || b == '_' || b == '.'
}
