// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"errors"
	"math/rand/v2"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// atOnce is the number of workloads that are tested concurrently. Each of them mostly waits.
const atOnce = 16

// For each generated workload and each sample sidecar, the offline merge equals the operator's result on a real API
// server. After the removal, only the fields of the application are left, unchanged.
func TestMerger_EqualsResultOfAPIServer(t *testing.T) {
	by := *seed
	if by == 0 {
		by = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", by)
	isAsked, err := regexp.Compile(*only)
	require.NoError(t, err)
	samples := loadSamples(t)
	runs := make(chan *course)
	var group sync.WaitGroup
	var sum tally
	for range atOnce {
		group.Go(func() {
			for one := range runs {
				sum.add(t, one.pair(), one.run(t.Context()))
			}
		})
	}
	workloads := 0
	for _, kind := range Kinds() {
		for _, needsLogs := range []bool{false, true} {
			drawn := draw(t, kind, by, needsLogs)
			workloads += len(drawn)
			for i := range drawn {
				for _, sample := range samples {
					if sample.needsLogs == needsLogs && isAsked.MatchString(drawn[i].About) {
						runs <- newCourse(sample, &drawn[i])
					}
				}
			}
		}
	}
	close(runs)
	group.Wait()
	t.Logf("seed %d: %d workloads, %d sidecars, %d pairs, of which %d take the sidecar (%v, each in twice and out twice), by kind %v, and %d that no definition has: %d differences",
		by, workloads, len(samples), sum.pairs, sum.injected, sum.byKind, sum.pairsByKind, sum.undefined, sum.differences)
	require.Positive(t, sum.injected)
	if *only != "" {
		return // It may match workloads that some samples do not take.
	}
	require.Len(t, sum.byKind, len(Kinds()), "every kind takes a sidecar")
	require.Len(t, sum.byName, len(samples), "every sample has a workload that takes it: %v", sum.byName)
}

// draw picks half of the workloads with one field, and half with combinations. If few are requested, most are
// Deployments.
func draw(t *testing.T, kind *Kind, by uint64, needsLogs bool) []Workload {
	t.Helper()
	base, isFirst := Bare(), kind.Name == Kinds()[0].Name
	if needsLogs {
		base = Logging()
	}
	all, err := Singles(kind, base)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(by, 1))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	combined := len(all)
	if *number > 0 {
		combined = (*number + 3) / 4
		all = all[:combined]
	}
	more, err := Random(kind, by, combined, base)
	require.NoError(t, err)
	if *number > 0 && *number <= few && !isFirst {
		if needsLogs {
			return more[:1]
		}
		return all[:1]
	}
	return append(all, more...)
}

// few is the number of workloads up to which the other kinds have only two each.
const few = 8

// tally counts the results of the pairs of a workload and a sidecar.
type tally struct {
	mu                           sync.Mutex
	pairs, injected, differences int
	// undefined counts the pairs with a value that a CustomResourceDefinition does not have or accept.
	undefined                   int
	byName, byKind, pairsByKind map[string]int
}

// perLine is the number of pairs between two lines of progress.
const perLine = 500

// add reports each difference immediately, because the whole test may take an hour.
func (s *tally) add(t *testing.T, pair string, result outcome) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pairs++; s.pairs == 1 {
		s.byName, s.byKind, s.pairsByKind = map[string]int{}, map[string]int{}, map[string]int{}
	}
	s.pairsByKind[result.kind]++
	if result.isUndefined {
		s.undefined++
	}
	if result.injected {
		s.injected++
		s.byName[result.sidecar]++
		s.byKind[result.kind]++
	}
	for _, text := range result.differences {
		s.differences++
		t.Errorf("%s\n%s", pair, text)
	}
	if s.pairs%perLine == 0 {
		t.Logf("%d pairs, %d differences", s.pairs, s.differences)
	}
}

// names numbers the workloads, so that each has its own name.
var names atomic.Int64

// outcome is the result of one pair.
type outcome struct {
	sidecar     string
	kind        string
	injected    bool
	isUndefined bool
	differences []string
}

// run tests a workload: its owners create it, the operator injects it and removes the sidecar.
func (c *course) run(ctx context.Context) outcome {
	result := outcome{sidecar: c.sample.sidecar.Name, kind: c.workload.Kind.Name}
	err := c.make(ctx)
	if errors.Is(err, errUndefined) {
		result.isUndefined, err = true, nil
	} else if err == nil {
		result.injected, err = c.takes(ctx)
	}
	if result.injected {
		err = c.live(ctx)
	}
	if err != nil {
		result.differences = append(result.differences, err.Error())
	}
	if err := c.delete(ctx); err != nil {
		result.differences = append(result.differences, err.Error())
	}
	return result
}

// live injects and removes the sidecar twice. The second time, the owner deploys in between. A workload that this
// pauses, for example, gets no sidecar.
func (c *course) live(ctx context.Context) error {
	if err := c.inject(ctx); err != nil {
		return err
	}
	if err := c.giveBack(ctx); err != nil {
		return err
	}
	if takes, err := c.takesAgain(ctx); err != nil || !takes {
		return err
	}
	if err := c.redeployed(ctx); err != nil {
		return err
	}
	return c.giveBack(ctx)
}
