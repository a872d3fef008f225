// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sizes

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/freeport"
)

var (
	full    = flag.Bool("full", false, "measure, for some minutes")
	seconds = flag.Int("seconds", 10, "seconds for which lines are written")
)

// environment is the one with the least memory.
const environment = "development"

// patience is how long a busy machine may need for what has been written.
const patience = 5 * time.Minute

// atOnce is how many sidecars are measured at once.
const atOnce = 2

// shortLine and longLine are the lengths of lines.
const shortLine, longLine = 200, 64 << 10

// cell is one measurement.
type cell struct {
	preset string
	// rate is lines a second, over all files.
	rate, files int
	// size is the length of a line.
	size int
	// isAway: connections to the collector are refused.
	isAway bool
}

// measured is what came of it. Memory is in bytes.
type measured struct {
	peak, steady, anonymous int64
	// cpu is seconds of a processor, and lines how many the collector has taken meanwhile.
	cpu, lines float64
	elapsed    time.Duration
}

// cells are the rows of the table, in its order.
func cells() []cell {
	var all []cell
	for _, preset := range []string{"http", "kafka", "console"} {
		for _, rate := range []int{0, 100, 1000, 10000} {
			all = append(all, cell{preset: preset, rate: rate, files: 1})
		}
		for _, files := range []int{10, 100} {
			all = append(all, cell{preset: preset, rate: 1000, files: files})
		}
		if preset != "console" { // Who runs containers always takes what they print.
			all = append(all, cell{preset: preset, rate: 1000, files: 1, isAway: true}, cell{preset: preset, rate: 10000, files: 1, isAway: true},
				cell{preset: preset, rate: 100, files: 1, size: longLine}, cell{preset: preset, rate: 600, files: 1, size: longLine, isAway: true})
		}
	}
	for _, preset := range []string{"loki", "elasticsearch", "aws_s3", "vector"} {
		all = append(all, cell{preset: preset, rate: 100, files: 1})
	}
	for i := range all {
		all[i].size = cmp.Or(all[i].size, shortLine)
	}
	return all
}

// The test measures real sidecars. It runs only in make sizes.
func TestSizes_MeasureMemoryAndCPUOfSidecars(t *testing.T) {
	if !*full {
		t.Skip("SKIPPED: sizes are measured by make sizes")
	}
	if os.Getenv("VECTOR") == "" {
		t.Skip("SKIPPED: it needs a real Vector: name one in VECTOR")
	}
	all := cells()
	results, next := make([]measured, len(all)), make(chan struct{}, atOnce)
	before := reference()
	t.Run("cells", func(t *testing.T) {
		var turn sync.Mutex
		for i, one := range all {
			t.Run(fmt.Sprintf("%s-%d-%d-%d-%t", one.preset, one.rate, one.files, one.size, one.isAway), func(t *testing.T) {
				t.Parallel()
				next <- struct{}{}
				defer func() { <-next }()
				found := one.measure(t)
				turn.Lock()
				defer turn.Unlock()
				results[i] = found
			})
		}
	})
	loop := (before + reference()) / 2
	table := tableOf(all, results, loop)
	fmt.Println(table)
	if os.Getenv("ROWS") == "write" && !t.Failed() {
		write(t, table)
	}
}

// measure runs one sidecar.
func (c *cell) measure(t *testing.T) measured {
	address := freeport.ForTest(t)
	if !c.isAway {
		address = collectors[c.preset](t)
	}
	p := start(t, c.preset, address)
	before, begin := p.cpu(t), time.Now()
	written := c.feed(t, p.logs)
	if c.isAway {
		// The buffer is full when nothing more is read, or all has been.
		last := -1.0
		require.Eventually(t, func() bool {
			previous := last
			last = p.read()
			return last >= 0 && last == previous
		}, patience, 2*time.Second, "the buffer to be full")
	} else {
		require.Eventually(t, func() bool { return p.sent() >= float64(written) }, patience, time.Second, "delivered lines")
	}
	return measured{
		peak: p.memory(t, "VmHWM"), steady: p.memory(t, "VmRSS"), anonymous: p.memory(t, "RssAnon"),
		cpu: p.cpu(t) - before, lines: max(p.sent(), 0), elapsed: time.Since(begin),
	}
}

// feed writes lines into files for a while, and returns how many.
func (c *cell) feed(t *testing.T, folder string) (written int) {
	var files []*os.File
	for i := range c.files {
		file, err := os.Create(filepath.Join(folder, fmt.Sprintf("%d.log", i)))
		require.NoError(t, err)
		t.Cleanup(func() { _ = file.Close() }) // What is in it has been read.
		files = append(files, file)
	}
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	filler := strings.Repeat("x", c.size)
	for begin := time.Now(); ; {
		passed := min(time.Since(begin), time.Duration(*seconds)*time.Second)
		for due := int(passed.Seconds() * float64(c.rate)); written < due; written++ {
			line := fmt.Sprintf("%d %d %s", written%c.files, written, filler)
			_, err := files[written%c.files].WriteString(line[:c.size-1] + "\n")
			require.NoError(t, err)
		}
		if passed == time.Duration(*seconds)*time.Second {
			return written
		}
		<-ticks.C
	}
}

// reference is how many seconds of a processor it takes here to write a million lines as
// JSON: what the machine does at that moment is in it as it is in what is measured.
func reference() float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const lines = 200_000
	spent := func() float64 {
		var usage syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_THREAD, &usage) // Of the own thread it never fails.
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
	}
	begin, message := spent(), strings.Repeat("x", shortLine)
	for i := range lines {
		if _, err := json.Marshal(map[string]any{"message": message, "number": i, "file": "/var/log/app/0.log"}); err != nil {
			return 0
		}
	}
	return (spent() - begin) * 1e6 / lines
}
