// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package delivery_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/node/delivery"
)

// docs/explanation/delivery.md has the rows of this test suite. A row in which lines may be lost has a note with the
// reason.
func TestRows_EqualTableOfDeliveryPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/explanation/delivery.md")
	require.NoError(t, err)
	table, text, err := delivery.Find(string(page))
	require.NoError(t, err)
	require.Equal(t, table.Markdown(), text, "rows of the page, and of the suite")
	for _, row := range delivery.Rows() {
		for _, way := range delivery.Ways() {
			cell := table[row.Name][way.String()]
			if !row.Has(way) {
				require.Equal(t, delivery.None, cell, "row %q, %s", row.Name, way)
				continue
			}
			require.NotEmpty(t, cell, "row %q, %s", row.Name, way)
			for _, note := range strings.Fields(delivery.Notes(cell)) {
				require.Contains(t, string(page), "\n- "+note+" ", "row %q, %s", row.Name, way)
			}
			require.True(t, delivery.IsPromise(cell) || delivery.Notes(cell) != "", "row %q, %s: no note explains %q", row.Name, way, cell)
		}
	}
}

// Each case is a measurement, and the text of its cell in the table of docs/explanation/delivery.md.
func TestCell_PrintsLostAndDuplicateLines(t *testing.T) {
	for want, cell := range map[string]delivery.Cell{
		"0":                   {Wrote: 500},
		"0, 12 twice":         {Wrote: 500, Twice: 12},
		"**3** of 500":        {Wrote: 500, Lost: 3},
		"**3** of 9, 1 twice": {Wrote: 9, Lost: 3, Twice: 1},
	} {
		require.Equal(t, want, cell.String())
		require.Equal(t, cell.Lost == 0, delivery.IsPromise(want))
		require.False(t, delivery.IsPromise(want+" (a)"))
		require.Equal(t, " (a) (b)", delivery.Notes(want+" (a) (b)"))
	}
}
