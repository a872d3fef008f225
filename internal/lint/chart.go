// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"bytes"
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
	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// IsChart reports whether a directory contains a sidecar chart, even an invalid one. Such a directory has the
// Chart.yaml of a whole chart, and a template with a PodTemplate.
func IsChart(folder fs.FS) bool {
	if card, err := bounded.Chart().ReadFile(folder, chartCard); err != nil || !render.IsWholeChart(card) {
		return false
	}
	templates, err := fs.Glob(folder, "templates/*.yaml")
	if err != nil {
		return false
	}
	for _, name := range templates {
		if text, err := bounded.Chart().ReadFile(folder, name); err == nil && strings.Contains(string(text), "kind: PodTemplate") {
			return true
		}
	}
	return false
}

// Folder is a directory that contains a sidecar chart, or only the files that differ from the built-in chart.
type Folder struct {
	// Name is the path of the directory.
	Name string
	// Files are the files of the directory. Chart are the files of the whole chart.
	Files, Chart fs.FS
	// BuiltIn is the built-in chart, or nil for none. Unused defines in copies of its files are not reported.
	BuiltIn fs.FS
}

// findFile returns the path of the directory's file that corresponds to a file of the chart. The templates of a
// directory that is not a whole chart are at its root. For a file that only the built-in chart has, it returns the path
// of the directory and false.
func (f *Folder) findFile(file string) (name string, ok bool) {
	file = withoutChart(file)
	for _, name := range []string{file, strings.TrimPrefix(file, "templates/"), strings.ReplaceAll(file, "/", "__")} {
		if _, err := fs.Stat(f.Files, name); err == nil {
			return path.Join(f.Name, name), true
		}
	}
	return f.Name, false
}

// findPosition converts a position in the chart to a file of the directory and a position in that file. It
// returns false if the built-in chart has the same file.
func (f *Folder) findPosition(templatePlace gotemplate.Position) (file string, pos position, ok bool) {
	file, ok = f.findFile(templatePlace.File)
	return file, position{templatePlace.Line, templatePlace.Column}, ok && !f.isBuiltIn(withoutChart(templatePlace.File))
}

// isBuiltIn reports whether the built-in chart has the same file with the same content.
func (f *Folder) isBuiltIn(file string) bool {
	if f.BuiltIn == nil {
		return false
	}
	builtIn, err := bounded.Chart().ReadFile(f.BuiltIn, file)
	if err != nil {
		return false
	}
	text, err := bounded.Chart().ReadFile(f.Chart, file)
	return err == nil && bytes.Equal(text, builtIn)
}

// LintChart loads a sidecar chart, renders it for each of its environments, and returns the findings.
func (l *Linter) LintChart(ctx context.Context, folder *Folder) (*Result, error) {
	result := &Result{Linted: 1}
	chart, err := render.LoadChart(folder.Chart)
	if err != nil {
		result.Findings = sortFindings(folder.locateFindings(notAChart, err.Error()))
		return result, nil
	}
	findings, notes := lintDefines(chart, folder.findPosition)
	platform, environments := desired.NewPlatform(chart, "", map[string]string{}), chart.Environments.Names()
	platform.Policy = l.Platform.Policy
	var failures []*presetFailure
	for _, environment := range environments {
		decided, err := decision.Decide(ctx, sampleInput(platform, environment, l.KubeVersion), nil)
		if err != nil {
			return nil, err
		}
		if decided.Invalid != nil {
			findings = append(findings, folder.locateFindings(decided.Invalid.Reason, decided.Invalid.Message)...)
			continue // The presets would report the same fault.
		}
		faults, err := renderPresets(ctx, platform, "", environment, l.KubeVersion)
		if err != nil {
			return nil, err
		}
		failures = addFailures(failures, environment, faults)
	}
	for _, failure := range failures {
		findings = append(findings, folder.locateFindings(failure.Reason, failure.formatFailure(len(environments)))...)
	}
	result.Findings, result.Notes = sortFindings(findings), notes
	return result, nil
}

// sampleInput returns a minimal Input for rendering the charts of a platform.
func sampleInput(platform *desired.Platform, environment, kubeVersion string) *decision.Input {
	object := typicalWorkload(nil)
	object.SetNamespace("sample")
	empty := source.Reader{Reader: source.NewObjectOverlay(nil)}
	return &decision.Input{
		Inputs: desired.Inputs{
			Sidecar: &v1alpha1.VectorSidecar{
				ObjectMeta: metav1.ObjectMeta{Namespace: "sample", Name: "sample"},
				Spec:       v1alpha1.VectorSidecarSpec{MatchAll: true},
			},
			ConfigMaps: empty, Accounts: empty,
			Settings: desired.Settings{DefaultEnvironment: environment, KubeVersion: kubeVersion}, Platform: platform,
		},
		Workloads: []*workloadcache.Record{workloadcache.NewRecord(object)},
	}
}

// inFile matches the first file name and line in a message.
var inFile = regexp.MustCompile(`([\w./-]+\.(?:yaml|tpl|json|txt)):(\d+)(?::(\d+))?`)

// locateFindings returns one finding for each line of a message. The finding has the position that the line
// names.
func (f *Folder) locateFindings(code, message string) []Finding {
	var findings []Finding
	for line := range strings.SplitSeq(message, "\n") {
		finding := newFinding(code, f.Name, line)
		if match := inFile.FindStringSubmatch(line); match != nil {
			if code == notAChart {
				finding = newFinding(codeForFile(match[1]), f.Name, line)
			}
			if file, ok := f.findFile(match[1]); ok {
				finding.File = file
				finding.Line, _ = strconv.Atoi(match[2])
				finding.Column, _ = strconv.Atoi(match[3])
			}
		}
		findings = append(findings, finding)
	}
	return findings
}

// codeForFile returns the code for a fault in a file of a chart.
func codeForFile(file string) string {
	if strings.Contains(file, "templates/") {
		return meta.ReasonInvalidTemplate
	}
	return meta.ReasonInvalidValues
}

// withoutChart removes the name of the chart from a template's name in Helm.
func withoutChart(file string) string {
	if i := strings.Index(file, "templates/"); i > 0 {
		return file[i:]
	}
	return file
}
