// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// Vector rejects the values that the check's table lists as rejected, when it reads the configuration or when it
// starts, and accepts the others. Some errors appear only at a start with data_dir, so values with it are tested twice.
func TestCheck_AgreesWithVectorOnValues(t *testing.T) {
	vector := program(t)
	root, err := harness.Root()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, "internal", "vectorlint", "config", "testdata", "values.tsv"))
	require.NoError(t, err)
	var all, started []written
	var verdicts []string
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		columns := strings.Split(line, "\t")
		one := written{columns[1] + " " + columns[0], "vector." + columns[1], strings.ReplaceAll(columns[3], "⏎", "\n")}
		all, verdicts = append(all, one), append(verdicts, columns[2])
		if strings.Contains(columns[3], "data_dir") {
			started = append(started, one)
		}
	}
	starts := map[string]bool{}
	for i, isTaken := range listAccepted(t, vector, started, "--skip-healthchecks") {
		starts[started[i].from] = isTaken
	}
	for i, isTaken := range listAccepted(t, vector, all, "--no-environment") {
		says := "takes"
		if isStarted, isAsked := starts[all[i].from]; !isTaken {
			says = "refuses"
		} else if isAsked && !isStarted {
			says = "refuses at start"
		}
		if says != verdicts[i] {
			t.Errorf("%s: Vector %s it, and the table says %q", all[i].from, says, verdicts[i])
		}
	}
	t.Logf("%d configurations, %d of them also as at a start", len(all), len(started))
}

// pieces are what searches are made of.
var pieces = []string{"a", "b1", "@a.b", "é", " ", " ", "  ", "\t", "AND", "OR", "NOT", "TO", "&&", "||", "-", "+", "=", "!", "(", ")", "[", "]", "{", "}", ":", ":", "*", "?", "\"", "\\", ">", ">=", "<", "<=", "1", "-2.5", "E3", "~", "^", "_exists_:", "*:*", "[1 TO 2]", "\"a b\"", "(a)", "a:b", "UNICODE3000"}

// The check and Vector accept and reject the same random search queries.
func TestCheck_AgreesWithVectorOnSearchQueries(t *testing.T) {
	vector, chosen := program(t), seeded(t)
	random := rand.New(rand.NewPCG(chosen, 1))
	all := make([]written, 400)
	for i := range all {
		var source strings.Builder
		for range 1 + random.IntN(7) {
			source.WriteString(pieces[random.IntN(len(pieces))])
		}
		text, err := json.Marshal(configuration("transforms", "filter", map[string]any{"condition": map[string]any{"type": "datadog_search", "source": source.String()}}))
		require.NoError(t, err)
		all[i] = written{source.String(), "vector.json", string(text)}
	}
	refused := 0
	for i, isTaken := range listAccepted(t, vector, all, "--no-environment") {
		report, err := desired.VectorReader.Check(t.Context(), []vectorconfig.File{{Name: all[i].name, Text: all[i].text}}, vectorconfig.Options{Image: imageOf})
		require.NoError(t, err)
		if found := vectorconfig.Errors(report.Findings); isTaken != (len(found) == 0) {
			t.Errorf("%q: Vector takes it: %t; the check found %v", all[i].from, isTaken, found)
		}
		if !isTaken {
			refused++
		}
	}
	t.Logf("%d searches, %d refused", len(all), refused)
}
