// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"kontroloop.ai/vector-sidecar-operator/test/faults/wire"
)

// short are the scenarios that make test-integration runs.
var short = []string{"inject before init containers", "inject with mounts before init containers", "delete"}

// Faults at every write; at some writes of each kind; and once each, at the first and the last write of a kind. The
// last write often finishes several requests of one change.
var (
	everywhere = []wire.Effect{wire.CrashBefore, wire.CrashAfter, wire.LoseAnswer, wire.CutRequest}
	inShort    = []wire.Effect{wire.CrashBefore, wire.CrashAfter, wire.LoseAnswer}
	atFew      = []wire.Effect{wire.CrashIntoPast}
	onceEach   = []wire.Effect{
		wire.Answer(http.StatusForbidden), wire.Answer(http.StatusConflict), wire.Answer(http.StatusUnprocessableEntity), wire.Answer(http.StatusTooManyRequests),
		wire.Answer(http.StatusInternalServerError), wire.Answer(http.StatusServiceUnavailable), wire.Answer(http.StatusGatewayTimeout),
	}
	watches = []wire.Effect{wire.SlowAnswer, wire.HoldWatches, wire.CutWatches, wire.ExpireWatches}
)

// few is the number of writes of a kind that the faults in atFew use.
const few = 10

// Each scenario runs once without a fault, and then with each fault at each write. All runs end in the same state.
func TestFaults_DoNotChangeFinalState(t *testing.T) {
	swept := chosen(t)
	held := readWrites(t)
	began := time.Now()
	learned := learn(t, swept)
	if *update {
		writeWrites(t, held, learned)
		return
	}
	var jobs []*job
	for i := range swept {
		s := &swept[i]
		if learned[s.name] == nil {
			continue
		}
		requireWrites(t, s.name, held[s.name], learned[s.name].writes)
		jobs = append(jobs, jobsOf(s, learned[s.name], held)...)
	}
	perform(t, jobs)
	report(t, swept, learned, jobs, time.Since(began))
}

// chosen returns the scenarios of this run.
func chosen(t *testing.T) []scenario {
	t.Helper()
	every := scenarios()
	names := map[string]bool{}
	for i := range every {
		require.False(t, names[every[i].name], "two scenarios are named %q", every[i].name)
		names[every[i].name] = true
	}
	pattern, err := regexp.Compile(*only)
	require.NoError(t, err)
	return slices.DeleteFunc(every, func(s scenario) bool {
		return !pattern.MatchString(s.name) || !*full && *only == "" && !slices.Contains(short, s.name)
	})
}

// learn runs each scenario twice without a fault. Values that differ between these runs cannot be compared.
func learn(t *testing.T, swept []scenario) map[string]*course {
	t.Helper()
	var mu sync.Mutex
	learned := map[string]*course{}
	group := errgroup.Group{}
	group.SetLimit(*parallel)
	for i := range swept {
		s := &swept[i]
		group.Go(func() error {
			took, err := learnOne(t.Context(), &game{scenario: s})
			if err != nil {
				t.Errorf("%s, without a fault: %v", s.name, err)
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			learned[s.name] = took
			return nil
		})
	}
	_ = group.Wait() // Its functions report to the test.
	return learned
}

// learnOne runs a game twice and returns the common result.
func learnOne(ctx context.Context, g *game) (*course, error) {
	first, err := play(ctx, g)
	if err != nil {
		return nil, err
	}
	again, err := play(ctx, g)
	if err != nil {
		return nil, err
	}
	if g.scenario.races {
		first.states, again.states = first.ends, again.ends
	}
	return first.least(again), sameCourse(first, again)
}

// sameCourse returns how two runs without a fault differ.
func sameCourse(first, again *course) error {
	for i := range first.states {
		if differs := differences(first.states[i], again.states[i]); differs != "" {
			return fmt.Errorf("two runs differ at the end of step %d:\n%s", i, differs)
		}
	}
	for name, templates := range first.rollouts {
		if !slices.Equal(templates, again.rollouts[name]) {
			return fmt.Errorf("two runs differ in the rollouts of %s: %d and %d", name, len(templates)-1, len(again.rollouts[name])-1)
		}
	}
	for kind, n := range first.writes {
		if m := again.writes[kind]; n != m && !isOfVersion(kind) {
			return fmt.Errorf("two runs differ in their writes: %s, %d and %d", kind, n, m)
		}
	}
	return nil
}

// least returns the course with the lower numbers of writes.
func (c *course) least(other *course) *course {
	for kind, n := range other.writes {
		c.writes[kind] = min(n, cmp.Or(c.writes[kind], n))
	}
	return c
}

// isOfVersion returns whether the number of a kind's writes depends on timing. Such a write is for one version of an
// object. It is repeated if the Deployment controller was faster, or if the cache lags behind the operator's own
// write. The number of status writes grows with the duration of a rollout, and changes of an OverlaySet are written
// together.
func isOfVersion(kind string) bool {
	return strings.Contains(kind, "merge patch") || strings.Contains(kind, "/status") || kind == "update overlaysets" || strings.HasPrefix(kind, "JSON patch") || strings.HasPrefix(kind, "delete")
}

// job is one run with a fault.
type job struct {
	game
	err error
}

// jobsOf returns the runs of a scenario.
func jobsOf(s *scenario, should *course, held map[string]map[string]int) []*job {
	var jobs []*job
	put := func(kind string, n int, effects []wire.Effect) {
		for _, effect := range effects {
			fault := &wire.Fault{At: wire.Write{Kind: kind, N: n}, Effect: effect}
			jobs = append(jobs, &job{game: game{scenario: s, should: should, fault: fault}})
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(should.writes)) {
		n := should.writes[kind]
		if isOfVersion(kind) && held[s.name][kind] > 0 {
			n = held[s.name][kind]
		}
		effects := everywhere
		if !*full {
			effects = inShort
		}
		for i := range n {
			put(kind, i+1, effects)
		}
		if !*full {
			continue
		}
		put(kind, 1, onceEach)
		if strings.HasSuffix(kind, "/status") {
			continue
		}
		put(kind, 1, watches)
		for i := range min(n, few) {
			put(kind, i+1, atFew)
		}
		if n > 1 && !strings.HasSuffix(kind, "vectorsidecars") {
			put(kind, n, onceEach)
		}
	}
	return jobs
}

// perform runs jobs in parallel.
func perform(t *testing.T, jobs []*job) {
	t.Helper()
	group, done := errgroup.Group{}, atomic.Int32{}
	group.SetLimit(*parallel)
	for _, j := range jobs {
		group.Go(func() error {
			j.perform(t.Context())
			if n := int(done.Add(1)); n%100 == 0 {
				t.Logf("%d of %d runs are over", n, len(jobs))
			}
			if j.err != nil && !j.isMissed() {
				t.Errorf("%s: %s: %s", j.scenario.name, j.fault, shortened(j.err.Error()))
			}
			return nil
		})
	}
	_ = group.Wait() // Its functions report to the test.
}

// perform retries if the write with the fault depends on timing and did not happen.
func (j *job) perform(ctx context.Context) {
	for range 3 {
		_, j.err = play(ctx, &j.game)
		if !j.isMissed() {
			return
		}
	}
}

// isMissed returns whether the write with the fault did not happen, because it depends on timing.
func (j *job) isMissed() bool {
	return errors.Is(j.err, errNotReached) && isOfVersion(j.fault.At.Kind)
}

// shortened limits a string to 80 lines.
func shortened(text string) string {
	const most = 80
	if all := lines(text); len(all) > most {
		return strings.Join(append(all[:most], "…"), "\n")
	}
	return text
}

// report logs the results.
func report(t *testing.T, swept []scenario, learned map[string]*course, jobs []*job, took time.Duration) {
	t.Helper()
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(name string, writes, runs, missed, broken any) {
		_, _ = fmt.Fprintf(table, "%v\t%v\t%v\t%v\t  %s\n", writes, runs, missed, broken, name)
	}
	line("scenario", "writes", "runs", "missed", "broken")
	var writes, runs, missed, broken int
	for i := range swept {
		name := swept[i].name
		if learned[name] == nil {
			line(name, "-", "-", "-", "without a fault")
			broken++
			continue
		}
		w, r, m, k := 0, 0, 0, 0
		for _, n := range learned[name].writes {
			w += n
		}
		for _, j := range jobs {
			switch {
			case j.scenario.name != name:
				continue
			case j.isMissed():
				m++
			case j.err != nil:
				k++
			}
			r++
		}
		line(name, w, r, m, k)
		writes, runs, missed, broken = writes+w, runs+r, missed+m, broken+k
	}
	line(fmt.Sprintf("%d scenarios in %s", len(swept), took.Round(time.Second)), writes, runs, missed, broken)
	_ = table.Flush() // It writes to memory.
	fmt.Fprintf(os.Stdout, "%s", b.String())
}
