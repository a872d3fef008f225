// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
)

// slack is the factor by which a ratio may exceed its recorded range.
const slack = 1.20

// span is the range of a ratio in the recorded runs.
type span struct {
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

// ranges are the ranges of all ratios, by the name of the finding.
type ranges map[string]span

// readRanges reads the recorded ranges. If mayBeNew is true, the file may not exist.
func readRanges(file string, mayBeNew bool) (ranges, error) {
	recorded := ranges{}
	text, err := os.ReadFile(file)
	if mayBeNew && errors.Is(err, os.ErrNotExist) {
		return recorded, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &recorded)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the ranges of earlier runs: %w", err)
	}
	return recorded, nil
}

// isWorse reports whether a ratio exceeds its range. A ratio without a range does not.
func (r ranges) isWorse(f found) bool {
	before, known := r[f.what]
	return known && f.ratio > before.Most*slack
}

// suspects returns the scenarios with a ratio that exceeds its range.
func (r ranges) suspects(findings []found) []string {
	var names []string
	for _, f := range findings {
		if r.isWorse(f) && !slices.Contains(names, f.scenario) {
			names = append(names, f.scenario)
		}
	}
	return names
}

// worse names each ratio that was beyond its range as often as it was measured, and
// each that has none.
func (r ranges) worse(findings []found) error {
	best := map[string]found{}
	for _, f := range findings {
		if before, seen := best[f.what]; f.ratio > 0 && (!seen || f.ratio < before.ratio) {
			best[f.what] = f
		}
	}
	var errs []error
	for _, f := range findings {
		if best[f.what].ratio != f.ratio || f.ratio == 0 {
			continue
		}
		before, known := r[f.what]
		switch {
		case !known:
			errs = append(errs, fmt.Errorf("%q has no recorded range: run make bench-record", f.what))
		case r.isWorse(f):
			errs = append(errs, fmt.Errorf("%q became worse: %.3g, and at most %.3g until now; find out why, or accept it with make bench-record", f.what, f.ratio, before.Most))
		}
	}
	return errors.Join(errs...)
}

// widen adds the findings to the ranges, and writes these to a file.
func (r ranges) widen(findings []found, file string) error {
	for _, f := range findings {
		if f.ratio == 0 {
			continue
		}
		before, known := r[f.what]
		if !known {
			before = span{f.ratio, f.ratio}
		}
		r[f.what] = span{min(before.Least, f.ratio), max(before.Most, f.ratio)}
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
