// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command figures measures the structure and the language of the code: packages, imports, the code that a reconcile can
// reach, names, comments, lengths, exports. It prints one figure per line, as NAME VALUE:
//
//	go run ./test/arch/figures
//
// Some figures are bars: recorded.txt has a number for each that only falls, and the test fails if the figure rises. The
// flag -update lowers the record of the figures that fell.
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
)

func main() {
	update := flag.Bool("update", false, "lower the record to the figures that fell")
	flag.Parse()
	if err := run(os.Stdout, *update); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

// figure is a measured number.
type figure struct {
	name   string
	value  float64
	digits int
	// isBar reports whether the record has a line for the figure.
	isBar bool
}

func count(name string, value int) figure { return figure{name: name, value: float64(value)} }

func countBar(name string, value int) figure {
	return figure{name: name, value: float64(value), isBar: true}
}

func bar(name string, value float64, digits int) figure {
	return figure{name: name, value: value, digits: digits, isBar: true}
}

// text is the value as it is printed.
func (f figure) text() string { return strconv.FormatFloat(f.value, 'f', f.digits, 64) }

// rounded is the value to the digits that are printed.
func (f figure) rounded() float64 {
	scale := math.Pow10(f.digits)
	return math.Round(f.value*scale) / scale
}

// ratio returns how many parts there are for a number of the whole, 0 of an empty whole.
func ratio(scale, parts, whole int) float64 {
	return float64(scale) * float64(parts) / float64(max(whole, 1))
}

func run(out io.Writer, isUpdate bool) error {
	repository, err := repositoryRoot()
	if err != nil {
		return err
	}
	product, err := load()
	if err != nil {
		return err
	}
	files, err := parseModule(os.DirFS(repository))
	if err != nil {
		return err
	}
	figures, err := measure(repository, product, files)
	if err != nil {
		return err
	}
	for _, measured := range figures {
		if _, err := fmt.Fprintln(out, measured.name, measured.text()); err != nil {
			return err
		}
	}
	if isUpdate {
		return lowerRecord(repository, figures)
	}
	return nil
}

// measure returns all figures.
func measure(repository string, product *code, files []*goFile) ([]figure, error) {
	figures := slices.Concat(
		product.packageFigures(), product.arrowFigures(), product.sizeFigures(), product.reasonFigures(), product.loopFigures(), testNameFigures(files))
	for _, measureSome := range []func() ([]figure, error){
		product.closureFigures,
		product.shapeFigures,
		func() ([]figure, error) { return nameFigures(files) },
		func() ([]figure, error) { return commentFigures(files) },
		func() ([]figure, error) { return wordingFigures(os.DirFS(repository), files) },
		func() ([]figure, error) { return limitFigures(repository) },
		func() ([]figure, error) { return countTexts(os.DirFS(repository)) },
	} {
		some, err := measureSome()
		if err != nil {
			return nil, err
		}
		figures = append(figures, some...)
	}
	return figures, nil
}

// spread returns the median of some numbers, the number that 90 % of them do not exceed, and the maximum.
func spread(name string, numbers []int) []figure {
	if len(numbers) == 0 {
		return nil
	}
	slices.Sort(numbers)
	last := len(numbers) - 1
	return []figure{
		count(name+"_median", numbers[last/2]),
		count(name+"_90th_percentile", numbers[last*9/10]),
		count(name+"_max", numbers[last]),
	}
}
