// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package flags parses Vector's command line. It takes the arguments, the environment variables and the
// release. It returns the settings, the configuration files that Vector reads, and the faults that make Vector
// exit before it reads a configuration. It does not read files; its table contains the flags of each release
// from 0.45 to 0.57.
package flags

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Text is an argument or the value of an environment variable. The zero value is the empty text.
type Text struct {
	Value string
	// IsOpen reports whether a part of the text is known only in the pod. Value then contains $(NAME) for each
	// unknown part.
	IsOpen bool
}

// Input contains the command line and the environment of Vector.
type Input struct {
	// Minor is the minor version of Vector 0.x.
	Minor int
	Args  []Text
	Env   map[string]Text
	// HasMoreEnv reports whether environment variables may exist that are not in Env.
	HasMoreEnv bool
	// IsOtherProgram reports whether the arguments are for another program, which may start Vector. Parse then
	// does not report faults.
	IsOtherProgram bool
}

// Fault is a flag or an environment variable that prevents Vector from starting.
type Fault struct {
	// Name is the name of the flag or the variable, such as --threads or VECTOR_THREADS.
	Name string
	// IsUnknown reports whether the release does not have the flag. Releases is then the range of releases that
	// have the flag, or "" if no release has it.
	IsUnknown bool
	Releases  string
	// Message describes the fault.
	Message string
}

// CommandLine is a parsed command line.
type CommandLine struct {
	Faults []Fault
	// Sources are the configuration files and directories that Vector reads. If the command line does not name
	// any, Sources contains the default path.
	Sources []Source

	settings map[string]setting
	// isOpen reports whether unknown arguments or variables may contain further settings.
	isOpen bool
}

// setting is the value of a flag, and the name of the flag or variable that sets it.
type setting struct {
	Text

	origin string
}

// parser parses one command line.
type parser struct {
	CommandLine

	input Input
	flags []flag
}

// defaultPath is the configuration file that Vector reads if the command line does not name any. Its format is
// YAML.
const defaultPath = "/etc/vector/vector.yaml"

// Parse parses a command line as Vector does: first the flags, and then the variables for the flags that are
// not set.
func Parse(input Input) *CommandLine {
	p := &parser{input: input, flags: flagsFor(input.Minor), CommandLine: CommandLine{settings: map[string]setting{}}}
	p.readArguments()
	p.readVariables()
	p.checkLimits()
	if input.IsOtherProgram { // Vector may get other arguments and variables.
		p.Faults, p.isOpen = nil, true
	}
	if len(p.Sources) == 0 && !p.isOpen {
		p.Sources = []Source{{Path: Text{Value: defaultPath}, Format: "yaml", IsDefault: true}}
	}
	line := p.CommandLine // The rest of the parser is not needed anymore.
	return &line
}

// Toggle reports whether a flag without a value is on, and whether its state is known. A flag that is not set
// is off.
func (c *CommandLine) Toggle(long string) (isOn, isKnown bool) {
	s := c.settings[long]
	return s.Value == "true", !s.IsOpen
}

// Number returns the number that a flag or its variable sets, or 0 if it is not set. It also returns whether
// the number is known.
func (c *CommandLine) Number(long string) (n int64, isKnown bool) {
	s, isSet := c.settings[long]
	if !isSet {
		return 0, true
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(s.Value, "+"), 10, 64)
	return n, !s.IsOpen && err == nil
}

// IsOpen reports whether unknown arguments or variables may contain further settings.
func (c *CommandLine) IsOpen() bool { return c.isOpen }

// readArguments parses the flags before the first subcommand. It also stops at an argument with an unknown
// name, because that argument may be a subcommand, which has its own flags.
func (p *parser) readArguments() {
	for i := 0; i < len(p.input.Args); i++ {
		argument := p.input.Args[i]
		name, value, isJoined := strings.Cut(argument.Value, "=")
		switch {
		case argument.IsOpen && hasUnknownVariable(name):
			p.isOpen = true
			return
		case strings.HasPrefix(name, "--") && name != "--":
			i += p.readLong(i, name, Text{Value: value, IsOpen: argument.IsOpen}, isJoined)
		case strings.HasPrefix(name, "-") && name != "-" && name != "--":
			i += p.readShort(i, argument)
		case slices.Contains(subcommands, argument.Value):
			p.isOpen = true
			return
		case name == "--" && i+1 == len(p.input.Args):
		case name == "--":
			p.addFault(p.input.Args[i+1].Value, "an argument of Vector must be a flag")
			return
		default:
			p.addFault(argument.Value, "an argument of Vector must be a flag")
		}
	}
}

// subcommands are the subcommands of Vector that do not run a configuration.
var subcommands = strings.Fields("validate convert-config generate generate-schema completion config list test graph top tap vrl help")

// hasUnknownVariable reports whether a name contains an unknown variable.
func hasUnknownVariable(name string) bool { return strings.Contains(name, "$(") }

// readLong parses the flag --NAME or --NAME=VALUE at an index. It returns the number of following arguments
// that are the flag's value.
func (p *parser) readLong(i int, name string, value Text, isJoined bool) int {
	f := p.findFlag(func(f flag) bool { return "--"+f.long == name })
	if f == nil {
		p.addUnknown(name)
		return 0
	}
	return p.readFlag(i, f, name, value, isJoined)
}

// readShort parses one or more short flags in an argument, such as -vv or -c/etc/vector/vector.yaml. It returns
// the number of following arguments that are a flag's value.
func (p *parser) readShort(i int, argument Text) int {
	remaining := argument.Value[1:]
	for remaining != "" {
		name := "-" + remaining[:1]
		remaining = remaining[1:]
		f := p.findFlag(func(f flag) bool { return f.short != "" && "-"+f.short == name })
		if f == nil {
			p.addUnknown(name)
			return 0
		}
		if f.takesValue() {
			value, _ := strings.CutPrefix(remaining, "=")
			return p.readFlag(i, f, name, Text{Value: value, IsOpen: argument.IsOpen}, remaining != "")
		}
		p.readFlag(i, f, name, Text{}, false)
	}
	return 0
}

// findFlag returns the release's first flag that a function matches, or nil for none.
func (p *parser) findFlag(matches func(flag) bool) *flag {
	if i := slices.IndexFunc(p.flags, matches); i >= 0 {
		return &p.flags[i]
	}
	return nil
}

// readFlag sets a flag. The value of a flag is in the same argument, or it is the next argument, which must not
// start with a dash. readFlag returns the number of following arguments that it has used.
func (p *parser) readFlag(i int, f *flag, name string, value Text, isJoined bool) (used int) {
	switch {
	case f.kind == end:
		p.addFault(name, "Vector prints its output and exits")
		return 0
	case !f.takesValue() && isJoined:
		p.addFault(name, "the flag takes no value")
		return 0
	case !f.takesValue():
		value = Text{Value: "true"}
	case !isJoined && (i+1 == len(p.input.Args) || isFlag(p.input.Args[i+1])):
		p.addFault(name, "the flag needs a value")
		return 0
	case !isJoined:
		value, used = p.input.Args[i+1], 1
	}
	if _, isSet := p.settings[f.long]; isSet && f.kind != files && f.kind != directories && f.kind != count {
		p.addFault(name, "the flag is set twice")
	}
	p.setFlag(f, name, value)
	return used
}

// isFlag reports whether an argument starts with a dash and is not only a dash.
func isFlag(argument Text) bool { return len(argument.Value) > 1 && argument.Value[0] == '-' }

// setFlag stores the value of a flag. It reports an invalid value unless the value is unknown.
func (p *parser) setFlag(f *flag, origin string, value Text) {
	p.settings[f.long] = setting{Text: value, origin: origin}
	if !value.IsOpen {
		if reason := f.invalidReason(value.Value); reason != "" {
			p.addFault(origin, fmt.Sprintf("%q is not a valid value: %s", value.Value, reason))
			return
		}
	}
	if f.kind != files && f.kind != directories {
		return
	}
	for path := range strings.SplitSeq(value.Value, ",") {
		source := Source{Path: Text{Value: path, IsOpen: value.IsOpen && hasUnknownVariable(path)}, Format: f.values, IsDirectory: f.kind == directories, Origin: origin}
		p.Sources = append(p.Sources, source)
	}
}

// readVariables reads the environment variables of flags that are not set, and the variables of Vector's log.
func (p *parser) readVariables() {
	for i := range p.flags {
		f := &p.flags[i]
		if _, isSet := p.settings[f.long]; isSet || f.variable == "" {
			continue
		}
		if value, ok := p.input.Env[f.variable]; ok {
			p.setFlag(f, f.variable, value)
		}
	}
	for _, name := range logVariables {
		value, ok := p.input.Env[name]
		if ok && !value.IsOpen {
			if reason := checkLog(value.Value); reason != "" {
				p.addFault(name, fmt.Sprintf("%q is not a valid value: %s", value.Value, reason))
			}
		}
		if ok || p.input.HasMoreEnv {
			break
		}
	}
	p.isOpen = p.isOpen || p.input.HasMoreEnv
}

// checkLimits reports the two settings of the shutdown limit if both are set, because they exclude each other.
func (p *parser) checkLimits() {
	limit, hasLimit := p.settings["graceful-shutdown-limit-secs"]
	none, hasNone := p.settings["no-graceful-shutdown-limit"]
	if hasLimit && hasNone {
		p.addFault(none.origin, "the flag cannot be set together with "+limit.origin)
	}
}

// addFault adds a fault of the flag with a name.
func (p *parser) addFault(name, message string) {
	p.Faults = append(p.Faults, Fault{Name: name, Message: message})
}

// addUnknown adds a fault for a flag that the release does not have.
func (p *parser) addUnknown(name string) {
	f := Fault{Name: name, IsUnknown: true, Message: "Vector does not have the flag"}
	for _, candidate := range table() {
		switch {
		case "--"+candidate.long != name:
		case candidate.lastMinor < Newest:
			f.Releases = fmt.Sprintf("0.%d to 0.%d", candidate.firstMinor, candidate.lastMinor)
		default:
			f.Releases = fmt.Sprintf("0.%d and later", candidate.firstMinor)
		}
	}
	p.Faults = append(p.Faults, f)
}

// Names returns the names of a release's flags, such as --threads.
func Names(minor int) []string {
	var names []string
	for _, f := range flagsFor(minor) {
		names = append(names, "--"+f.long)
	}
	return names
}
