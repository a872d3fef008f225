// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bombs

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// The limits of a bomb's cost.
const (
	mostMemory = 64 << 20
	mostCPU    = time.Second
	// tooLong is the time after which a bomb without a status counts as never checked.
	tooLong = 20 * time.Second
)

// cost is the cost of some bombs of a kind for the operator, beyond the operator at rest.
type cost struct {
	// memory is the maximum at any time.
	memory int64
	cpu    time.Duration
	// fate says how the operator ended, "" if it runs.
	fate string
}

// String returns a cell of the table.
func (c cost) String() string {
	text := fmt.Sprintf("%4d MiB, %5.2f s", c.memory>>20, c.cpu.Seconds())
	if c.fate != "" {
		text += ", " + c.fate
	}
	return text
}

// measured returns the cost of running confront, which returns when all bombs are checked.
func measured(t *testing.T, confront func(*running) bool) cost {
	t.Helper()
	o := start(t)
	require.True(t, o.until(t.Context(), harness.Patience, o.isReady), "it does not start")
	o.warm(t)
	rest, err := harness.Memory(o.Pid(), "VmRSS")
	require.NoError(t, err)
	before, err := harness.CPU(o.Pid())
	require.NoError(t, err)
	require.NoError(t, harness.ForgetMost(o.Pid()))
	var found cost
	look := func(context.Context) bool {
		most, err := harness.Memory(o.Pid(), "VmHWM")
		if used, failure := harness.CPU(o.Pid()); err == nil && failure == nil {
			found.memory, found.cpu = most-rest, used-before
		}
		return false
	}
	watching, stop := context.WithCancel(t.Context())
	var watch sync.WaitGroup
	watch.Go(func() { o.until(watching, time.Hour, look) })
	isJudged := confront(o)
	if isJudged && !o.rest(t, tooLong) {
		found.fate = "goes on computing"
	}
	stop()
	watch.Wait()
	switch {
	case !o.lives():
		found.fate = "killed"
	case !isJudged:
		found.fate = fmt.Sprintf("no answer within %s", tooLong)
	}
	if o.lives() {
		look(t.Context())
	}
	o.Kill()
	return found
}

// cost measures count bombs of a kind, each in its own namespace.
func (b *bomb) cost(t *testing.T, count int) cost {
	t.Helper()
	var found cost
	t.Run(fmt.Sprintf("%s, %d", b.name, count), func(t *testing.T) {
		var namespaces []string
		for range count {
			namespaces = append(namespaces, world.Namespace(t))
		}
		found = measured(t, func(o *running) bool {
			for _, namespace := range namespaces {
				b.plant(t, namespace)
			}
			for _, namespace := range namespaces {
				if !o.until(t.Context(), tooLong, func(ctx context.Context) bool { return reportedSidecar(ctx, namespace) != nil }) {
					return false
				}
			}
			return true
		})
	})
	return found
}

// The test prints the memory and CPU time of each excessive input. It runs only in make bombs.
func TestLimits_MeasureCostOfEachInput(t *testing.T) {
	if !*full {
		t.Skip("only in make bombs")
	}
	var table strings.Builder
	for _, b := range chosen() {
		alone, together := b.cost(t, 1), b.cost(t, 10)
		fmt.Fprintf(&table, "| %s | %d | %s | %s |\n", b.name, len(b.text), alone, together)
	}
	t.Logf("\n| input | bytes | alone: memory, CPU | ten at once |\n|---|---|---|---|\n%s", &table)
}
