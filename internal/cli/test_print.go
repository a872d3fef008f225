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

func (o *testOptions) print(verdicts []verdict) error {
	failed := 0
	var cases []junitCase
	var unable, invalid []string
	for _, one := range verdicts {
		for _, why := range one.Unable {
			unable = append(unable, one.Name+": "+why)
		}
		single := junitCase{Name: one.Name, Class: "scenario"}
		switch {
		case one.Error != "":
			invalid = append(invalid, one.Error)
			single.Error = &junitFailure{Message: one.Story, Text: one.Error}
		case !one.Passed:
			failed++
			single.Failure = &junitFailure{Message: one.Story, Text: one.Difference + strings.Join(one.Vector, "\n")}
		}
		cases = append(cases, single)
	}
	var err error
	switch o.output.name {
	case "json":
		err = o.output.print(o.app.Out, verdicts)
	case "junit":
		err = printJUnit(o.app.Out, "kubectl vectorsidecar test", cases)
	default:
		err = o.printText(verdicts)
		o.noteUnseen(verdicts)
		summary := fmt.Sprintf("%s, %d failed", count(len(verdicts), "test"), failed)
		if len(invalid) > 0 {
			summary += fmt.Sprintf(", %d not run", len(invalid))
		}
		o.app.note("%s", summary)
	}
	switch {
	case err != nil:
		return err
	case failed > 0:
		return &foundError{}
	case len(invalid) > 0:
		return errors.New(strings.Join(invalid, "; "))
	case len(unable) > 0:
		return unableError(unable)
	}
	return nil
}

// noteUnseen prints the parts that Vector did not check, and the number of tests of each.
func (o *testOptions) noteUnseen(verdicts []verdict) {
	tests := map[string]int{}
	for _, one := range verdicts {
		for _, what := range one.Unseen {
			tests[what]++
		}
	}
	for _, what := range slices.Sorted(maps.Keys(tests)) {
		o.app.note("not judged in %s: %s", count(tests[what], "test"), what)
	}
}

func (o *testOptions) printText(verdicts []verdict) error {
	paint := painterFor(o.app.Out)
	var errs []error
	for _, one := range verdicts {
		colour, word := green, "ok  "
		switch {
		case one.Error != "":
			colour, word = red, "ERROR"
		case !one.Passed:
			colour, word = red, "FAIL"
		}
		errs = append(errs, paint.paint(colour, word), humanize.Fprintf(o.app.Out, " %s\n", one.Name))
		if !one.Passed && one.Story != "" {
			errs = append(errs, humanize.Fprintf(o.app.Out, "     %s\n", one.Story))
		}
		if one.Error != "" {
			errs = append(errs, humanize.Fprintf(o.app.Out, "     %s\n", one.Error))
		}
		errs = append(errs, paint.difference(one.Difference))
		for _, text := range one.Vector {
			errs = append(errs, humanize.Fprintf(o.app.Out, "     %s\n", text))
		}
	}
	return errors.Join(errs...)
}
