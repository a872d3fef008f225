// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// write is an application. It writes numbered lines to files until it receives a signal,
// continues for a while, writes a burst of lines, reports their number to the collector, and
// exits. A line is "WRITER NUMBER". The writer is the pod's name or the name in the
// arguments. After a restart in the same pod, it continues with the next number.
func write(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("write", flag.ContinueOnError)
	var o writing
	flags.IntVar(&o.rate, "rate", 100, "lines a second")
	flags.DurationVar(&o.busy, "busy", 0, "for how long lines are written at that rate; 0: until the end")
	flags.DurationVar(&o.after, "after", 0, "how long it goes on when it is told to end")
	flags.DurationVar(&o.length, "for", 0, "after how long it ends without being told; 0: it does not")
	flags.IntVar(&o.last, "last", 100, "lines at the end, at once")
	flags.IntVar(&o.crash, "crash", 0, "after so many lines of a run it crashes; 0: it does not")
	flags.BoolVar(&o.unended, "unended", false, "the last line has no end")
	start := flags.String("start-file", "", "file whose creation it waits for before it writes; empty: it does not wait")
	collector := flags.String("collector", "", "URL that hears how many lines there were; empty: none")
	name := flags.String("name", "", "name of the writer; empty: the pod's")
	var to target
	flags.StringVar(&to.dir, "path", "", "folder of the files")
	flags.UintVar(&to.mode, "mode", 0o644, "permissions of the files")
	flags.IntVar(&to.files, "files", 1, "number of files")
	flags.IntVar(&to.size, "size", 0, "bytes of a line, at least")
	flags.StringVar(&to.header, "header", "", "first line of each file")
	flags.StringVar(&to.rotation, "rotate", "", "rename, compress, truncate or recreate")
	flags.IntVar(&to.every, "every", 1000, "lines of a file, where it is rotated")
	if err := flags.Parse(args); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	to.name = cmp.Or(*name, host)
	w := &writer{writing: o, to: &to}
	if w.count, err = to.open(); err != nil {
		return err
	}
	defer to.close()
	if *start != "" {
		waitForFile(ctx, *start)
	}
	if *collector != "" {
		go w.reportNow(*collector)
	}
	end := w.write(ctx)
	fmt.Println("wrote", w.count)
	if *collector != "" {
		end = errors.Join(end, w.report(*collector))
	}
	return end
}

// waitForFile returns when the file exists or the program is stopped.
func waitForFile(ctx context.Context, path string) {
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	for ctx.Err() == nil {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-ticks.C:
		}
	}
}

// writing is how lines are written.
type writing struct {
	rate, last, crash   int
	busy, after, length time.Duration
	unended             bool
}

type writer struct {
	writing

	to *target
	// count is the number of the last line; since is how many this process wrote.
	count, since int
	// flushed is count as it is in the files.
	flushed atomic.Int64
}

// errCrash is the end of a writer that is to crash.
var errCrash = errors.New("it crashes, as it was told to")

func (w *writer) write(ctx context.Context) error {
	if err := w.atRate(ctx); err != nil {
		return err
	}
	if err := w.some(w.last); err != nil || !w.unended {
		return err
	}
	w.count++
	return w.to.line(w.count, "")
}

// tick is how often lines are written, a few at once.
const tick = 20 * time.Millisecond

func (w *writer) atRate(ctx context.Context) error {
	began, told := time.Now(), ctx.Done()
	var end <-chan time.Time
	if w.length > 0 {
		end = time.After(w.length)
	}
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	for {
		select {
		case <-told:
			told, end = nil, time.After(w.after)
		case <-end:
			return nil
		case <-ticks.C:
			if since := time.Since(began); w.busy == 0 || since < w.busy {
				if err := w.some(int(since.Seconds()*float64(w.rate)) - w.since); err != nil {
					return err
				}
			}
		}
	}
}

func (w *writer) some(n int) error {
	for range n {
		w.count++
		w.since++
		if err := w.to.line(w.count, "\n"); err != nil {
			return err
		}
		if w.since == w.crash {
			return errors.Join(errCrash, w.to.flush())
		}
	}
	err := w.to.flush()
	w.flushed.Store(int64(w.count))
	return err
}

// reportNow reports the number of lines to the collector each second.
func (w *writer) reportNow(collector string) {
	for range time.Tick(time.Second) {
		_ = w.tell(collector, w.flushed.Load(), false) // The next report repeats it.
	}
}

// report reports the final number of lines to the collector, until a request succeeds.
func (w *writer) report(collector string) error {
	var last error
	for range 20 {
		if last = w.tell(collector, int64(w.count), true); last == nil {
			return nil
		}
		<-time.After(200 * time.Millisecond)
	}
	return fmt.Errorf("telling the collector: %w", last)
}

func (w *writer) tell(collector string, count int64, isEnd bool) error {
	values := url.Values{"writer": {w.to.name}, "count": {strconv.FormatInt(count, 10)}, "end": {strconv.FormatBool(isEnd)}}
	response, err := http.Post(collector+"/wrote", "application/x-www-form-urlencoded", strings.NewReader(values.Encode()))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	return errors.Join(err, response.Body.Close())
}
