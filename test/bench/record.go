// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// slack is how much worse than its recorded range a ratio may become.
const slack = 1.20

// span is the range of a ratio over the runs that were recorded.
type span struct {
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

// compare holds the ratios against those of earlier runs, or widens their ranges
// if the run is to be recorded. The error names each that became worse.
func (b *bench) compare(s settings) error {
	if s.record == "" {
		return nil
	}
	recorded := map[string]span{}
	text, err := os.ReadFile(s.record)
	if err == nil {
		err = json.Unmarshal(text, &recorded)
	}
	if err != nil && (!s.update || !errors.Is(err, os.ErrNotExist)) {
		return fmt.Errorf("reading the ranges of earlier runs: %w", err)
	}
	if s.update {
		return widen(recorded, b.findings, s.record)
	}
	return worse(recorded, b.findings)
}

func worse(recorded map[string]span, findings []finding) error {
	var errs []error
	for _, f := range findings {
		if f.ratio == 0 {
			continue
		}
		before, known := recorded[f.what]
		switch {
		case !known:
			errs = append(errs, fmt.Errorf("%q has no recorded range: run make bench-record", f.what))
		case f.ratio > before.Most*slack:
			errs = append(errs, fmt.Errorf("%q became worse: %.3g, and at most %.3g until now; find out why, or accept it with make bench-record", f.what, f.ratio, before.Most))
		}
	}
	return errors.Join(errs...)
}

func widen(recorded map[string]span, findings []finding, file string) error {
	for _, f := range findings {
		if f.ratio == 0 {
			continue
		}
		before, known := recorded[f.what]
		if !known {
			before = span{f.ratio, f.ratio}
		}
		recorded[f.what] = span{min(before.Least, f.ratio), max(before.Most, f.ratio)}
	}
	text, err := json.MarshalIndent(recorded, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
