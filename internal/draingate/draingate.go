// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package draingate tells when Vector has finished with the log files of its `file` sources, by
// the checkpoints that Vector writes, and waits for it; and it removes the socket that a Vector
// left which was killed. It reads what Vector reads, writes nothing, and imports the standard
// library alone: it runs beside sidecars.
package draingate

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"
)

// Gate holds the end of Vector back.
type Gate struct {
	// Sources are Vector's `file` sources, by name; DataDir is Vector's data_dir.
	Sources map[string]Source
	DataDir string
	// Broken is why nothing can be told at all, nil for nothing: then Wait lasts for the bound.
	Broken error
	// Bound is the longest that Wait lasts.
	Bound time.Duration
	// Started is when the gate was started, about when Vector was.
	Started time.Time
	Log     *slog.Logger
}

// interval is how often the checkpoints are read. Vector writes them once a second.
const interval = 200 * time.Millisecond

// settled is how many times in a row nothing must be left: a file may be renamed while it is
// looked for.
const settled = 2

// listed is how many files a message names.
const listed = 5

// Wait returns when Vector has finished with all files, when the bound is over, or when the
// context is, and logs which.
func (g *Gate) Wait(ctx context.Context) {
	began := time.Now()
	bound := time.After(g.Bound)
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	var last Remainder
	for clean := 0; ; {
		last = g.Remainder()
		if clean++; !last.isNothing() {
			clean = 0
		}
		if clean == settled {
			g.Log.Info("Vector has finished with all files", "seconds", seconds(began))
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-bound:
			g.Log.Warn("Vector ends without having finished with all files", "seconds", seconds(began),
				"files", few(last.Files), "notJudged", few(texts(last.Unjudged)))
			return
		case <-ticks.C:
		}
	}
}

func seconds(since time.Time) float64 { return time.Since(since).Round(time.Millisecond).Seconds() }

func texts(all []error) []string {
	messages := make([]string, 0, len(all))
	for _, err := range all {
		messages = append(messages, err.Error())
	}
	return messages
}

// few joins the first of a list.
func few(all []string) string {
	if len(all) > listed {
		all = append(all[:listed:listed], "…")
	}
	return strings.Join(all, "; ")
}

// Remainder is what Vector has not finished with.
type Remainder struct {
	// Files have lines behind their checkpoints.
	Files []string
	// Unjudged say of what else it cannot be told, and why.
	Unjudged []error
}

func (r *Remainder) isNothing() bool { return len(r.Files)+len(r.Unjudged) == 0 }

// Remainder compares the files with the checkpoints once.
func (g *Gate) Remainder() Remainder {
	if g.Broken != nil {
		return Remainder{Unjudged: []error{g.Broken}}
	}
	var left Remainder
	for name, source := range g.Sources {
		files, err := source.files()
		left.Unjudged = append(left.Unjudged, errs(err)...)
		found := source.finished(files, func() (checkpoints, error) { return readCheckpoints(g.DataDir, name) }, g.Started)
		left.Files = append(left.Files, found.Files...)
		left.Unjudged = append(left.Unjudged, found.Unjudged...)
	}
	return left
}

// errs are the errors that were joined into one.
func errs(err error) []error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()
	}
	if err != nil {
		return []error{err}
	}
	return nil
}
