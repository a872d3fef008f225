// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package draingate

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// folder has log files, and checkpoints of a source named logs.
type folder struct{ logs, data string }

func newFolder(t *testing.T, files map[string]string) folder {
	t.Helper()
	f := folder{t.TempDir(), t.TempDir()}
	for name, text := range files {
		f.write(t, name, text)
	}
	return f
}

func (f folder) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(f.logs, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// checkpoints writes what a Vector would; none for "". INODE stands for that of app.log.
func (f folder) checkpoints(t *testing.T, text string) {
	t.Helper()
	if text == "" {
		return
	}
	if info, err := os.Stat(filepath.Join(f.logs, "app.log")); err == nil {
		stat := info.Sys().(*syscall.Stat_t)
		text = strings.ReplaceAll(text, "INODE", fmt.Sprintf("%d,%d", stat.Dev, stat.Ino))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(f.data, "logs"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(f.data, "logs", "checkpoints.json"), []byte(text), 0o600))
}

// gate has one source, of all files that end in .log, and further options.
func (f folder) gate(t *testing.T, options string) *Gate {
	t.Helper()
	sources, err := ReadSources(fmt.Appendf(nil, `{"logs": {"type": "file", "include": ["%s/*.log"]%s}}`, f.logs, options))
	require.NoError(t, err)
	return &Gate{Sources: sources, DataDir: f.data, Bound: 13 * time.Second, Started: time.Now(), Log: slog.New(slog.DiscardHandler)}
}

// The numbers are those that Vector 0.57.0 wrote of files with these texts.
const (
	twoLines   = "first line\nsecond\n"
	ofTwoLines = `{"version":"1","checkpoints":[{"fingerprint":{"first_lines_checksum":15263847979215390999},"position":%d,"modified":"2026-11-22T20:54:57.942732341Z"}]}`
	unended    = "h1\nh2\n\n\nlast\npart"
	ofUnended  = `{"version":"1","checkpoints":[{"fingerprint":{"first_lines_checksum":15185536586587667952},"position":%d,"modified":"2026-11-22T20:54:57.942736610Z"}]}`
	byTwo      = `{"version":"1","checkpoints":[{"fingerprint":{"first_lines_checksum":17045031059255342773},"position":%d,"modified":"2026-11-22T20:54:57.943731049Z"}]}`
	byInode    = `{"version":"1","checkpoints":[{"fingerprint":{"dev_inode":[INODE]},"position":%d,"modified":"2026-11-22T20:54:57.943305985Z"}]}`
	// dropped begins with a line that is longer than Vector takes by default.
	ofDropped = `{"version":"1","checkpoints":[{"fingerprint":{"first_lines_checksum":11223385277715056317},"position":%d,"modified":"2026-11-22T20:54:57.942733876Z"}]}`
)

var dropped = strings.Repeat("x", 150_000) + "\nshort\n"

// Vector has finished a file when its checkpoint is at the end of the last line.
func TestFindRemainder_ComparesCheckpointWithFileEnd(t *testing.T) {
	const lines, inode = `, "fingerprint": {"strategy": "checksum", "lines": 2}`, `, "fingerprint": {"strategy": "device_and_inode"}`
	for name, test := range map[string]struct {
		text, checkpoints, options string
		isBehind                   bool
	}{
		"at the end":                                   {text: twoLines, checkpoints: fmt.Sprintf(ofTwoLines, 18)},
		"a line before":                                {text: twoLines, checkpoints: fmt.Sprintf(ofTwoLines, 11), isBehind: true},
		"never read":                                   {text: twoLines, checkpoints: fmt.Sprintf(ofUnended, 13), isBehind: true},
		"before Vector wrote any":                      {text: twoLines, isBehind: true},
		"truncated since":                              {text: twoLines, checkpoints: fmt.Sprintf(ofTwoLines, 99)},
		"a last line without an end":                   {text: unended, checkpoints: fmt.Sprintf(ofUnended, 13)},
		"empty lines count":                            {text: unended, checkpoints: fmt.Sprintf(ofUnended, 7), isBehind: true},
		"empty":                                        {text: ""},
		"no line with an end":                          {text: "no end"},
		"by its name in earlier releases":              {text: twoLines, checkpoints: strings.Replace(fmt.Sprintf(ofTwoLines, 18), "lines_c", "line_c", 1)},
		"by two lines, at the end":                     {text: twoLines, checkpoints: fmt.Sprintf(byTwo, 18), options: lines},
		"by two lines, a line before":                  {text: twoLines, checkpoints: fmt.Sprintf(byTwo, 11), options: lines, isBehind: true},
		"by two lines, and it has one":                 {text: "one\n", options: lines},
		"by its inode, at the end":                     {text: twoLines, checkpoints: fmt.Sprintf(byInode, 18), options: inode},
		"by its inode, a line before":                  {text: twoLines, checkpoints: fmt.Sprintf(byInode, 11), options: inode, isBehind: true},
		"a line that is dropped comes first":           {text: dropped, checkpoints: fmt.Sprintf(ofDropped, 150_007)},
		"one is left behind a line that is dropped":    {text: dropped, checkpoints: fmt.Sprintf(ofDropped, 0), isBehind: true},
		"what is left is dropped":                      {text: twoLines + dropped[:150_001], checkpoints: fmt.Sprintf(ofTwoLines, 18)},
		"what is left is as long as it may be":         {text: twoLines + dropped[:defaultLineBytes] + "\n", checkpoints: fmt.Sprintf(ofTwoLines, 18), isBehind: true},
		"what is left is longer, as it is configured":  {text: twoLines + "third\n", checkpoints: fmt.Sprintf(byInode, 18), options: inode + `, "max_line_bytes": 4`},
		"older than what is read, and there is no one": {text: twoLines, options: `, "ignore_older_secs": 0`},
		"younger than that":                            {text: twoLines, options: `, "ignore_older_secs": 60`, isBehind: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t, map[string]string{"app.log": test.text})
			f.checkpoints(t, test.checkpoints)
			gate := f.gate(t, test.options)
			gate.Started = time.Now().Add(time.Second)
			left := gate.Remainder()
			require.Empty(t, left.Unchecked)
			require.Equal(t, test.isBehind, len(left.Files) == 1, "%v", left.Files)
		})
	}
}

// If several files have the same fingerprint, the checkpoint belongs to the one that was modified last.
func TestFindRemainder_PrefersLastModifiedFile(t *testing.T) {
	f := newFolder(t, map[string]string{"a.log": twoLines + "third\n", "b.log": twoLines})
	f.checkpoints(t, fmt.Sprintf(ofTwoLines, 18))
	for file, isBehind := range map[string]bool{"a.log": true, "b.log": false} {
		now, before := filepath.Join(f.logs, file), time.Now().Add(-time.Hour)
		for _, each := range []string{"a.log", "b.log"} {
			require.NoError(t, os.Chtimes(filepath.Join(f.logs, each), before, before))
		}
		require.NoError(t, os.Chtimes(now, time.Now(), time.Now()))
		left := f.gate(t, "").Remainder()
		require.Equal(t, isBehind, len(left.Files) > 0, "%s is the last: %v", file, left)
	}
}

// Each case has checkpoints or a file that the drain gate cannot read, and the reported error.
func TestRemainder_ReportsUnreadableCheckpointsAndFiles(t *testing.T) {
	for name, test := range map[string]struct {
		checkpoints, want string
		spoil             func(t *testing.T, f folder)
	}{
		"another version":              {checkpoints: `{"version":"2","checkpoints":[]}`, want: `unsupported version "2", expected "1"`},
		"no version":                   {checkpoints: `[]`, want: "reading the checkpoints"},
		"cut short":                    {checkpoints: ofTwoLines[:40], want: "unexpected end of JSON input"},
		"another kind of fingerprint":  {checkpoints: `{"version":"1","checkpoints":[{"fingerprint":{"moon":1},"position":1}]}`, want: "an unknown kind of fingerprint"},
		"no position":                  {checkpoints: `{"version":"1","checkpoints":[{"fingerprint":{"dev_inode":[1,2]}}]}`, want: "a checkpoint has no position"},
		"a file that cannot be opened": {checkpoints: fmt.Sprintf(ofTwoLines, 18), want: "loop.log: too many levels of symbolic links", spoil: loops},
		"a compressed file": {checkpoints: fmt.Sprintf(ofTwoLines, 18), want: "z.log: file is compressed with gzip", spoil: func(t *testing.T, f folder) {
			f.write(t, "z.log", "\x1f\x8b\x08")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t, map[string]string{"app.log": twoLines})
			f.checkpoints(t, test.checkpoints)
			if test.spoil != nil {
				test.spoil(t, f)
			}
			left := f.gate(t, "").Remainder()
			require.Empty(t, left.Files)
			require.Len(t, left.Unchecked, 1)
			require.ErrorContains(t, left.Unchecked[0], test.want)
		})
	}
}

func loops(t *testing.T, f folder) {
	t.Helper()
	path := filepath.Join(f.logs, "loop.log")
	require.NoError(t, os.Symlink(path, path))
}

// If no log file exists, the drain gate does not wait, whatever the checkpoints contain.
func TestRemainder_IgnoresCheckpointsWithoutFiles(t *testing.T) {
	f := newFolder(t, nil)
	f.checkpoints(t, "{")
	left := f.gate(t, "").Remainder()
	require.True(t, left.isEmpty())
}

// The drain gate rejects sources whose progress it cannot check.
func TestReadSources_RejectsUnsupportedSources(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                       "decoding the file sources of Vector",
		`{"a": {"type": "stdin"}}`: `source "a": source cannot be checked`,
		`{"a": {"type": "file", "data_dir": "/x"}}`:                      "source cannot be checked",
		`{"a": {"type": "file", "encoding": {}}}`:                        "source cannot be checked",
		`{"a": {"type": "file", "line_delimiter": "\r"}}`:                "source cannot be checked",
		`{"a": {"type": "file", "read_from": "end"}}`:                    "source cannot be checked",
		`{"a": {"type": "file", "fingerprint": {"strategy": "unique"}}}`: `unknown fingerprint strategy "unique"`,
	} {
		_, err := ReadSources([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

// wait runs a gate in a bubble, whose clock goes on when all wait, and returns after how many
// seconds it ended, and what it said. after is done once so many seconds are over.
func wait(t *testing.T, gate *Gate, seconds int, after func()) (took time.Duration, said string) {
	t.Helper()
	var log bytes.Buffer
	gate.Log = slog.New(slog.NewTextHandler(&log, nil))
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if after != nil {
			time.AfterFunc(time.Duration(seconds)*time.Second, after)
		}
		gate.Wait(t.Context())
		took = time.Since(began)
	})
	return took, log.String()
}

// The drain gate waits until Vector has read all files, but not longer than its time limit.
func TestWait_ReturnsWhenFinishedOrTimedOut(t *testing.T) {
	f := newFolder(t, map[string]string{"app.log": twoLines})
	f.checkpoints(t, fmt.Sprintf(ofTwoLines, 11))

	took, said := wait(t, f.gate(t, ""), 0, nil)
	require.Equal(t, 13*time.Second, took)
	require.Contains(t, said, "level=WARN")
	require.Contains(t, said, "app.log")

	took, said = wait(t, f.gate(t, ""), 3, func() { f.checkpoints(t, fmt.Sprintf(ofTwoLines, 18)) })
	require.InDelta(t, 3.2, took.Seconds(), 0.21)
	require.Contains(t, said, "finished reading all files")

	took, _ = wait(t, f.gate(t, ""), 0, nil)
	require.Equal(t, interval, took)
}

// If the drain gate cannot read its sources, it waits for its whole time limit.
func TestWait_UsesWholeTimeIfSourcesAreUnreadable(t *testing.T) {
	gate := newFolder(t, nil).gate(t, "")
	_, gate.Broken = ReadSources(nil)
	took, said := wait(t, gate, 0, nil)
	require.Equal(t, gate.Bound, took)
	require.Contains(t, said, "decoding the file sources of Vector")
}
