// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"path"
	"slices"
	"strings"
)

const (
	// wildcards are the characters that start the pattern part of a path.
	wildcards = "*?["
	// longestPath is the maximum length of a path in bytes.
	longestPath = 4096
)

// namedBeside returns the files next to the configuration that the configuration may read, or that the arguments and
// variables of the container name. It returns all files below a pattern or a directory in a text. It returns all files
// if not all of the configuration is known.
func (c *checker) namedBeside(beside []string, isWhole bool) []string {
	if len(beside) == 0 {
		return nil
	}
	if !isWhole || c.root.has("provider") {
		return beside
	}
	isNamed := map[string]bool{}
	all := false
	note := func(text string) {
		for _, file := range beside {
			all = all || c.takesIn(text, file)
			isNamed[file] = isNamed[file] || c.resolved(text) == file || mentions(text, file)
		}
	}
	for _, tree := range c.trees {
		tree.visit("", func(_ string, v *value) {
			// If there is too much to compare, the text may name any of the files.
			if all {
				return
			}
			whole := c.expanded(v.scalar)
			if all = !c.effort.spend(len(beside) * (1 + len(whole)/8)); !all {
				note(whole)
			}
		})
	}
	for _, text := range c.container.texts() {
		note(text)
	}
	if all {
		return beside
	}
	return slices.DeleteFunc(slices.Clone(beside), func(file string) bool { return !isNamed[file] })
}

// texts returns the words of the command lines of a container, and its variables.
func (c *Container) texts() []string {
	if c == nil {
		return nil
	}
	var all []string
	words := slices.Clone(c.Commands)
	for _, argument := range c.Args {
		words = append(words, argument.Value)
	}
	for _, word := range words {
		all = append(all, strings.FieldsFunc(word, func(r rune) bool { return r == '=' || r == ',' })...)
	}
	for _, value := range c.Env {
		all = append(all, strings.Split(value.Value, ",")...)
	}
	return all
}

// expanded returns a text as a pattern: unknown variables and secrets may have any value.
func (c *checker) expanded(text string) string {
	if len(text) > longestPath || !c.isDynamic(text) {
		return text
	}
	return secret.ReplaceAllLiteralString(variable.ReplaceAllLiteralString(text, "*"), "*")
}

// resolved returns the absolute path of a text. A relative path starts at the working directory of Vector.
func (c *checker) resolved(text string) string {
	if c.container != nil && !path.IsAbs(text) {
		return path.Join("/", c.container.WorkingDir, text)
	}
	return path.Join("/", text)
}

// takesIn reports whether a text is a pattern or a directory that contains a file. A directory above the file's mount
// does not count, because "/" is the path of many requests.
func (c *checker) takesIn(text, file string) bool {
	isPath := path.IsAbs(text) || strings.HasPrefix(text, "*/") || c.container != nil && strings.Trim(c.container.WorkingDir, "/") != ""
	if !isPath {
		return false
	}
	named := c.resolved(text)
	if at := strings.IndexAny(named, wildcards); at >= 0 {
		if strings.HasPrefix(text, "*/") {
			return true // It starts with an unknown variable.
		}
		return strings.HasPrefix(file, named[:at])
	}
	if named == file || !below(file, named) {
		return false
	}
	mount := c.container.mountOf(file)
	return mount != nil && below(named, mount.Path)
}

// mentions reports whether a text contains a path, such as a VRL program that opens it.
func mentions(text, file string) bool {
	for {
		at := strings.Index(text, file)
		if at < 0 {
			return false
		}
		text = text[at+len(file):]
		if text == "" || !isNameByte(text[0]) {
			return true
		}
	}
}

// isNameByte reports whether a byte may be in the key of a ConfigMap. If it follows a path, the path is longer.
func isNameByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-' || b == '_' || b == '.'
}
