// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

// settings are the flags of the command line.
type settings struct {
	change   func(*sizes)
	size     string
	only     *regexp.Regexp
	folder   string
	profiles bool
	rollout  string
	record   string
	update   bool
}

// scenario is one measurement. It adds to the findings and the tables.
type scenario struct {
	name string
	run  func(context.Context, *bench) error
}

// suite has the scenarios that share a control plane.
type suite struct {
	options   controlplane.Options
	scenarios []scenario
}

// measure runs the selected scenarios, reports, and compares with earlier runs.
func measure(ctx context.Context, s settings) error {
	sizes, known := map[string]sizes{"short": short, "full": full}[s.size]
	if !known {
		return fmt.Errorf("-size is %q: it must be short or full", s.size)
	}
	s.change(&sizes)
	b, err := newBench(ctx, os.Stdout, s.folder)
	if err != nil {
		return err
	}
	b.profiles, b.rollout = s.profiles, s.rollout
	err = b.run(ctx, sizes, s.only.MatchString)
	b.report()
	if err != nil || s.record == "" {
		return err
	}
	recorded, err := readRanges(s.record, s.update)
	if err != nil {
		return err
	}
	if s.update {
		return recorded.widen(b.findings, s.record)
	}
	// Other load on the machine may have affected only one contender. In a second run, that is unlikely.
	if again := recorded.suspects(b.findings); len(again) > 0 {
		b.tell("worse than ever: %s; once more …", strings.Join(again, ", "))
		if err := b.run(ctx, sizes, func(name string) bool { return slices.Contains(again, name) }); err != nil {
			return err
		}
	}
	return recorded.worse(b.findings)
}

// run runs the scenarios that are selected by name.
func (b *bench) run(ctx context.Context, sizes sizes, choose func(string) bool) error {
	ran := 0
	for _, suite := range suites(sizes) {
		var chosen []scenario
		for _, one := range suite.scenarios {
			if choose(one.name) {
				chosen = append(chosen, one)
			}
		}
		if ran += len(chosen); len(chosen) == 0 {
			continue
		}
		if err := b.on(ctx, suite.options, chosen); err != nil {
			return err
		}
	}
	if ran == 0 {
		return errors.New("-only matches no scenario")
	}
	return nil
}
