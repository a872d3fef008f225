// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"regexp"
	"slices"
	"strings"
)

// interpolatedUntil is the first version that does not replace ${VAR} by default.
const interpolatedUntil = 57

// variable is Vector's grammar: $$, $NAME, ${NAME}, and ${NAME} with a default
// (:- and -) or a message (:? and ?).
var variable = regexp.MustCompile(`\$\$|\$([\w.]+)|\$\{([\w.]+)(:?[-?][^}]*)?\}`)

// secret matches SECRET[backend.key], as Vector finds it. Other texts are unchanged.
var secret = regexp.MustCompile(`SECRET\[(\w+)\.([\w.\-/]+)\]`)

// programs are the options with a VRL program, where $ has other meanings.
var programs = []string{"source", "condition"}

// mostInText is the maximum number of variables and secrets of one text that are checked.
const mostInText = 1000

// interpolation reports whether Vector replaces variables, and whether it may. It may if the flag, its value or the
// release is not known.
func (c *checker) interpolation() (isCertain, isPossible bool) {
	if c.version.minor < interpolatedUntil {
		isOff, isKnown := c.commandLine.Toggle("disable-env-var-interpolation")
		return !isOff && isKnown, !isOff || !isKnown
	}
	isOn, isKnown := c.commandLine.Toggle("dangerously-allow-env-var-interpolation")
	return isOn && isKnown, isOn || !isKnown || !c.version.known || c.commandLine.IsOpen()
}

// checkTexts checks variables, secrets and credentials in all texts.
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
		if c.container != nil && c.tables.secrets[key] && v.scalar != "" && !variable.MatchString(v.scalar) && !c.isInserted(v) {
			c.report(plainSecret, v.at, path, "%s is in plain text", key)
		}
	})
	c.checkCommentedSecrets()
}

func (c *checker) checkVariables(path, key string, v *value) {
	for _, match := range variable.FindAllStringSubmatch(v.scalar, mostInText) {
		switch name := match[1] + match[2]; {
		case name == "":
		case !c.interpolates:
			if match[2] != "" && !slices.Contains(programs, key) {
				c.report(literalVariable, v.at, path, "%s is not replaced: since Vector 0.57, variables are not replaced by default", match[0])
			}
		case c.isUnset(name):
			c.tellUnset(name, v.at, path)
		}
	}
}

func (c *checker) checkSecrets(path string, v, backends *value) {
	for _, match := range secret.FindAllStringSubmatch(v.scalar, mostInText) {
		if !backends.has(match[1]) {
			c.tellBackend(match[1], v.at, path)
		}
	}
}

// checkCommentedSecrets finds backends that only comments and keys refer to, because Vector searches secrets in the
// text of a file.
func (c *checker) checkCommentedSecrets() {
	backends := c.root.get("secret")
	if backends.form == open || c.hasOpenKey(backends) || c.isRootOpen() {
		return
	}
	for number, file := range c.files {
		if !strings.Contains(file.Text, "SECRET[") {
			continue
		}
		for _, at := range secret.FindAllStringSubmatchIndex(file.Text, mostInText) {
			name := file.Text[at[2]:at[3]]
			if !backends.has(name) && !c.told["secret "+name] {
				line := strings.Count(file.Text[:at[0]], "\n")
				c.tellBackend(name, position{file: number, line: line + 1, column: at[0] - strings.LastIndexByte(file.Text[:at[0]], '\n')}, "")
			}
		}
	}
}

func (c *checker) tellBackend(name string, at position, path string) {
	c.tell("secret " + name)
	c.report(unknownSecret, at, path, "unknown secret backend %q", name)
}

// tell records a variable or a backend that was reported for a value. The other checks do not report it again.
func (c *checker) tell(what string) {
	if c.told == nil {
		c.told = map[string]bool{}
	}
	c.told[what] = true
}
