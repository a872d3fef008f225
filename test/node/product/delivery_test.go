// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/node/delivery"
)

// page is where the table stands that this suite prints.
const page = root + "/docs/explanation/delivery.md"

// Which rows are tried, by the variable ROWS: those for every change; "all" of them; or
// "write", all of them, and the page gets what was seen.
var rows = os.Getenv("ROWS")

// table is what was seen.
type table struct {
	sync.Mutex
	delivery.Table
}

// No line is lost when pods terminate, and the termination takes the expected time. Both parts run one after the other,
// because their pods share the node's CPU.
func TestProduct_LosesNoLinesAtPodTermination(t *testing.T) {
	installed(t)
	t.Run("no line is lost", testNoLineIsLost)
	t.Run("the drain has its price", testDrains)
}

// Where docs/explanation/delivery.md promises that no line is lost, without a note, no line is lost. Its other results were
// measured once and may be chance.
func testNoLineIsLost(t *testing.T) {
	said, _, _ := promised(t)
	seen := &table{Table: delivery.Table{}}
	t.Run("of pods", func(t *testing.T) { tryRows(t, seen, said, false) })
	t.Run("of the node", func(t *testing.T) { tryRows(t, seen, said, true) })
	t.Logf("of %s:\n%s", shipper(), seen.Markdown())
	if rows == "write" {
		said, text, old := promised(t)
		seen.keep(said)
		require.NoError(t, os.WriteFile(page, []byte(strings.Replace(text, old, seen.Markdown(), 1)), 0o644))
	}
}

// keep takes from what the page says the notes, and the cells that were not tried.
func (s *table) keep(said delivery.Table) {
	for _, row := range delivery.Rows() {
		for _, way := range delivery.Ways() {
			before, now := said[row.Name][way.String()], s.Table[row.Name][way.String()]
			if now == "" {
				s.Set(row.Name, way.String(), before)
			} else {
				s.Set(row.Name, way.String(), now+delivery.Notes(before))
			}
		}
	}
}

// promised is what the page says, and its whole text and the table in it.
func promised(t *testing.T) (said delivery.Table, text, table string) {
	t.Helper()
	read, err := os.ReadFile(page)
	require.NoError(t, err)
	said, table, err = delivery.Find(string(read))
	require.NoError(t, err)
	return said, string(read), table
}

// tryRows tries the rows that are to be tried, those that need the whole node or the
// others, side by side.
func tryRows(t *testing.T, seen *table, said delivery.Table, isLast bool) {
	for _, row := range delivery.Rows() {
		s := scenarios()[row.Name]
		require.NotNil(t, s, row.Name)
		for _, way := range delivery.Ways() {
			if !row.Has(way) {
				seen.Set(row.Name, way.String(), delivery.None)
				continue
			}
			if s.isLast != isLast || !isTried(row, way) {
				continue
			}
			t.Run(row.Name+", "+way.String(), func(t *testing.T) {
				t.Parallel()
				found := tryCell(t, way, s)
				t.Logf("of %d lines %d are lost, and %d came twice", found.Wrote, found.Lost, found.Twice)
				seen.Lock()
				seen.Set(row.Name, way.String(), found.String())
				seen.Unlock()
				if rows != "write" && delivery.IsPromise(said[row.Name][way.String()]) {
					require.Zero(t, found.Lost, "lines are lost, and %s says that none is", page)
				}
			})
		}
	}
}

func isTried(row delivery.Row, way delivery.Way) bool {
	switch {
	case vector == "":
		return row.IsForAny && !way.IsOnDisk
	case rows != "":
		return true
	}
	return row.IsQuick && !way.IsOnDisk
}

func tryCell(t *testing.T, way delivery.Way, s *scenario) delivery.Cell {
	t.Helper()
	c := newCell(t, way, s)
	if s.instead != nil {
		s.instead(c)
	} else {
		c.start()
		if s.happens != nil {
			s.happens(c)
		}
	}
	return c.end()
}

// shipper is what the figures are of.
func shipper() string {
	if vector == "" {
		return "the stand-in"
	}
	return "Vector"
}
