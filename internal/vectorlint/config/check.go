// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package config checks Vector configuration. It takes the files of one configuration, the image, the
// container, and the parsers of the caller (Reader). It returns a Report with findings in Vector's order, each
// with file and line: faults that prevent Vector from starting, and mistakes of sidecars in the graph, event
// types, versions, mounts and variables. It does not run Vector and has no Kubernetes types; the tables in
// data/ are generated from Vector's sources as data/README.md describes.
package config

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// Options describe the environment in which Vector will run a configuration.
type Options struct {
	// Image is the image of Vector. Its tag contains the version. If Image is empty, the version is not
	// checked.
	Image string
	// Container is the container of Vector. If it is nil, all checks that need the container are skipped.
	Container *Container
	// OtherFiles are the absolute paths of the files in the container that are not files of the configuration.
	OtherFiles []string
	// Policy contains the restrictions of the platform's policy.
	Policy Policy `json:",omitzero"`
	// IsPartial reports whether Vector also reads configuration files that are not checked.
	IsPartial bool
}

// Report is the result of a check.
type Report struct {
	// Findings are the problems, with errors before warnings. Within a level, they have the order in which
	// Vector checks.
	Findings []Finding
	// Intake describes the inputs of the configuration.
	Intake Intake
	// DataDir is Vector's data directory as the configuration sets it, with variables not replaced.
	DataDir string
	// UsedFiles are the files in Options.OtherFiles that the configuration may read.
	UsedFiles []string
	// Programs is the number of VRL programs in the configuration, by coverage.
	Programs Programs

	container   *Container
	commandLine *vectorflags.CommandLine
	listeners   []listener
}

// Check parses the files of one configuration, merges them as Vector does, and checks the result. It returns an
// error only if the context has ended.
func (r *Reader) Check(ctx context.Context, files []File, options Options) (*Report, error) {
	c := &checker{
		reader: r, effort: newEffort(ctx, r.Nearest), tables: tables(), version: parseImageVersion(options.Image), files: files, counts: map[Level]int{}, openTexts: map[string]bool{},
		container: &Container{}, commandLine: vectorflags.Parse(vectorflags.Input{IsOtherProgram: true}),
	}
	if options.Container != nil {
		c.hasContainer, c.container, c.commandLine = true, options.Container, options.Container.CommandLine(options.Image)
	}
	c.interpolates, c.mayInterpolate = c.interpolationChance()
	c.hasOptionTable = c.version.hasTable()
	root, isWhole := c.readFiles()
	c.root, c.intake, c.isPartial = root, newIntake(root), options.IsPartial || !isWhole
	c.intake.HasOtherSources = c.intake.HasOtherSources || len(files) == 0
	if options.Image != "" && !c.version.isKnown && len(files) > 0 {
		c.report(versionUnknown, position{}, "", "the tag of image %q does not name a version of Vector: findings that depend on the version are only warnings", options.Image)
	}
	c.checkCommandLine()
	if len(c.trees) > 0 {
		c.checkRoot()
	}
	c.checkUnset()
	usedFiles := c.findUsedFiles(options.OtherFiles, isWhole)
	if c.effort.err = ctx.Err(); c.effort.err != nil {
		return nil, c.effort.err
	}
	// The findings of the policy are first, because some of the other findings may be dropped.
	c.findings = append(c.findForbidden(&options.Policy, isWhole), c.findings...)
	slices.SortStableFunc(c.findings, func(a, b Finding) int { return cmp.Compare(a.Level, b.Level) })
	dataDir, _, _ := c.dataDir()
	return &Report{Findings: c.findings, Intake: c.intake, DataDir: dataDir, UsedFiles: usedFiles, Programs: c.programs, container: options.Container, commandLine: c.commandLine, listeners: c.listeners}, nil
}

// mostFindings is the maximum number of findings of one level. Further findings are dropped, because a user
// must fix the first ones anyway.
const mostFindings = 100

// checker checks the Vector configuration of one sidecar, and collects the findings.
type checker struct {
	reader  *Reader
	tables  *facts
	version version
	// container is empty if it is not known. hasContainer reports whether it is.
	container    *Container
	hasContainer bool
	files        []File
	root         *value
	// trees are the parsed files before they are merged.
	trees    []*value
	intake   Intake
	findings []Finding
	counts   map[Level]int
	effort   *effort
	// lines caches the lines of a file by the file's number.
	lines map[int][]string
	// readAhead is the number of characters in VRL programs that the parser has read ahead.
	readAhead int
	programs  Programs

	// hasOptionTable reports whether the tables contain all options of the checked version. If so, an option that is not in
	// the tables does not exist.
	hasOptionTable bool
	// isPartial reports whether Vector reads configuration files that are not checked here.
	isPartial   bool
	commandLine *vectorflags.CommandLine
	// interpolates reports whether Vector certainly replaces ${VAR}, and mayInterpolate whether it possibly
	// does. interpolations contains one entry for each file. openTexts contains the texts and keys with unknown
	// variables.
	interpolates, mayInterpolate bool
	interpolations               []*interpolation
	openTexts                    map[string]bool
	// reported contains the names of the reported variables, and the names of the reported secret backends with
	// the prefix "secret ".
	reported   map[string]bool
	components []*component
	byKind     map[kind]map[string]*component
	outputs    map[string]*output
	listeners  []listener
}

// readFiles parses and merges the files. It returns false if a file cannot be read. In that case, the checks cannot
// report a part as missing.
func (c *checker) readFiles() (root *value, isWhole bool) {
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
			c.mergeTable(root, trees[0])
		}
	}
	return root, isWhole
}

// checkRoot runs all checks: the checks of Vector in Vector's order, and then the checks for sidecars.
func (c *checker) checkRoot() {
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
	c.checkGlobalRanges()
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

// report adds a finding. If the last argument is a help, the finding has that help instead of the rule's help.
func (c *checker) report(code Code, pos position, path, format string, args ...any) {
	c.add(code, pos, path, true, format, args...)
}

// add adds a finding. If the finding is not certain, it is a warning even if the rule's level is Error.
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

// sourceName returns the name of the file that contains a position.
func (c *checker) sourceName(pos position) string {
	if pos.file >= len(c.files) {
		return ""
	}
	return cmp.Or(c.files[pos.file].Source, c.files[pos.file].Name)
}

// sourcePosition returns a position that users can find in the file. If the text of the file was printed from
// data, the position has neither line nor column.
func (c *checker) sourcePosition(pos position) position {
	if pos.file < len(c.files) && c.files[pos.file].Printed {
		return position{file: pos.file}
	}
	return pos
}

// help is the help of one finding, which replaces the help of the rule.
type help string

// describePosition returns a position as text for messages.
func (c *checker) describePosition(pos position) string {
	if len(c.files) > 1 {
		return fmt.Sprintf("%s:%d", c.sourceName(pos), pos.line)
	}
	return fmt.Sprintf("line %d", pos.line)
}

// didYouMean returns a help that suggests a name, or "" if the name is "".
func didYouMean(name string) help {
	if name == "" {
		return ""
	}
	return help(fmt.Sprintf("did you mean %q?", name))
}
