// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// VectorReader parses and checks Vector configuration, and limits the size of its files.
var VectorReader = newVectorReader()

func newVectorReader() *vectorconfig.Reader {
	limits := bounded.Configuration()
	return &vectorconfig.Reader{YAML: limits.ReadYAML, JSON: limits.ReadJSON, TOML: limits.ReadTOML, MaxBytes: limits.Bytes, Nearest: humanize.Nearest}
}

// checkCached returns the report of a configuration check, from the cache if possible, and adds it to the shared
// values. It never returns nil. If the context has ended, callers must not use the report.
func (c *Cache) checkCached(ctx context.Context, files []vectorconfig.File, options vectorconfig.Options, shared *sharedValues) *vectorconfig.Report {
	if len(files) == 0 && options.Container == nil {
		return &vectorconfig.Report{Intake: vectorconfig.Intake{HasOtherSources: true}} // The operator cannot read the configuration, so any source is possible.
	}
	if c == nil {
		return runCheck(ctx, files, options)
	}
	// Strings, numbers and maps of them always marshal, with sorted keys.
	text, _ := json.Marshal([]any{files, options})
	sum := sha256.Sum256(text)
	if cached := getCached[*vectorconfig.Report](c, sum[:]); cached != nil {
		shared.add(string(sum[:]), cached, 0)
		return cached
	}
	fresh := runCheck(ctx, files, options)
	if ctx.Err() == nil {
		bytes := bounded.Footprint(fresh)
		c.put(string(sum[:]), fresh, bytes)
		shared.add(string(sum[:]), fresh, bytes)
	}
	return fresh
}

// runCheck checks the files of a configuration. It returns an empty report if the context has ended.
func runCheck(ctx context.Context, files []vectorconfig.File, options vectorconfig.Options) *vectorconfig.Report {
	report, err := VectorReader.Check(ctx, files, options)
	if err != nil {
		return &vectorconfig.Report{}
	}
	return report
}

// setReport checks the configuration that a rendered sidecar reads, and sets the report of the check on rendered. It
// also parses the configuration if checks are off, because other decisions depend on the parsed configuration.
func (r *renderer) setReport(ctx context.Context, overlay *workload.Overlay, rendered *Rendered) {
	spec, container := &overlay.Template.Spec, overlay.Container(rendered.container)
	options := vectorconfig.Options{Image: tree.Text(r.request.Values.Tree, "sidecar", "image")}
	if container != nil {
		options = vectorconfig.Options{Image: container.Image, Container: vectorContainer(container, spec)}
	}
	if container != nil {
		options.Container.IPFamily = r.request.IPFamily()
	}
	if r.config.object != nil && container != nil {
		options.OtherFiles = slices.Sorted(maps.Keys(mountedFiles(container, spec, r.config.object)))
	}
	reading := &sidecarFiles{values: r.request.Values, config: r.config, companions: rendered.Companions}
	if container != nil {
		reading.container, reading.spec, reading.line = container, spec, options.Container.CommandLine(container.Image)
		options.Container.Absent, options.IsPartial = reading.missingSources()
	}
	files := reading.files()
	configMaps := r.config.appendTo(rendered.Companions)
	rendered.Report, rendered.forbidden = r.checkFiles(ctx, files, options, &rendered.shared, func(rules *vectorconfig.Policy) []string {
		return findBypasses(rules, reading, files, configMaps)
	})
	rendered.readsUnknown = reading.readsUnknownFiles()
	if container != nil && len(files) > 0 && (r.validatesAlways || validatesInJob(r.request.Values)) {
		rendered.Validation = newValidation(&r.request, files, rendered.Report.DataDir, container, spec)
	}
}

// checkAlone checks the user's configuration before any workload runs it. It returns the reason why the configuration
// must not reach a pod, or nil if it may.
func (r *renderer) checkAlone(ctx context.Context) (*vectorconfig.Report, *Invalid) {
	values := r.request.Values
	files := (&sidecarFiles{values: values, config: r.config}).files()
	if inline := tree.Text(values.Tree, "sidecar", "config", "inline"); len(files) == 0 && inline != "" {
		files = []vectorconfig.File{{Name: inlineName(inline), Source: inlineSource(values), Text: inline}}
	}
	if len(files) == 0 {
		return &vectorconfig.Report{}, nil
	}
	options := vectorconfig.Options{Image: tree.Text(values.Tree, "sidecar", "image")}
	report, forbidden := r.checkFiles(ctx, files, options, &sharedValues{}, func(*vectorconfig.Policy) []string { return nil })
	return report, validateReport(report, forbidden, values)
}

// checkFiles checks the files of a configuration against Vector's rules and the policy. The error lists the content
// that the policy rejects, also if sidecar.config.check is Off. bypasses returns the ways in which the container can
// bypass the policy.
func (r *renderer) checkFiles(ctx context.Context, files []vectorconfig.File, options vectorconfig.Options, shared *sharedValues, bypasses func(*vectorconfig.Policy) []string) (report *vectorconfig.Report, forbidden error) {
	forbidden = r.policy.CheckEach(func(rules *policy.Policy) error {
		options.Policy = rules.Vector
		fileReport := r.cache.checkCached(ctx, files, options, shared)
		if report == nil {
			report = fileReport // The first policy is the current one.
		}
		if violations := slices.Concat(bypasses(&rules.Vector), findingTexts(vectorconfig.Forbidden(fileReport.Findings))); len(violations) > 0 {
			return fmt.Errorf("Vector configuration rejected by the platform's policy: %s", strings.Join(violations, "\n")) //nolint:staticcheck // Vector is a name.
		}
		return nil
	})
	return report, forbidden
}

// validateReport returns the reason why the checked configuration must not reach a pod, or nil if it may. policyErr is
// the error of checkFiles.
func validateReport(report *vectorconfig.Report, policyErr error, values environment.Values) *Invalid {
	if policyErr != nil {
		return &Invalid{meta.ReasonPolicyViolation, policyErr.Error()}
	}
	if mode := checkMode(values); mode == v1alpha1.CheckWarn || mode == v1alpha1.CheckOff {
		return nil
	}
	errors := vectorconfig.Errors(report.Findings)
	if len(errors) == 0 {
		return nil
	}
	return &Invalid{meta.ReasonInvalidConfig, strings.Join(findingTexts(errors), "\n")}
}

// checkMode returns the value of sidecar.config.check, which determines whether errors in the configuration block the
// sidecar.
func checkMode(values environment.Values) v1alpha1.ConfigCheck {
	return v1alpha1.ConfigCheck(tree.Text(values.Tree, "sidecar", "config", "check"))
}

// findingTexts returns the text of each finding.
func findingTexts(findings []vectorconfig.Finding) []string {
	var lines []string
	for _, finding := range findings {
		lines = append(lines, finding.String())
	}
	return lines
}
