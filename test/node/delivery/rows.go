// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package delivery is the table of lost and repeated lines: its rows, which test/node/product tests on a real node,
// and its form in docs/explanation/delivery.md with the last results. It does not need a cluster.
package delivery

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Row is an event that pods go through while their application writes.
type Row struct {
	Name string
	// IsQuick rows are tested with every change, without a disk buffer. The other rows and ways are tested only in
	// the full run.
	IsQuick bool
	// IsForAny rows are also tested with the stand-in for Vector, because they depend only on the order of
	// terminations.
	IsForAny bool
	// IsNativeAlone rows are tested with a native sidecar only, and IsInMemoryAlone rows only with a buffer in
	// memory.
	IsNativeAlone, IsInMemoryAlone bool
}

// Has returns whether a row is tested in a way.
func (r Row) Has(way Way) bool {
	return (way.IsNative || !r.IsNativeAlone) && (!way.IsOnDisk || !r.IsInMemoryAlone)
}

// Names of rows, by which the scenarios are found.
const (
	Rollout            = "rollout of the application"
	RolloutOfImage     = "rollout of the sidecar's image"
	RolloutOfConfig    = "rollout of its configuration (`reload: Restart`)"
	LiveConfig         = "change of its configuration (`reload: Live`)"
	ScaleDown          = "scale down"
	Deleted            = "pod deleted"
	Evicted            = "pod evicted"
	Drained            = "node drained"
	Killed             = "Vector killed (SIGKILL)"
	OutOfMemory        = "Vector killed for want of memory"
	Hung               = "Vector hangs until its liveness probe fails"
	CollectorAway      = "collector away for 60 s"
	CollectorAwayAtEnd = "collector away while the pod ends"
	CrashLoop          = "the application crashes, again and again"
	AppKilled          = "the application is killed and started in place"
	Renamed            = "rotation by rename"
	RenamedAway        = "rotation by rename, collector away for 20 s"
	Truncated          = "rotation by copy and truncate"
	SameFirstLine      = "two files that begin with the same line"
	SameGeneration     = "two generations that begin with the same line"
	InodeAgain         = "a file deleted and made anew, its inode used again"
	Compressed         = "rotated files compressed beside the live one"
	CheckpointCut      = "Vector killed, its checkpoints cut short"
	Unended            = "a last line without an end"
	LongLines          = "lines of 64 KiB"
	ManyFiles          = "ten files"
	ManyLines          = "5,000 lines a second"
	Job                = "a Job ends by itself"
	CronJob            = "a CronJob's Job ends by itself"
)

// Ends are the tested seconds between SIGTERM and the end of the application.
var Ends = []int{0, 1, 4, 6, 12, 20}

// Busy is the name of the row in which the application writes until its end, the given seconds after SIGTERM.
func Busy(seconds int) string {
	return fmt.Sprintf("writes until it ends, %d s after SIGTERM", seconds)
}

// Quiet is the name of the row in which the application has not written for 15 s, and writes 300 lines at its end.
func Quiet(seconds int) string {
	return fmt.Sprintf("quiet for 15 s, then a last burst and the end, %d s after SIGTERM", seconds)
}

// Rows returns the rows of the table, in their order.
func Rows() []Row {
	rows := []Row{
		{Name: Rollout, IsQuick: true, IsForAny: true}, {Name: RolloutOfImage}, {Name: RolloutOfConfig}, {Name: LiveConfig},
		{Name: ScaleDown, IsQuick: true, IsForAny: true}, {Name: Deleted, IsQuick: true, IsForAny: true}, {Name: Evicted}, {Name: Drained},
	}
	for _, seconds := range Ends {
		rows = append(rows, Row{Name: Busy(seconds), IsQuick: seconds == 0 || seconds == 12})
	}
	for _, seconds := range Ends {
		rows = append(rows, Row{Name: Quiet(seconds), IsQuick: seconds == 0 || seconds == 12})
	}
	return append(rows,
		Row{Name: Killed, IsQuick: true}, Row{Name: OutOfMemory, IsInMemoryAlone: true}, Row{Name: Hung}, Row{Name: CheckpointCut},
		Row{Name: CollectorAway}, Row{Name: CollectorAwayAtEnd},
		Row{Name: CrashLoop}, Row{Name: AppKilled, IsQuick: true},
		Row{Name: Renamed, IsQuick: true}, Row{Name: RenamedAway}, Row{Name: Truncated}, Row{Name: Compressed},
		Row{Name: SameFirstLine}, Row{Name: SameGeneration}, Row{Name: InodeAgain},
		Row{Name: Unended}, Row{Name: LongLines}, Row{Name: ManyFiles}, Row{Name: ManyLines},
		Row{Name: Job, IsQuick: true, IsNativeAlone: true}, Row{Name: CronJob, IsNativeAlone: true},
	)
}

// Way is how the sidecar runs: as a native sidecar or an ordinary container, with a buffer in memory or on disk, and
// with a drain gate or a sleep.
type Way struct{ IsNative, IsOnDisk, IsGated bool }

// Ways returns the columns of the table, in their order. An ordinary container always drains with a sleep, not with a
// gate.
func Ways() []Way {
	return []Way{
		{IsNative: true, IsGated: true}, {IsNative: true, IsGated: true, IsOnDisk: true},
		{IsNative: true}, {IsNative: true, IsOnDisk: true}, {}, {IsOnDisk: true},
	}
}

func (w Way) String() string {
	words := []string{"container", "memory"}
	if w.IsNative {
		words[0] = "native"
	}
	if w.IsOnDisk {
		words[1] = "disk"
	}
	if w.IsGated {
		words = append(words, "gate")
	}
	return strings.Join(words, ", ")
}

// Cell is the result of a row in a way.
type Cell struct{ Wrote, Lost, Twice int }

// String is the cell as the table has it.
func (c Cell) String() string {
	text := "0"
	if c.Lost > 0 {
		text = fmt.Sprintf("**%d** of %d", c.Lost, c.Wrote)
	}
	if c.Twice > 0 {
		text += fmt.Sprintf(", %d twice", c.Twice)
	}
	return text
}

// None is the text of a cell without a test.
const None = "–"

// Table has the cells of a page by the name of the row and the title of the column. A cell has the letters of its
// notes, such as "**3** of 500 (a) (b)".
type Table map[string]map[string]string

var notes = regexp.MustCompile(`( \([a-z]\))+$`)

// Notes returns the letters of a cell's notes, each after a space.
func Notes(text string) string { return notes.FindString(text) }

// IsPromise returns whether a cell's text promises that no line is lost. A cell with a note may be chance.
func IsPromise(text string) bool { return !isLossy(text) && Notes(text) == "" }

func isLossy(text string) bool {
	return text != "0" && !strings.HasPrefix(text, "0 ") && !strings.HasPrefix(text, "0,")
}

func titles() []string {
	all := []string{"What happens"}
	for _, way := range Ways() {
		all = append(all, way.String())
	}
	return all
}

// Set sets a cell.
func (t Table) Set(row, column, text string) {
	if t[row] == nil {
		t[row] = map[string]string{}
	}
	t[row][column] = text
}

// Markdown is the table of these rows.
func (t Table) Markdown() string {
	var text strings.Builder
	line := func(cells []string) {
		for _, cell := range cells {
			text.WriteString(strings.TrimSuffix("| "+cell, " ") + " ")
		}
		text.WriteString("|\n")
	}
	line(titles())
	line(slices.Repeat([]string{"---"}, len(titles())))
	for _, row := range Rows() {
		cells := []string{row.Name}
		for _, column := range titles()[1:] {
			cells = append(cells, t[row.Name][column])
		}
		line(cells)
	}
	return text.String()
}

// Find returns the table of a page and its text. The names of rows are those of the page.
func Find(page string) (t Table, text string, err error) {
	head := "| " + strings.Join(titles(), " | ") + " |\n"
	_, after, found := strings.Cut(page, head)
	if !found {
		return nil, "", fmt.Errorf("no line %q", head)
	}
	t, text = Table{}, head
	for line := range strings.Lines(after) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		text += line
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		if len(cells) != len(titles()) {
			return nil, "", fmt.Errorf("%d cells, want %d, in %q", len(cells), len(titles()), line)
		}
		name := strings.TrimSpace(cells[0])
		if name == "---" {
			continue
		}
		for i, cell := range cells[1:] {
			t.Set(name, titles()[i+1], strings.TrimSpace(cell))
		}
	}
	return t, text, nil
}
