// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/evaluate"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// IsChart tells whether a folder holds a sidecar chart, or what is meant to be one:
// a card, and a template of a PodTemplate.
func IsChart(folder fs.FS) bool {
	if _, err := fs.Stat(folder, "Chart.yaml"); err != nil {
		return false
	}
	templates, err := fs.Glob(folder, "templates/*.yaml")
	if err != nil {
		return false
	}
	for _, name := range templates {
		if text, err := bounded.Chart().File(folder, name); err == nil && strings.Contains(string(text), "kind: PodTemplate") {
			return true
		}
	}
	return false
}

// Chart loads a sidecar chart and renders it for each of its environments.
func Chart(ctx context.Context, name string, folder fs.FS, kubeVersion string) ([]Finding, error) {
	chart, err := render.LoadChart(folder)
	if err != nil {
		return sorted(located(name, notAChart, err.Error())), nil
	}
	var findings []Finding
	platform, environments := desired.PlatformOf(chart, "", map[string]string{}), chart.Environments.Names()
	var failures []*presetFailure
	for _, environment := range environments {
		decided, err := evaluate.Decide(ctx, sample(platform, environment, kubeVersion), nil)
		if err != nil {
			return nil, err
		}
		if decided.Invalid != nil {
			findings = append(findings, located(name, decided.Invalid.Reason, decided.Invalid.Message)...)
			continue // The presets have the same fault.
		}
		faults, err := renderPresets(ctx, platform, "", environment, kubeVersion)
		if err != nil {
			return nil, err
		}
		failures = addFailures(failures, environment, faults)
	}
	for _, failure := range failures {
		findings = append(findings, located(name, failure.Reason, failure.text(len(environments)))...)
	}
	return sorted(findings), nil
}

// sample is the smallest world that the charts of a platform can be rendered in.
func sample(platform *desired.Platform, environment, kubeVersion string) *evaluate.Snapshot {
	one := typical(nil)
	one.SetNamespace("sample")
	return &evaluate.Snapshot{Observed: decision.Observed{
		Inputs: desired.Inputs{
			Sidecar: &v1alpha1.VectorSidecar{
				ObjectMeta: metav1.ObjectMeta{Namespace: "sample", Name: "sample"},
				Spec:       v1alpha1.VectorSidecarSpec{MatchAll: true},
			},
			HasAllConfigMaps: true, // There are none.
			Platform:         platform, DefaultEnvironment: environment, KubeVersion: kubeVersion,
		},
		Workloads: []*workloadcache.Record{workloadcache.RecordOf(one)},
	}}
}

// inFile is the first place that a message names.
var inFile = regexp.MustCompile(`([\w./-]+\.(?:yaml|tpl|json|txt)):(\d+)(?::(\d+))?`)

// located makes findings of a message, a line each, where they say what they are
// about.
func located(folder, code, message string) []Finding {
	var findings []Finding
	for line := range strings.SplitSeq(message, "\n") {
		finding := newFinding(code, folder, line)
		if match := inFile.FindStringSubmatch(line); match != nil {
			if code == notAChart {
				finding = newFinding(codeOf(match[1]), folder, line)
			}
			finding.File = path.Join(folder, withoutChart(match[1]))
			finding.Line, _ = strconv.Atoi(match[2])
			finding.Column, _ = strconv.Atoi(match[3])
		}
		findings = append(findings, finding)
	}
	return findings
}

// codeOf is the reason that a fault in a file of a chart has.
func codeOf(file string) string {
	if strings.Contains(file, "templates/") {
		return meta.ReasonInvalidTemplate
	}
	return meta.ReasonInvalidValues
}

// withoutChart takes the chart's name off the name that Helm gives a template.
func withoutChart(file string) string {
	if i := strings.Index(file, "templates/"); i > 0 {
		return file[i:]
	}
	return file
}
