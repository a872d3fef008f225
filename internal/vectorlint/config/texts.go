// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"regexp"
	"slices"
	"strings"
)

// interpolatedUntil is the first minor version of Vector 0.x that does not replace ${VAR} by default.
const interpolatedUntil = 57

// variable matches a reference to a variable in Vector's grammar: $$, $NAME, ${NAME}, and ${NAME} with a
// default (:- and -) or a message (:? and ?).
var variable = regexp.MustCompile(`\$\$|\$([\w.]+)|\$\{([\w.]+)(:?[-?][^}]*)?\}`)

// secret matches a reference to a secret, SECRET[backend.key], as Vector does. Vector does not replace any
// other text.
var secret = regexp.MustCompile(`SECRET\[(\w+)\.([\w.\-/]+)\]`)

// programs are the names of options with a VRL program, in which $ has other meanings.
var programs = []string{"source", "condition"}

// mostInText is the maximum number of variables and secrets in one text that are checked.
const mostInText = 1000

// interpolationChance reports whether Vector certainly replaces variables, and whether it possibly does. The second
// result is true if the flag, its value or the release is unknown.
func (c *checker) interpolationChance() (isCertain, isPossible bool) {
	if c.version.minor < interpolatedUntil {
		isOff, isKnown := c.commandLine.Toggle("disable-env-var-interpolation")
		return !isOff && isKnown, !isOff || !isKnown
	}
	isOn, isKnown := c.commandLine.Toggle("dangerously-allow-env-var-interpolation")
	return isOn && isKnown, isOn || !isKnown || !c.version.isKnown || c.commandLine.IsOpen()
}

// checkTexts checks the variables, secrets and credentials in all texts of the configuration.
func (c *checker) checkTexts() {
	backends := c.root.get("secret")
	hasBackends := backends.form != open && !c.hasOpenKey(backends) && !c.isRootOpen()
	c.root.visit("", func(path string, v *value) {
		key := path[strings.LastIndexByte(path, '.')+1:]
		if strings.IndexByte(v.scalar, '$') >= 0 {
			c.checkVariables(path, key, v)
		}
		if strings.Contains(v.scalar, "SECRET[") {
			if hasBackends {
				c.checkSecrets(path, v, backends)
			}
			return
		}
		if c.hasContainer && c.tables.secrets[key] && v.scalar != "" && !variable.MatchString(v.scalar) && !c.isInserted(v) {
			c.report(plainSecret, v.pos, path, "the value of %s is in plain text", key)
		}
	})
	c.checkCommentedSecrets()
}

// checkVariables reports references to variables in a text that Vector does not replace, or that the container does
// not set.
func (c *checker) checkVariables(path, key string, v *value) {
	for _, match := range variable.FindAllStringSubmatch(v.scalar, mostInText) {
		switch name := match[1] + match[2]; {
		case name == "":
		case !c.interpolates:
			if match[2] != "" && !slices.Contains(programs, key) {
				c.report(literalVariable, v.pos, path, "variable %s is not replaced: since Vector 0.57, variables are not replaced by default", match[0])
			}
		case c.isUnset(name):
			c.reportUnset(name, v.pos, path)
		}
	}
}

// checkSecrets reports references to secret backends in a text that the configuration does not define.
func (c *checker) checkSecrets(path string, v, backends *value) {
	for _, match := range secret.FindAllStringSubmatch(v.scalar, mostInText) {
		if !backends.hasKey(match[1]) {
			c.reportUnknownBackend(match[1], v.pos, path)
		}
	}
}

// checkCommentedSecrets reports undefined secret backends in comments and keys. Vector searches the whole text
// of a file for secrets.
func (c *checker) checkCommentedSecrets() {
	backends := c.root.get("secret")
	if backends.form == open || c.hasOpenKey(backends) || c.isRootOpen() {
		return
	}
	for number, file := range c.files {
		if !strings.Contains(file.Text, "SECRET[") {
			continue
		}
		for _, span := range secret.FindAllStringSubmatchIndex(file.Text, mostInText) {
			name := file.Text[span[2]:span[3]]
			if !backends.hasKey(name) && !c.reported["secret "+name] {
				line := strings.Count(file.Text[:span[0]], "\n")
				c.reportUnknownBackend(name, position{file: number, line: line + 1, column: span[0] - strings.LastIndexByte(file.Text[:span[0]], '\n')}, "")
			}
		}
	}
}

// reportUnknownBackend adds a finding for a secret backend that the configuration does not define.
func (c *checker) reportUnknownBackend(name string, pos position, path string) {
	c.markReported("secret " + name)
	c.report(unknownSecret, pos, path, "unknown secret backend %q", name)
}

// markReported records that a variable or a secret backend was reported for a value, so that other checks do
// not report it again.
func (c *checker) markReported(key string) {
	if c.reported == nil {
		c.reported = map[string]bool{}
	}
	c.reported[key] = true
}
