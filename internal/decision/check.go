// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/store"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorconfig"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// check checks the configuration that a rendered sidecar reads. There is always a
// report: what the configuration takes in is read even when nothing is checked.
func (b *batch) check(ctx context.Context, overlay *render.Overlay, of *wanted) {
	spec, container := &overlay.Template.Spec, overlay.Container(of.container)
	options := vectorconfig.Options{Image: value(b.request.Values, "sidecar", "image")}
	if container != nil {
		options = vectorconfig.Options{Image: container.Image, Container: vectorContainer(container, spec)}
	}
	if b.config.object != nil && container != nil {
		options.Beside = slices.Sorted(maps.Keys(mountedFiles(container, spec, b.config.object)))
	}
	files := filesOf(b.request.Values, b.config, of.companions, container, spec)
	of.report = b.report(ctx, files, options)
	of.isReadUnseen = readsUnseen(b.config, of.companions, container, spec)
	of.validation = validationOf(&b.request, files, container, spec)
}

// checkAlone checks a configuration of the user's that no workload runs yet.
func (b *batch) checkAlone(ctx context.Context) *vectorconfig.Report {
	values := b.request.Values
	files := filesOf(values, b.config, nil, nil, nil)
	if inline := value(values, "sidecar", "config", "inline"); len(files) == 0 && inline != "" {
		files = []vectorconfig.File{{Name: inlineName(inline), Source: inlineSource(values), Text: inline}}
	}
	if len(files) == 0 {
		return &vectorconfig.Report{}
	}
	return b.report(ctx, files, vectorconfig.Options{Image: value(values, "sidecar", "image")})
}

// report checks files, the same ones only once. What it returns after the context has
// ended is of no use, and is forgotten with all that comes of it.
func (b *batch) report(ctx context.Context, files []vectorconfig.File, options vectorconfig.Options) *vectorconfig.Report {
	if len(files) == 0 {
		return &vectorconfig.Report{Intake: vectorconfig.Intake{Other: true}} // It is not ours to read.
	}
	if b.memo == nil {
		return checked(ctx, files, options)
	}
	// Texts, numbers and maps of them always marshal, and in one order.
	text, _ := json.Marshal([]any{files, options})
	sum := sha256.Sum256(text)
	if found := remembered(b.memo, b.memo.reports, sum[:]); found != nil {
		return found
	}
	fresh := checked(ctx, files, options)
	if ctx.Err() == nil {
		remember(b.memo, b.memo.reports, sum[:], fresh, store.Footprint(fresh))
	}
	return fresh
}

func checked(ctx context.Context, files []vectorconfig.File, options vectorconfig.Options) *vectorconfig.Report {
	report, err := vectorconfig.Check(ctx, files, options)
	if err != nil {
		return &vectorconfig.Report{}
	}
	return report
}

// refused says why a configuration must not reach a pod, nil if it may.
func refused(report *vectorconfig.Report, values environment.Values) *Invalid {
	if mode := checkOf(values); mode == v1alpha1.CheckWarn || mode == v1alpha1.CheckOff {
		return nil
	}
	errors := vectorconfig.Errors(report.Findings)
	if len(errors) == 0 {
		return nil
	}
	return &Invalid{meta.ReasonInvalidConfig, strings.Join(texts(errors), "\n")}
}

// checkOf is what an error in the configuration does.
func checkOf(values environment.Values) v1alpha1.ConfigCheck {
	return v1alpha1.ConfigCheck(value(values, "sidecar", "config", "check"))
}

func texts(findings []vectorconfig.Finding) []string {
	var all []string
	for _, finding := range findings {
		all = append(all, finding.String())
	}
	return all
}

// note adds the findings of a report to the decision, each once.
func (d *injection) note(report *vectorconfig.Report, of *variant) {
	if report == nil || of.checksOff {
		return
	}
	for _, finding := range report.Findings {
		if !slices.Contains(d.Findings, finding) {
			d.Findings = append(d.Findings, finding)
		}
	}
}

// doubts says what is doubtful about the sidecar in one workload, "" if nothing.
func (v *variant) doubts(of *wanted, view *workload.View) string {
	var all []string
	if idle := cmp.Or(of.desired.Warning(), of.collects.idleness(view)); idle != "" {
		all = append(all, idle)
	}
	if of.shortened != "" {
		all = append(all, of.shortened)
	}
	if v.checksOff {
		return strings.Join(all, "; ")
	}
	for _, finding := range of.report.In(podOf(view, of.report)) {
		all = append(all, fmt.Sprintf("has a doubtful configuration: %s", finding))
	}
	return strings.Join(all, "; ")
}
