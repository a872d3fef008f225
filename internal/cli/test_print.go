// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// print prints the results of scenarios as text, as JUnit XML or as JSON. The error is a *foundError if a test
// failed.
func (o *testOptions) print(verdicts []testResult) error {
	failed := 0
	var cases []junitCase
	var unable, invalid []string
	for _, result := range verdicts {
		for _, reason := range result.Unable {
			unable = append(unable, result.Name+": "+reason)
		}
		single := junitCase{Name: result.Name, Class: "scenario"}
		switch {
		case result.Error != "":
			invalid = append(invalid, result.Error)
			single.Error = &junitFailure{Message: result.Story, Text: result.Error}
		case !result.Passed:
			failed++
			single.Failure = &junitFailure{Message: result.Story, Text: result.Difference + strings.Join(result.Vector, "\n")}
		}
		cases = append(cases, single)
	}
	var err error
	switch o.output.name {
	case "json":
		err = o.output.print(o.inputs.app.Out, verdicts)
	case "junit":
		err = printJUnit(o.inputs.app.Out, "kubectl vectorsidecar test", cases)
	default:
		err = o.printText(verdicts)
		o.noteUnchecked(verdicts)
		summary := fmt.Sprintf("%s, %d failed", countNoun(len(verdicts), "test"), failed)
		if len(invalid) > 0 {
			summary += fmt.Sprintf(", %d not run", len(invalid))
		}
		o.inputs.app.printNote("%s", summary)
	}
	switch {
	case err != nil:
		return err
	case failed > 0:
		return &foundError{}
	case len(invalid) > 0:
		return errors.New(strings.Join(invalid, "; "))
	case len(unable) > 0:
		return notValidatedError(unable)
	}
	return nil
}

// noteUnchecked prints each part that Vector did not check, with the number of tests that contain it.
func (o *testOptions) noteUnchecked(verdicts []testResult) {
	tests := map[string]int{}
	for _, result := range verdicts {
		for _, text := range result.Unchecked {
			tests[text]++
		}
	}
	for _, text := range slices.Sorted(maps.Keys(tests)) {
		o.inputs.app.printNote("parts that Vector did not check in %s: %s", countNoun(tests[text], "test"), text)
	}
}

// printText prints the results of scenarios with colors, and their differences.
func (o *testOptions) printText(verdicts []testResult) error {
	paint := painterFor(o.inputs.app.Out)
	var errs []error
	for _, result := range verdicts {
		color, word := green, "ok  "
		switch {
		case result.Error != "":
			color, word = red, "ERROR"
		case !result.Passed:
			color, word = red, "FAIL"
		}
		errs = append(errs, paint.paint(color, word), humanize.Fprintf(o.inputs.app.Out, " %s\n", result.Name))
		if !result.Passed && result.Story != "" {
			errs = append(errs, humanize.Fprintf(o.inputs.app.Out, "     %s\n", result.Story))
		}
		if result.Error != "" {
			errs = append(errs, humanize.Fprintf(o.inputs.app.Out, "     %s\n", result.Error))
		}
		errs = append(errs, paint.printDifference(result.Difference))
		for _, text := range result.Vector {
			errs = append(errs, humanize.Fprintf(o.inputs.app.Out, "     %s\n", text))
		}
	}
	return errors.Join(errs...)
}
