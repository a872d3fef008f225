// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
)

// counter is a collector that counts how often each line is received. While isAway is true, it rejects requests.
type counter struct {
	url    string
	isAway atomic.Bool

	mu    sync.Mutex
	times map[string]int
}

func newCounter(t *testing.T) *counter {
	t.Helper()
	c := &counter{times: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var events []struct{ Message string }
		if err := json.NewDecoder(r.Body).Decode(&events); err != nil || c.isAway.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, event := range events {
			c.times[event.Message]++
		}
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// missing returns how many of these lines were not received, and how many were received again.
func (c *counter) missing(lines []string) (missing, twice int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, line := range lines {
		switch n := c.times[line]; n {
		case 0:
			missing++
		default:
			twice += n - 1
		}
	}
	return missing, twice
}

// application writes log files, which a Vector with a rendered configuration reads.
type application struct {
	*counter

	vector  *running
	folder  string
	written []string
}

// reads starts an application and its Vector. logs has fields below sidecar.logs in addition to the path, and sink
// has fields of a sink in addition to its type and uri.
func reads(t *testing.T, logs, sink map[string]any) *application {
	t.Helper()
	a := &application{counter: newCounter(t), folder: t.TempDir()}
	with := map[string]any{"path": "/var/log/app"}
	for key, value := range logs {
		with[key] = value
	}
	out := map[string]any{"type": "http", "uri": a.url, "request": map[string]any{"retry_max_duration_secs": 1}}
	for key, value := range sink {
		out[key] = value
	}
	a.vector = launch(t, vectorsidecar.FS, map[string]any{"logs": with, "sinks": map[string]any{"out": out}}, "/var/log/app", a.folder)
	return a
}

func (a *application) path(file string) string { return filepath.Join(a.folder, file) }

// writes appends lines to a file. Lines that start with # are not counted, because several files have them.
func (a *application) writes(t *testing.T, file string, lines ...string) {
	t.Helper()
	to, err := os.OpenFile(a.path(file), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = to.WriteString(strings.Join(lines, "\n") + "\n")
	require.NoError(t, err)
	require.NoError(t, to.Close())
	for _, line := range lines {
		if !strings.HasPrefix(line, "#") {
			a.written = append(a.written, line)
		}
	}
}

// generation returns a first line and some lines that no other generation has.
func generation(first string, n int) []string {
	lines := []string{first}
	for i := range 500 {
		lines = append(lines, fmt.Sprintf("generation %d line %d", n, i))
	}
	return lines
}

// arrives waits until the collector has received all lines.
func (a *application) arrives(t *testing.T) {
	t.Helper()
	lost := 0
	require.Eventually(t, func() bool {
		lost, _ = a.missing(a.written)
		return lost == 0
	}, time.Minute, 50*time.Millisecond, "every line arrives")
}

// renames rotates app.log once and keeps all files.
func (a *application) renames(t *testing.T) {
	t.Helper()
	for n := 9; n > 0; n-- {
		if _, err := os.Stat(a.path(fmt.Sprintf("app.log.%d", n))); err == nil {
			require.NoError(t, os.Rename(a.path(fmt.Sprintf("app.log.%d", n)), a.path(fmt.Sprintf("app.log.%d", n+1))))
		}
	}
	require.NoError(t, os.Rename(a.path("app.log"), a.path("app.log.1")))
}

var byTwoLines = map[string]any{"fingerprint": map[string]any{"lines": 2}}

// notReadTwice is the case in which no line may be received twice.
const notReadTwice = "compressed beside the live one"

// Each row of the table of log files in docs/how-to/sidecar/sidecar.md with 0 lost lines is tested: Vector loses no
// line.
func TestVector_LosesNoLineOfReplacedFiles(t *testing.T) {
	byInode := map[string]any{"fingerprint": map[string]any{"strategy": "DeviceAndInode"}}
	for name, test := range map[string]struct {
		logs   map[string]any
		first  func(generation int) string
		happen func(*testing.T, *application, func(int) []string)
	}{
		"renamed while the collector is away":                                 {happen: renamedAway},
		"renamed while it is away and all begin alike":                        {logs: byTwoLines, first: heading, happen: renamedAway},
		"renamed while it is away and all begin alike but are known by inode": {logs: byInode, first: heading, happen: renamedAway},
		"two files that begin alike":                                          {logs: byTwoLines, first: heading, happen: twoFiles},
		"emptied in place":                                                    {happen: emptied},
		"emptied in place and all begin alike":                                {logs: byTwoLines, first: heading, happen: emptied},
		"made anew with the same inode while Vector is away":                  {happen: recreateLogFile},
		notReadTwice: {happen: compressed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := test.first
			if first == nil {
				first = func(n int) string { return fmt.Sprintf("first of generation %d", n) }
			}
			a := reads(t, test.logs, nil)
			test.happen(t, a, func(n int) []string { return generation(first(n), n) })
			a.arrives(t)
			_, twice := a.missing(a.written)
			t.Logf("%d lines: 0 lost, %d twice", len(a.written), twice)
			if name == notReadTwice {
				require.Zero(t, twice)
			}
		})
	}
}

// heading is the equal first line of all files.
func heading(int) string { return "# time,level,message" }

func renamedAway(t *testing.T, a *application, lines func(int) []string) {
	t.Helper()
	a.writes(t, "app.log", lines(0)...)
	a.arrives(t)
	a.isAway.Store(true)
	for n := 1; n < 8; n++ {
		a.renames(t)
		a.writes(t, "app.log", lines(n)...)
	}
	a.isAway.Store(false)
}

func twoFiles(t *testing.T, a *application, lines func(int) []string) {
	t.Helper()
	a.writes(t, "app.log", lines(0)...)
	a.writes(t, "audit.log", lines(1)...)
}

func emptied(t *testing.T, a *application, lines func(int) []string) {
	t.Helper()
	for n := range 3 {
		a.writes(t, "app.log", lines(n)[:501-100*n]...)
		a.arrives(t)
		require.NoError(t, os.Truncate(a.path("app.log"), 0))
	}
	a.writes(t, "app.log", lines(3)...)
}

func recreateLogFile(t *testing.T, a *application, lines func(int) []string) {
	t.Helper()
	a.writes(t, "app.log", lines(0)...)
	a.arrives(t)
	a.vector.kill(t)
	require.NoError(t, os.Remove(a.path("app.log")))
	a.writes(t, "app.log", lines(1)...)
	a.vector.begin(t)
}

func compressed(t *testing.T, a *application, lines func(int) []string) {
	t.Helper()
	a.writes(t, "app.log", lines(0)...)
	a.arrives(t)
	to, err := os.Create(a.path("app.log.1.gz"))
	require.NoError(t, err)
	writer := gzip.NewWriter(to)
	_, err = writer.Write([]byte(strings.Join(lines(0), "\n") + "\n"))
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	require.NoError(t, to.Close())
	a.writes(t, "later.log", lines(1)...)
}

// Vector marks a line as read after the collector has it. If Vector is killed, no line is lost, and some are sent
// twice.
func TestVector_LosesNoLineWhenKilled(t *testing.T) {
	a := reads(t, nil, nil)
	for n := range 20 {
		a.writes(t, "app.log", generation(fmt.Sprintf("first of generation %d", n), n)...)
		switch n {
		case 5:
			a.isAway.Store(true)
		case 8, 15:
			a.vector.kill(t)
			a.vector.begin(t)
		case 12:
			a.isAway.Store(false)
		}
	}
	a.arrives(t)
	_, twice := a.missing(a.written)
	t.Logf("%d lines: 0 lost, %d twice", len(a.written), twice)
}
