// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command figures counts how the code is built: packages, the way from an event to a
// patch, arrows between files, lengths, exports. It prints a table in Markdown, so that
// what a change of the structure has done can be read off two of them:
//
//	go run ./test/arch/figures
//
// What it counts is what people have to read, and no measure of quality by itself.
package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "counting:", err)
		os.Exit(1)
	}
}

// figure is a row of the table.
type figure struct {
	name, value string
}

func run(out io.Writer) error {
	code, err := load()
	if err != nil {
		return err
	}
	texts, err := countTexts()
	if err != nil {
		return err
	}
	rows := slices.Concat(code.packageFigures(), code.pathFigures(), code.arrowFigures(), code.sizeFigures(), texts)
	width := len(slices.MaxFunc(rows, func(a, b figure) int { return cmp.Compare(len(a.name), len(b.name)) }).name)
	if _, err := fmt.Fprintf(out, "| %-*s | figure |\n|%s|---|\n", width, "what", strings.Repeat("-", width+2)); err != nil {
		return err
	}
	for _, row := range rows {
		if _, err := fmt.Fprintf(out, "| %-*s | %s |\n", width, row.name, row.value); err != nil {
			return err
		}
	}
	return nil
}

// spread is the middle of some numbers, what nine of ten do not exceed, and the largest.
func spread(numbers []int) string {
	if len(numbers) == 0 {
		return "none"
	}
	slices.Sort(numbers)
	last := len(numbers) - 1
	return fmt.Sprintf("%d at the median, %d at 90 %%, %d at most", numbers[last/2], numbers[last*9/10], numbers[last])
}
