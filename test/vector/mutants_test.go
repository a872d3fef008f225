// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
)

var (
	seed = flag.Uint64("seed", 0, "which mutants Vector is asked about; 0 for any")
	most = flag.Int("mutants", 10_000, "how many mutants Vector is asked about")
)

// imageOf is the newest release of the tables.
const imageOf = "docker.io/timberio/vector:0.57.0-distroless-static"

// tally counts the mutants of a group.
type tally struct{ mutants, refused, caught, falselyRefused int }

func (m *mutant) text(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(m.config)
	require.NoError(t, err)
	return string(text)
}

// judged returns the errors of the check.
func (m *mutant) judged(t *testing.T) []vectorconfig.Finding {
	t.Helper()
	report, err := desired.VectorReader.Check(t.Context(), []vectorconfig.File{{Name: "vector.json", Text: m.text(t)}}, vectorconfig.Options{Image: imageOf})
	require.NoError(t, err)
	return vectorconfig.Errors(report.Findings)
}

func printTallies(t *testing.T, groups map[string]*tally) {
	t.Helper()
	for _, group := range []string{"right", "misspelled", "extra", "foreign", "form", "value", "missing"} {
		of := groups[group]
		t.Logf("%-10s %6d mutants, %6d refused, %6d of them caught, %3d falsely refused", group, of.mutants, of.refused, of.caught, of.falselyRefused)
	}
}

func grouped() map[string]*tally {
	return map[string]*tally{"right": {}, "misspelled": {}, "extra": {}, "foreign": {}, "form": {}, "value": {}, "missing": {}}
}

// A mutant is a configuration with one change. The check rejects each mutant that is invalid by its tables, and accepts
// each other one.
func TestCheck_RejectsInvalidMutants(t *testing.T) {
	mutants, groups := generate(), grouped()
	require.Greater(t, len(mutants), 10_000)
	var missed, refused []string
	for i := range mutants {
		m := &mutants[i]
		of, found := groups[m.group], m.judged(t)
		of.mutants++
		switch {
		case m.isRefused:
			of.refused++
			if len(found) > 0 {
				of.caught++
			} else {
				missed = append(missed, m.group+" "+m.path+": "+m.text(t))
			}
		case m.group == "right" && len(found) > 0:
			of.falselyRefused++
			refused = append(refused, m.path+": "+found[0].String()+": "+m.text(t))
		}
	}
	printTallies(t, groups)
	require.Empty(t, first(missed), "%d missed", len(missed))
	require.Empty(t, first(refused), "%d falsely refused", len(refused))
}

func first(all []string) []string { return all[:min(len(all), 20)] }

// seeded returns the seed of the flag, or a random one, and logs it.
func seeded(t *testing.T) uint64 {
	t.Helper()
	chosen := *seed
	if chosen == 0 {
		chosen = rand.Uint64()
	}
	t.Logf("seed %d", chosen)
	return chosen
}

// A mutant is a configuration with one change. The check accepts each mutant that Vector accepts, and rejects at least
// 99 % of those that Vector rejects.
func TestCheck_AgreesWithVectorOnMutants(t *testing.T) {
	vector, groups, chosen := program(t), grouped(), seeded(t)
	mutants := generate()
	rand.New(rand.NewPCG(chosen, 0)).Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
	mutants = mutants[:min(len(mutants), *most)]
	takes := validateMutants(t, vector, mutants)
	allowed := allowances(t)
	var missed, refused []string
	for i := range mutants {
		m := &mutants[i]
		of, found := groups[m.group], m.judged(t)
		of.mutants++
		switch {
		case !takes[i]:
			of.refused++
			if len(found) > 0 {
				of.caught++
			} else {
				missed = append(missed, m.group+" "+m.path)
			}
		case len(found) > 0 && !slices.ContainsFunc(allowed, func(a allowance) bool { return a.group == m.group && a.path == m.path }):
			of.falselyRefused++
			refused = append(refused, m.group+" "+m.path+": "+found[0].String()+": "+m.text(t))
		}
	}
	printTallies(t, groups)
	t.Logf("%d missed: %s", len(missed), strings.Join(first(missed), "; "))
	require.Empty(t, first(refused), "%d that Vector takes are refused", len(refused))
	for group, of := range groups {
		require.LessOrEqual(t, of.refused-of.caught, 1+of.refused/100, "%s: of those that Vector refuses, the check has to find 99 in a hundred", group)
	}
}

// validateMutants returns whether Vector accepts each of the mutants. The calls are parallel.
func validateMutants(t *testing.T, vector string, mutants []mutant) []bool {
	t.Helper()
	takes, next := make([]bool, len(mutants)), make(chan int)
	var workers sync.WaitGroup
	for worker := range runtime.GOMAXPROCS(0) {
		file := filepath.Join(t.TempDir(), fmt.Sprintf("%d.json", worker))
		workers.Go(func() {
			for i := range next {
				text, err := json.Marshal(mutants[i].config)
				if err == nil {
					err = os.WriteFile(file, text, 0o600)
				}
				takes[i] = err == nil && exec.CommandContext(t.Context(), vector, "--quiet", "validate", "--no-environment", file).Run() == nil
			}
		})
	}
	for i := range mutants {
		next <- i
	}
	close(next)
	workers.Wait()
	return takes
}

// allowance is a mutant that the check may reject although Vector accepts it.
type allowance struct{ group, path, reason, version, until string }

// allowances reads allowed.tsv: group, path, reason, Vector's version, and the day from which the entry must be
// reviewed.
func allowances(t *testing.T) []allowance {
	t.Helper()
	text, err := os.ReadFile("allowed.tsv")
	require.NoError(t, err)
	var all []allowance
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		columns := strings.Split(line, "\t")
		require.Len(t, columns, 5, "allowed.tsv: %q", line)
		all = append(all, allowance{columns[0], columns[1], columns[2], columns[3], columns[4]})
	}
	return all
}

// An allowance is an accepted difference between the check and Vector. Each has a reason, a version and an end date
// that has not passed.
func TestVector_AllowancesHaveReasonAndEndDate(t *testing.T) {
	for _, one := range allowances(t) {
		require.NotEmpty(t, one.reason, "%v", one)
		require.Regexp(t, `^0\.\d+\.\d+$`, one.version, "%v", one)
		until, err := time.Parse(time.DateOnly, one.until)
		require.NoError(t, err, "%v", one)
		require.True(t, time.Now().Before(until), "%v has ended: look whether it is still needed", one)
	}
}
