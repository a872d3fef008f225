// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package draingate delays the shutdown of Vector until Vector has finished with the log files of
// its `file` sources. It compares the files with the checkpoints that Vector writes. It also
// removes the socket that a killed Vector left. The package writes nothing and imports only the
// standard library, because it runs next to sidecars.
package draingate

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"
)

// Gate delays the shutdown of Vector.
type Gate struct {
	// Sources are Vector's `file` sources, by name; DataDir is Vector's data_dir.
	Sources map[string]Source
	DataDir string
	// Broken explains why the gate cannot check any file; nil if it can. If it is set, Wait lasts
	// for the bound.
	Broken error
	// Bound is the longest duration of Wait.
	Bound time.Duration
	// Started is the time when the gate started, which is about when Vector started.
	Started time.Time
	Log     *slog.Logger
}

// interval is the time between two reads of the checkpoints. Vector writes the checkpoints once a second.
const interval = 200 * time.Millisecond

// settled is the number of consecutive checks that must find no unfinished file. One check is not enough, because a
// file may be renamed during the search.
const settled = 2

// listed is the maximum number of files that a message names.
const listed = 5

// Wait returns when Vector has finished with all files, when the Bound is over, or when the context is done. It logs
// the first two cases.
func (g *Gate) Wait(ctx context.Context) {
	start := time.Now()
	bound := time.After(g.Bound)
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	var remainder Remainder
	for clean := 0; ; {
		remainder = g.Remainder()
		if clean++; !remainder.isEmpty() {
			clean = 0
		}
		if clean == settled {
			g.Log.Info("finished reading all files", "seconds", secondsSince(start))
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-bound:
			g.Log.Warn("stopped waiting for unfinished files", "seconds", secondsSince(start),
				"files", joinFirst(remainder.Files), "unchecked", joinFirst(errorTexts(remainder.Unchecked)))
			return
		case <-ticks.C:
		}
	}
}

// secondsSince returns the seconds since a time, with three decimals, for the log.
func secondsSince(start time.Time) float64 {
	return time.Since(start).Round(time.Millisecond).Seconds()
}

// errorTexts returns the texts of errors.
func errorTexts(failures []error) []string {
	messages := make([]string, 0, len(failures))
	for _, err := range failures {
		messages = append(messages, err.Error())
	}
	return messages
}

// joinFirst joins the first texts of a list.
func joinFirst(items []string) string {
	if len(items) > listed {
		items = append(items[:listed:listed], "…")
	}
	return strings.Join(items, "; ")
}

// Remainder lists the files that Vector has not finished with.
type Remainder struct {
	// Files lists the files with lines after their checkpoints.
	Files []string
	// Unchecked explains which files and sources could not be checked, and why.
	Unchecked []error
}

// isEmpty reports whether Vector has finished with all files.
func (r *Remainder) isEmpty() bool { return len(r.Files)+len(r.Unchecked) == 0 }

// Remainder compares the files with their checkpoints, and returns the files that Vector has not finished with.
func (g *Gate) Remainder() Remainder {
	if g.Broken != nil {
		return Remainder{Unchecked: []error{g.Broken}}
	}
	var remainder Remainder
	for name, source := range g.Sources {
		files, err := source.listFiles()
		remainder.Unchecked = append(remainder.Unchecked, errorList(err)...)
		sourceRemainder := source.findRemainder(files, func() (checkpoints, error) { return readCheckpoints(g.DataDir, name) }, g.Started)
		remainder.Files = append(remainder.Files, sourceRemainder.Files...)
		remainder.Unchecked = append(remainder.Unchecked, sourceRemainder.Unchecked...)
	}
	return remainder
}

// errorList returns the errors that were joined into one error.
func errorList(err error) []error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()
	}
	if err != nil {
		return []error{err}
	}
	return nil
}
