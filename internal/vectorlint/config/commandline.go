// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strings"

	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// These constants are the sources of findings about the container, and not about a file.
const (
	ArgumentsSource = "sidecar.args"
	VariablesSource = "sidecar.env"
)

// checkCommandLine reports flags and variables that make Vector exit before it reads a configuration, and
// configuration files that do not exist. If the flags of the release are unknown, the findings are warnings,
// because flags differ between releases.
func (c *checker) checkCommandLine() {
	if !c.hasContainer {
		return
	}
	for _, fault := range c.commandLine.Faults {
		switch {
		case !fault.IsUnknown:
			c.addToContainer(badFlagValue, fault.Name, c.hasOptionTable, fault.Message)
		case fault.Releases != "":
			c.addToContainer(unknownFlag, fault.Name, c.hasOptionTable, "Vector "+c.version.String()+" does not have the flag; Vector "+fault.Releases+" has it")
		default:
			name, _, _ := strings.Cut(fault.Name, "=")
			c.addToContainer(unknownFlag, fault.Name, c.hasOptionTable, fault.Message, didYouMean(c.effort.nearestName(name, vectorflags.Names(c.version.minor))))
		}
	}
	for _, absent := range c.container.Absent {
		switch {
		case absent.IsDefault:
			c.addToContainer(absentFile, "--config", true, "Vector reads its default configuration file "+absent.Path.Value+", which does not exist in the container")
		case absent.IsDirectory:
			c.addToContainer(absentFile, absent.Origin, true, "the directory "+absent.Path.Value+" does not exist in the container")
		default:
			c.addToContainer(absentFile, absent.Origin, true, absent.Path.Value+" does not exist in the container")
		}
	}
}

// addToContainer adds a finding about an argument or an environment variable of the container.
func (c *checker) addToContainer(code Code, name string, isCertain bool, message string, advice ...any) {
	n := len(c.findings)
	c.add(code, position{file: len(c.files)}, name, isCertain, "%s", append([]any{message}, advice...)...)
	if len(c.findings) == n {
		return
	}
	finding := &c.findings[n]
	finding.Source = VariablesSource
	if strings.HasPrefix(name, "-") || !strings.Contains(name, "_") && name != "LOG" {
		finding.Source = ArgumentsSource
	}
}
