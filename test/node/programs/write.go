// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// write is an application: it writes numbered lines to a file until it is told to end,
// goes on for a while, writes some more at once, tells the collector how many there were,
// and ends. A line is "WRITER NUMBER"; the writer is the pod's name.
func write(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("write", flag.ContinueOnError)
	path := flags.String("path", "", "folder of the file")
	rate := flags.Int("rate", 100, "lines a second")
	after := flags.Duration("after", 0, "how long it goes on when it is told to end")
	last := flags.Int("last", 100, "lines at the end, at once")
	collector := flags.String("collector", "", "URL of the collector; empty: there is none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(*path, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644) //nolint:gosec // another user reads it
	if err != nil {
		return err
	}
	defer file.Close()
	w := &writer{name: name, lines: bufio.NewWriter(file)}
	if err := w.atRate(ctx, *rate, *after); err != nil {
		return err
	}
	if err := w.some(*last); err != nil {
		return err
	}
	fmt.Println("wrote", w.count)
	if *collector == "" {
		return nil
	}
	return w.report(*collector)
}

type writer struct {
	name  string
	lines *bufio.Writer
	count int
}

// tick is how often lines are written, a few at once.
const tick = 20 * time.Millisecond

func (w *writer) atRate(ctx context.Context, rate int, after time.Duration) error {
	began, told := time.Now(), ctx.Done()
	var end <-chan time.Time
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	for {
		select {
		case <-told:
			told, end = nil, time.After(after)
		case <-end:
			return nil
		case <-ticks.C:
			if err := w.some(int(time.Since(began).Seconds()*float64(rate)) - w.count); err != nil {
				return err
			}
		}
	}
}

func (w *writer) some(n int) error {
	for range n {
		w.count++
		if _, err := fmt.Fprintln(w.lines, w.name, w.count); err != nil {
			return err
		}
	}
	return w.lines.Flush()
}

// report tells the collector how many lines there were, until it has heard it.
func (w *writer) report(collector string) error {
	values := url.Values{"writer": {w.name}, "count": {strconv.Itoa(w.count)}}
	var last error
	for range 20 {
		response, err := http.PostForm(collector+"/wrote", values)
		if err == nil && response.StatusCode == http.StatusOK {
			return response.Body.Close()
		}
		last = err
		<-time.After(200 * time.Millisecond)
	}
	return errors.Join(errors.New("telling the collector"), last)
}
