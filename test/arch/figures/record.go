// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	recordFile    = "test/arch/figures/recorded.txt"
	updateCommand = "go run ./test/arch/figures -update"
)

// ratchet is a line of the record: a figure that may only fall, and the number that it shall reach.
type ratchet struct {
	name           string
	recorded, goal float64
}

func readRecord(repository string) ([]ratchet, error) {
	text, err := os.ReadFile(filepath.Join(repository, recordFile))
	if err != nil {
		return nil, err
	}
	var ratchets []ratchet
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 0 && !strings.HasPrefix(line, "#") {
			entry, err := parseRatchet(fields)
			if err != nil {
				return nil, fmt.Errorf("reading %s: %q: %w", recordFile, strings.TrimSpace(line), err)
			}
			ratchets = append(ratchets, entry)
		}
	}
	return ratchets, nil
}

func parseRatchet(fields []string) (ratchet, error) {
	if len(fields) != 3 {
		return ratchet{}, errors.New("a line has a name, the recorded number and the goal")
	}
	recorded, err := strconv.ParseFloat(fields[1], 64)
	if err != nil {
		return ratchet{}, err
	}
	goal, err := strconv.ParseFloat(fields[2], 64)
	return ratchet{name: fields[0], recorded: recorded, goal: goal}, err
}

// tolerance is the difference from the record that is not reported: 1 % of it, so that a commit with another purpose need
// not change the record. Counts below 100 have none. A rate can differ by 0.02, because its total changes, too.
func (r *ratchet) tolerance() float64 {
	percent := r.recorded / 100
	if strings.HasSuffix(r.name, "_percent") || strings.Contains(r.name, "_per_") {
		return max(percent, 0.02)
	}
	return percent
}

// check returns an error if a figure is above its record, or so far below that the record must be lowered.
func (r *ratchet) check(measured figure) error {
	value := measured.rounded()
	switch {
	case value > r.recorded+r.tolerance():
		return fmt.Errorf("%s rose to %s: the record is %v and the goal %v; change the new code, the record only falls", r.name, measured.text(), r.recorded, r.goal)
	case value < r.recorded-r.tolerance():
		return fmt.Errorf("%s fell to %s: the record is %v; lower it by: %s", r.name, measured.text(), r.recorded, updateCommand)
	}
	return nil
}

// lowerRecord writes the figures that fell into the record, and leaves all others as they are. It returns an error for
// those that rose.
func lowerRecord(repository string, figures []figure) error {
	ratchets, err := readRecord(repository)
	if err != nil {
		return err
	}
	path := filepath.Join(repository, recordFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			lines = append(lines, line)
		}
	}
	var risen []error
	for _, entry := range ratchets {
		i := slices.IndexFunc(figures, func(measured figure) bool { return measured.name == entry.name })
		if i < 0 {
			return fmt.Errorf("lowering the record: unknown figure %q", entry.name)
		}
		if entry.recorded > figures[i].rounded() {
			entry.recorded = figures[i].rounded()
		} else {
			risen = append(risen, entry.check(figures[i]))
		}
		lines = append(lines, fmt.Sprintf("%-40s %8s %6v\n", entry.name, strconv.FormatFloat(entry.recorded, 'f', figures[i].digits, 64), entry.goal))
	}
	return errors.Join(append(risen, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644))...)
}
