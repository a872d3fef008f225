// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
)

// presets are values of spec.sidecar by name. Together, they cover every kind of input, and every sink with a preset in
// the built-in templates. lint renders values and templates with each of them.
var presets = map[string]string{
	"logs":            `{logs: {path: /var/log/app}}`,
	"otlp":            `{otlp: {enabled: true}}`,
	"socket":          `{socket: {enabled: true, codec: json}}`,
	"aws_s3":          `{logs: {path: /var/log/app}, sinks: {sample: {type: aws_s3, bucket: sample, region: eu-central-1}}}`,
	"console":         `{logs: {path: /var/log/app}, sinks: {sample: {type: console, encoding: {codec: text}}}}`,
	"elasticsearch":   `{logs: {path: /var/log/app}, sinks: {sample: {type: elasticsearch, endpoints: ["https://sample.example:9200"]}}}`,
	"http":            `{logs: {path: /var/log/app}, sinks: {sample: {type: http, uri: "https://sample.example"}}}`,
	"kafka":           `{logs: {path: /var/log/app}, sinks: {sample: {type: kafka, bootstrap_servers: "sample.example:9093", topic: sample}}}`,
	"loki":            `{logs: {path: /var/log/app}, sinks: {sample: {type: loki, endpoint: "https://sample.example"}}}`,
	"splunk_hec_logs": `{logs: {path: /var/log/app}, sinks: {sample: {type: splunk_hec_logs, endpoint: "https://sample.example:8088", default_token: "SECRET[splunk.token]"}}, secrets: {splunk: splunk-token}}`,
	"vector":          `{logs: {path: /var/log/app}, sinks: {sample: {type: vector, address: "sample.example:6000"}}}`,
}

// presetFault contains the problems of one preset in a decision.
type presetFault struct {
	preset   string
	invalid  *desired.Invalid
	findings []vectorconfig.Finding
}

// renderPresets makes a decision for each preset in an environment, with the template set of a name. The name "" stands
// for the template set of the environment.
func renderPresets(ctx context.Context, platform *desired.Platform, set, environment, kubeVersion string) ([]presetFault, error) {
	var faults []presetFault
	for _, name := range slices.Sorted(maps.Keys(presets)) {
		spec := &v1alpha1.SidecarSpec{}
		if err := bounded.Object().DecodeYAML([]byte(presets[name]), spec); err != nil {
			return nil, err
		}
		snapshot := sampleInput(platform, environment, kubeVersion)
		snapshot.Workloads = nil
		snapshot.Sidecar.Spec.Sidecar, snapshot.Sidecar.Spec.TemplateSet = spec, set
		if err := addApplication(ctx, snapshot); err != nil {
			return nil, err
		}
		decided, err := decision.Decide(ctx, snapshot, nil)
		if err != nil {
			return nil, err
		}
		faults = append(faults, presetFault{name, templateFault(decided), decided.Findings})
	}
	return faults, nil
}

// templateFault returns the fault of the templates in a decision, or nil for none. It ignores values that a
// schema rejects, and policy violations, because these are checked without presets.
func templateFault(decided *decision.Decision) *desired.Invalid {
	if invalid := decided.Invalid; invalid != nil && slices.Contains([]string{meta.ReasonInvalidTemplate, meta.ReasonInvalidSidecar}, invalid.Reason) {
		return invalid
	}
	return nil
}

// presetFailure is a fault of templates, with the presets and the environments in which it occurs.
type presetFailure struct {
	desired.Invalid
	presets, environments []string
}

// inEnvironment matches the prefix of messages about a rendering.
var inEnvironment = regexp.MustCompile(`^rendering for environment "[^"]*": `)

// addFailures adds the faults in an environment to the failures in other environments. Equal faults become one
// failure.
func addFailures(failures []*presetFailure, environment string, faults []presetFault) []*presetFailure {
	for _, fault := range faults {
		if fault.invalid == nil {
			continue
		}
		invalid := *fault.invalid
		invalid.Message = inEnvironment.ReplaceAllString(invalid.Message, "")
		i := slices.IndexFunc(failures, func(f *presetFailure) bool { return f.Invalid == invalid })
		if i < 0 {
			i, failures = len(failures), append(failures, &presetFailure{Invalid: invalid})
		}
		failure := failures[i]
		if !slices.Contains(failure.presets, fault.preset) {
			failure.presets = append(failure.presets, fault.preset)
		}
		if !slices.Contains(failure.environments, environment) {
			failure.environments = append(failure.environments, environment)
		}
	}
	return failures
}

// hasAllPresets reports whether the failure occurs with every preset.
func (f *presetFailure) hasAllPresets() bool { return len(f.presets) == len(presets) }

// formatFailure returns the message. It includes the presets and the environments unless the failure occurs in all of
// them.
func (f *presetFailure) formatFailure(environments int) string {
	text := f.Message
	if len(f.environments) < environments {
		text = "environment " + strings.Join(f.environments, ", ") + ": " + text
	}
	if !f.hasAllPresets() {
		slices.Sort(f.presets)
		text = "VectorSidecars with " + strings.Join(f.presets, ", ") + ": " + text
	}
	return text
}

// sharedFindings returns the findings about Vector configuration that occur with every preset. Other findings
// may be caused by the presets themselves.
func sharedFindings(faults []presetFault) []vectorconfig.Finding {
	var shared []vectorconfig.Finding
	for n, fault := range faults {
		if n == 0 {
			shared = slices.Clone(fault.findings)
			continue
		}
		shared = slices.DeleteFunc(shared, func(f vectorconfig.Finding) bool {
			return !slices.ContainsFunc(fault.findings, func(other vectorconfig.Finding) bool {
				return f.Code == other.Code && f.Path == other.Path && f.Message == other.Message
			})
		})
	}
	return shared
}

// lintPresets renders every preset with the values and the template sets in a file, in every environment. If only some
// presets fail, it reports the failure only if a template in the file is the cause, because values need not be valid
// for every VectorSidecar.
func (l *Linter) lintPresets(ctx context.Context, file File, positions *positions, values *desired.InstallationValues, platform *desired.Platform) ([]Finding, error) {
	var findings []Finding
	environments := platform.Environments.Names()
	for _, set := range append([]string{""}, templateSets(positions, platform)...) {
		if set == desired.DefaultTemplateSet {
			continue // The environments use this set unless they name another one.
		}
		var failures []*presetFailure
		for _, environment := range environments {
			faults, err := renderPresets(ctx, platform, set, environment, l.KubeVersion)
			if err != nil {
				return nil, err
			}
			failures = addFailures(failures, environment, faults)
			environmentPath := values.PathInFile("environments", environment)
			for _, vectorFinding := range sharedFindings(faults) {
				findingPath := slices.Concat(environmentPath, []string{"sidecar"}, splitPath(vectorFinding.Path))
				// Only sinks that this file declares for the environment are reported, not the sinks of the presets.
				if strings.HasPrefix(vectorFinding.Path, "sinks.") && positions.hasPath(findingPath[:len(environmentPath)+3]...) {
					findings = append(findings, newVectorFinding(vectorFinding, file.Name, positions.findKey(findingPath...)))
				}
			}
		}
		for _, failure := range failures {
			pos, pathText := findTemplatePosition(positions, set, failure.Message)
			if pathText == "" && !failure.hasAllPresets() {
				continue
			}
			if pathText == "" {
				environmentPath := values.PathInFile("environments", failure.environments[0])
				pos, pathText = positions.findKey(environmentPath...), tree.JoinPath(environmentPath...)
			}
			findings = append(findings, newFinding(failure.Reason, file.Name, failure.formatFailure(len(environments))).withPosition(pos, pathText))
		}
	}
	return findings, nil
}

// templateSets returns the names of the template sets in the values that can be loaded.
func templateSets(positions *positions, platform *desired.Platform) (sets []string) {
	for _, set := range platform.Sets() {
		if set.Err == nil && positions.hasPath("templates", set.Name) {
			sets = append(sets, set.Name)
		}
	}
	return sets
}

// findTemplatePosition returns the position of the template line that a message names, and the path of the
// template in the values. The path is "" if the values do not contain the template.
func findTemplatePosition(positions *positions, set, message string) (pos position, pathText string) {
	if set == "" {
		set = desired.DefaultTemplateSet
	}
	match := inFile.FindStringSubmatch(message)
	if len(match) < 3 {
		return position{}, ""
	}
	line, _ := strconv.Atoi(match[2]) // The expression matches digits.
	return findPositionInSet(positions, set, match[1], line)
}

// findPositionInSet returns the position of a line in a template set's file, and the path of the file in the
// values. The path is "" if the values do not contain the file.
func findPositionInSet(positions *positions, set, file string, line int) (pos position, pathText string) {
	file = withoutChart(file)
	for _, key := range []string{strings.TrimPrefix(file, "templates/"), strings.ReplaceAll(file, "/", "__")} {
		if positions.hasPath("templates", set, key) {
			return position{line: positions.findKey("templates", set, key).line + line}, tree.JoinPath("templates", set, key)
		}
	}
	return position{}, ""
}
