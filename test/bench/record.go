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

// slack is how much worse than its recorded range a ratio may become.
const slack = 1.20

// span is the range of a ratio over the runs that were recorded.
type span struct {
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

// ranges are those of all ratios, by what they are of.
type ranges map[string]span

// readRanges reads what was recorded; nothing may have been if mayBeNew.
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

// isWorse tells whether a ratio is beyond its range. What has none is not.
func (r ranges) isWorse(f found) bool {
	before, known := r[f.what]
	return known && f.ratio > before.Most*slack
}

// suspects are the scenarios that found a ratio beyond its range.
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

// widen takes the findings into the ranges, and writes them to a file.
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
