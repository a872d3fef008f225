// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

// settings are what the command line says.
type settings struct {
	change   func(*sizes)
	size     string
	only     *regexp.Regexp
	folder   string
	profiles bool
	record   string
	update   bool
}

// scenario is one thing to measure. It adds to the findings and the tables.
type scenario struct {
	name string
	run  func(context.Context, *bench) error
}

// suite is the scenarios that share a control plane.
type suite struct {
	options   controlplane.Options
	scenarios []scenario
}

// measure runs what the settings ask for, reports, and compares.
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
	b.profiles = s.profiles
	ran := 0
	for _, suite := range suites(sizes) {
		var chosen []scenario
		for _, one := range suite.scenarios {
			if s.only.MatchString(one.name) {
				chosen = append(chosen, one)
			}
		}
		if ran += len(chosen); len(chosen) == 0 {
			continue
		}
		if err := b.on(ctx, suite.options, chosen); err != nil {
			b.report()
			return err
		}
	}
	if ran == 0 {
		return errors.New("-only matches no scenario")
	}
	b.report()
	return b.compare(s)
}
