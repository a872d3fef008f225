// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package config checks Vector configuration. The files of one configuration, the image and the container go in,
// together with the parsers of the caller (Reader). A Report comes out, in Vector's order, with file and line. It has
// the faults that prevent Vector from starting, the mistakes of sidecars (graph, event types, versions, mounts,
// variables), and the inputs of the configuration. The tables in data/ are read from Vector's sources; data/README.md
// names the commands. The package neither runs Vector nor knows Kubernetes.
package config

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// Options describe where a configuration is going to be used.
type Options struct {
	// Image is the image of Vector. Its tag contains the version. If it is empty, the version is not checked.
	Image string
	// Container is the container of Vector. If it is nil, the checks that depend on it are skipped.
	Container *Container
	// OtherFiles are files in the container in addition to the files of the configuration, by their whole path.
	OtherFiles []string
	// Permitted is the policy of the platform for the configuration.
	Permitted Permitted `json:",omitzero"`
	// IsPartial reports that Vector reads more files than the checked ones.
	IsPartial bool
}

// Report is the result of a check.
type Report struct {
	// Findings are sorted: errors first, and then in the order in which Vector checks.
	Findings []Finding
	// Intake is the input of the configuration.
	Intake Intake
	// DataDir is Vector's data directory as it is written.
	DataDir string
	// UsedFiles are the files of Options.Beside that the configuration may read.
	UsedFiles []string
	// Programs counts its VRL programs.
	Programs Programs

	container   *Container
	commandLine *vectorflags.CommandLine
	listeners   []listener
}

// Check reads the files of one configuration, merges them as Vector does, and checks the whole. It returns an error
// only if the context ends: the error of the context.
func (r *Reader) Check(ctx context.Context, files []File, options Options) (*Report, error) {
	c := &checker{
		reader: r, effort: newEffort(ctx, r.Nearest), tables: tables(), version: parseImageVersion(options.Image), files: files, counts: map[Level]int{}, openTexts: map[string]bool{},
		container: options.Container, commandLine: options.Container.CommandLine(options.Image),
	}
	c.interpolates, c.mayInterpolate = c.interpolation()
	c.isTabled = c.version.isTabled()
	root, isWhole := c.read()
	c.root, c.intake, c.isPartial = root, newIntake(root), options.IsPartial || !isWhole
	c.intake.HasOtherSources = c.intake.HasOtherSources || len(files) == 0
	if options.Image != "" && !c.version.isKnown && len(files) > 0 {
		c.report(versionUnknown, position{}, "", "the tag of image %q does not name a version of Vector: findings that depend on the version are only warnings", options.Image)
	}
	c.checkCommandLine()
	if len(c.trees) > 0 {
		c.check()
	}
	c.checkUnset()
	usedFiles := c.findUsedFiles(options.OtherFiles, isWhole)
	if c.effort.err = ctx.Err(); c.effort.err != nil {
		return nil, c.effort.err
	}
	// The findings of the policy are first, because some of the other findings may be dropped.
	c.findings = append(c.forbid(&options.Permitted, isWhole), c.findings...)
	slices.SortStableFunc(c.findings, func(a, b Finding) int { return cmp.Compare(a.Level, b.Level) })
	dataDir, _, _ := c.dataDir()
	return &Report{Findings: c.findings, Intake: c.intake, DataDir: dataDir, UsedFiles: usedFiles, Programs: c.programs, container: options.Container, commandLine: c.commandLine, listeners: c.listeners}, nil
}

// mostFindings is the maximum number of findings of a level. A user with more findings has to fix these first.
const mostFindings = 100

// checker is the state of one check.
type checker struct {
	reader    *Reader
	tables    *facts
	version   version
	container *Container
	files     []File
	root      *value
	// trees are the parsed files, before they are merged.
	trees    []*value
	intake   Intake
	findings []Finding
	counts   map[Level]int
	effort   *effort
	// lines are the lines of files, by their number. They are split when a place in a file is needed.
	lines map[int][]string
	// readAhead is the number of characters of VRL programs that were read ahead.
	readAhead int
	programs  Programs

	// isTabled reports whether the options of the checked version are known. If so, an option that is not in the table
	// does not exist.
	isTabled bool
	// isPartial reports that Vector reads files that are not read here.
	isPartial   bool
	commandLine *vectorflags.CommandLine
	// interpolates reports whether Vector certainly replaces ${VAR}, mayInterpolate whether it may. interpolations has
	// the interpolations of the files. openTexts has the texts and keys with unknown variables.
	interpolates, mayInterpolate bool
	interpolations               []*interpolation
	openTexts                    map[string]bool
	// reported are the reported variables, and the reported backends with the prefix "secret ".
	reported   map[string]bool
	components []*component
	byKind     map[kind]map[string]*component
	outputs    map[string]*output
	listeners  []listener
}

// read parses and merges the files. If a file cannot be read, the result is not whole, and missing parts cannot be
// reported.
func (c *checker) read() (root *value, isWhole bool) {
	root = &value{form: table, pos: position{line: 1, column: 1}}
	isWhole = true
	for i := 0; i < len(c.files); {
		directory, start := c.files[i].Directory, i
		var files []File
		var trees []*value
		for ; i < len(c.files) && (i == start || directory != "" && c.files[i].Directory == directory); i++ {
			if c.effort.ctx.Err() != nil {
				return root, false
			}
			tree := c.parseFile(i)
			if tree == nil {
				isWhole = false
				continue
			}
			files, trees = append(files, c.files[i]), append(trees, tree)
			if !strings.Contains(c.files[i].RelativePath, "/") {
				c.trees = append(c.trees, tree)
			}
		}
		switch {
		case directory != "":
			c.mergeDirectory(root, files, trees)
		case len(trees) > 0:
			c.merge(root, trees[0])
		}
	}
	return root, isWhole
}

// check applies the rules in Vector's order, and then the rules of sidecars.
func (c *checker) check() {
	c.checkKeys()
	c.readComponents()
	if c.checkProvider() {
		return
	}
	c.checkIDs()
	c.resolveInputs()
	c.checkShape()
	c.checkResources()
	c.checkOutputNames()
	c.checkGlobals()
	c.checkInputs()
	c.checkTests()
	c.checkCycles()
	if len(Errors(c.findings)) == 0 {
		c.checkConsumers()
		c.checkAcknowledgements()
	}
	c.checkGlobalOptions()
	for _, comp := range c.components {
		c.checkOptions(comp)
		c.checkConfinement(comp)
		c.checkStart(comp)
	}
	if c.effort.ctx.Err() != nil {
		return
	}
	c.checkTexts()
	c.checkSidecar()
}

// report adds a finding of a rule. If the last argument is a help, it replaces the help of the rule.
func (c *checker) report(code Code, pos position, path, format string, args ...any) {
	c.add(code, pos, path, true, format, args...)
}

// add reports an error as a warning unless it is certain.
func (c *checker) add(code Code, pos position, path string, isCertain bool, format string, args ...any) {
	rule := ruleFor(code)
	finding := Finding{Code: code, Level: rule.Level, Path: path, Help: rule.Help}
	if !isCertain {
		finding.Level = Warning
	}
	if n := len(args) - 1; n >= 0 {
		if override, ok := args[n].(help); ok {
			args = args[:n]
			if override != "" {
				finding.Help = string(override)
			}
		}
	}
	finding.Message = fmt.Sprintf(format, args...)
	if c.counts[finding.Level]++; c.counts[finding.Level] > mostFindings {
		return
	}
	finding.Source, finding.Line, finding.Column = c.sourceName(pos), c.sourcePosition(pos).line, c.sourcePosition(pos).column
	c.findings = append(c.findings, finding)
}

// sourceName returns the name of the file of a position.
func (c *checker) sourceName(pos position) string {
	if pos.file >= len(c.files) {
		return ""
	}
	return cmp.Or(c.files[pos.file].Source, c.files[pos.file].Name)
}

// sourcePosition returns a position that the author of the file can find: without line and column if the text was printed
// from data.
func (c *checker) sourcePosition(pos position) position {
	if pos.file < len(c.files) && c.files[pos.file].Printed {
		return position{file: pos.file}
	}
	return pos
}

// help explains how to fix one finding, instead of the general help of the rule.
type help string

// describePosition returns a position for messages.
func (c *checker) describePosition(pos position) string {
	if len(c.files) > 1 {
		return fmt.Sprintf("%s:%d", c.sourceName(pos), pos.line)
	}
	return fmt.Sprintf("line %d", pos.line)
}

// didYouMean returns a help, "" without a candidate.
func didYouMean(name string) help {
	if name == "" {
		return ""
	}
	return help(fmt.Sprintf("did you mean %q?", name))
}
