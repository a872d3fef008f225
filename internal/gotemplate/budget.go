// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"context"
	"fmt"
	"time"
)

// Budget limits one execution. A field that is 0 or less has its default. With the defaults, an execution
// allocates less than 64 MiB in total and takes less than a second. A typical chart needs at most a tenth of
// the budget.
type Budget struct {
	// Steps is the maximum number of actions, iterations, function calls and visited values. The default is
	// 100,000.
	Steps int
	// Depth is the maximum nesting depth of include, template and tpl, and of a value that a function
	// traverses. The default is 100.
	Depth int
	// Nodes is the maximum number of scalars, maps and lists in one value, and of pieces into which one call
	// splits a text. The default is 50,000.
	Nodes int
	// Bytes is the maximum size of one text in bytes: the output, or the result of a function. The default is 2
	// MiB.
	Bytes int
	// Memory is the maximum sum of all allocations in bytes, by a conservative estimate. The default is 32 MiB.
	Memory int
	// Timeout is the maximum processor time. The default is 750 ms.
	Timeout time.Duration
}

// These constants are the names of the bounds in Error.Budget.
const (
	boundSteps  = "steps"
	boundDepth  = "depth"
	boundNodes  = "nodes"
	boundBytes  = "bytes"
	boundMemory = "memory"
	boundTime   = "time"
)

// withDefaults returns the budget with the defaults of fields that are 0 or less.
func (b Budget) withDefaults() Budget {
	fill := func(field *int, value int) {
		if *field <= 0 {
			*field = value
		}
	}
	fill(&b.Steps, 100_000)
	fill(&b.Depth, 100)
	fill(&b.Nodes, 50_000)
	fill(&b.Bytes, 2<<20)
	fill(&b.Memory, 32<<20)
	if b.Timeout <= 0 {
		b.Timeout = 750 * time.Millisecond
	}
	return b
}

// boundError is the error of an execution that exceeds a bound. frame.fail converts it to an Error.
type boundError struct {
	bound   string
	message string
	cause   error
}

func (e *boundError) Error() string { return e.message }
func (e *boundError) Unwrap() error { return e.cause }

func overBudget(bound, format string, args ...any) error {
	return &boundError{bound: bound, message: fmt.Sprintf(format, args...)}
}

// meter measures the budget that one execution has used.
type meter struct {
	ctx    context.Context
	budget Budget
	steps  int
	memory int
	clock  clock
	// checked is the number of steps at the last check of the time. nextCheck is the time at which the clock is
	// read again, because the timeout cannot be reached earlier.
	checked   int
	nextCheck time.Time
	// watch records which values the templates read. It is in the meter because guards know which arguments a call
	// reads.
	watch watch
}

// newMeter returns a meter for an execution that starts now.
func newMeter(ctx context.Context, budget Budget) *meter {
	m := &meter{ctx: ctx, budget: budget, clock: startClock()}
	m.nextCheck = m.clock.start.Add(budget.Timeout)
	return m
}

// stepsPerCheck is the number of steps between two checks of the time. A check takes some tens of microseconds.
const stepsPerCheck = 64

// addSteps counts steps, and checks the time after every stepsPerCheck steps. It returns an error if a bound is
// exceeded.
func (m *meter) addSteps(n int) error {
	if n < 0 || n > m.budget.Steps-m.steps {
		return overBudget(boundSteps, "the templates take more than %d steps", m.budget.Steps)
	}
	m.steps += n
	if m.steps-m.checked < stepsPerCheck {
		return nil
	}
	m.checked = m.steps
	return m.checkContext()
}

// checkContext returns an error if the context is done or the timeout is exceeded.
func (m *meter) checkContext() error {
	if err := m.ctx.Err(); err != nil {
		return &boundError{bound: boundTime, message: "rendering was canceled: " + err.Error(), cause: err}
	}
	if time.Now().Before(m.nextCheck) {
		return nil
	}
	remaining := m.budget.Timeout - m.clock.elapsed()
	if remaining > 0 {
		m.nextCheck = time.Now().Add(remaining)
		return nil
	}
	return &boundError{bound: boundTime, message: fmt.Sprintf("rendering takes longer than %s", m.budget.Timeout), cause: context.DeadlineExceeded}
}

// allocate charges memory before it is allocated. It returns an error if the bound is exceeded.
func (m *meter) allocate(bytes int) error {
	if bytes < 0 || bytes > m.budget.Memory-m.memory {
		return overBudget(boundMemory, "the templates would allocate more than %d bytes in total", m.budget.Memory)
	}
	m.memory += bytes
	return nil
}

// checkTextSize returns an error if a text of this size in bytes would be too long. It does not charge memory.
func (m *meter) checkTextSize(bytes int) error {
	if bytes < 0 || bytes > m.budget.Bytes {
		return overBudget(boundBytes, "the text would be longer than %d bytes", m.budget.Bytes)
	}
	return nil
}

// allocatePieces charges memory for a list of count items with bytesEach bytes each. It returns an error if the list
// would be too long.
func (m *meter) allocatePieces(count, bytesEach int) error {
	if count < 0 || count > m.budget.Nodes {
		return overBudget(boundNodes, "the list would have more than %d items", m.budget.Nodes)
	}
	return m.allocate(saturatingProduct(count, bytesEach))
}

// saturatingProduct multiplies two sizes. If the result would overflow, it returns a large constant.
func saturatingProduct(a, b int) int {
	const top = 1 << 50
	if a <= 0 || b <= 0 {
		return 0
	}
	if a > top/b {
		return top
	}
	return a * b
}
