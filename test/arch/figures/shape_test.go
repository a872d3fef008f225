// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"testing"

	"github.com/stretchr/testify/require"
)

// The figures count types, functions, locks and other parts of the code in the sample package.
func TestShape_CountsTypesAndFunctions(t *testing.T) {
	product := checked(t, "internal/plan", `package plan

import (
	"sync"
	"sync/atomic"
)

type Flag bool

type Plan struct {
	a, b bool
	c    Flag
	d    string
	*Other
}

type Other struct {
	lock   sync.Mutex
	counts map[string]*atomic.Int64
	plain  sync.Once
	Plan2
}

type Plan2 struct{ x bool }

var m, n sync.RWMutex

func (o *Other) isSet() bool { return o != nil }

func (o *Other) isOf(p *Plan) bool { return p == nil && o.counts != nil }

func of() {}

func renderedBy() {}

func planned() {}

func feed() {}
`, "cmd/a", "package main\n\ntype T struct{ *U }\ntype U struct{}\n")
	s := &shape{vague: map[string]bool{"of": true}}
	for file := range product.internalFiles() {
		s.addFile(file)
	}
	require.Equal(t, &shape{
		vague: s.vague, structs: 3, structsWithPointer: 1, planFields: 5, planBools: 3, locks: 4, functions: 6, vagueFunctions: 2, methodsThatCompareReceiverWithNil: 1,
	}, s)
}

func TestCountCodeLines_SkipsCommentsAndBlankLines(t *testing.T) {
	require.Equal(t, 5, countCodeLines([]byte("// Package a.\npackage a // end\n\n/* b\n*/\nvar a = `1\n\n2`\nvar b int\n")))
}

// The figure counts the condition reasons that the code compares, each once.
func TestReasonsCompared_CountEachReason(t *testing.T) {
	const meta = `package meta
const (
	ReasonHeld      = "Held"
	ReasonLate      = "Late"
	ReasonOOMKilled = "OOMKilled"
	Other           = "Other"
)
`
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"equality":                  {`_ = r == meta.ReasonHeld || meta.ReasonLate != r`, 2},
		"a literal":                 {`_ = r == "Held"`, 1},
		"another literal":           {`_ = r == "held"`, 0},
		"the kubelet's reason":      {`_ = r == meta.ReasonOOMKilled`, 0},
		"another constant":          {`_ = r == meta.Other`, 0},
		"cases":                     {`switch r { case meta.ReasonHeld, "Late": case "x": }`, 2},
		"a map":                     {`_ = map[string]int{meta.ReasonHeld: 1}[meta.ReasonLate]`, 2},
		"a list":                    {`_ = slices.Contains([]string{meta.ReasonHeld, meta.ReasonLate}, r)`, 2},
		"a value that is looked up": {`_ = slices.Contains([]string{r}, meta.ReasonHeld)`, 1},
		"an assignment":             {`r = meta.ReasonHeld`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			source := fmt.Sprintf("import (\n\"slices\"\n%q\n)\nvar _ = slices.Contains[[]string]\nfunc f(r string) { %s; _ = meta.Other }\n", module+"/internal/meta", c.body)
			for folder, want := range map[string]int{"decision": c.want, "status": 0} {
				figures := checked(t, "internal/meta", meta, "internal/"+folder, "package a\n"+source).reasonFigures()
				require.Equal(t, []figure{countBar("reason_comparisons", want)}, figures)
			}
		})
	}
}

// The figure counts functions of package meta that check a reason.
func TestReasonFigures_CountPredicatesOfMeta(t *testing.T) {
	const meta = `package meta
type Reason string
func IsHeld(reason string) bool { return false }
func (r Reason) IsLate() bool   { return false }
func IsBig(size int) bool       { return false }
`
	require.Equal(t, []figure{countBar("reason_comparisons", 2)}, checked(t, "internal/meta", meta).reasonFigures())
}

// The figures count background loops, and the channels between them.
func TestLoopFigures_CountLoopsAndChannels(t *testing.T) {
	const controller = `package controller
import "context"
type a struct{}
func (a) Start(ctx context.Context) error { return every(func() {}) }
type b struct{}
func (b) Start() error { return nil }
func (b) Stop(ctx context.Context) error { return nil }
func every(func()) error { return nil }
type objectKey string
type word string
func channels() {
	_ = make(chan struct{}, 1)
	_ = make(chan *b)
	_ = make(chan objectKey)
	_ = make(chan word)
	_ = make([]b, 1)
}
`
	product := checked(t, "internal/controller", controller)
	require.Equal(t, []figure{
		count("types_with_start", 1), count("calls_of_every", 1), countBar("loops", 2), countBar("controller_backoffs_and_limiters", 0), countBar("controller_wake_channels", 3),
	}, product.loopFigures())
}

// Backoffs and rate limiters of libraries are found by their names. If the product has none, the names in the test are
// outdated.
func TestIsLimiter_FindsLimitersOfProduct(t *testing.T) {
	product, err := loaded()
	require.NoError(t, err)
	limiters := 0
	for file := range product.internalFiles() {
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			limiters += toInt(isLimiter(file.info(), node))
			return true
		})
	}
	require.Positive(t, limiters, "libraries have other names for backoffs and limiters now")
}
