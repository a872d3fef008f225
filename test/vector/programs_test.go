// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	vectoroptions "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/options"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorlint/vrl"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/presets"
)

// remap is a VRL program.
type remap struct{ group, text string }

// counted is how the programs of a group are judged.
type counted struct{ programs, refused, caught, fully, partly, not int }

// The check accepts each VRL program that Vector accepts. If it has checked a program fully, it also rejects it if
// Vector does.
func TestCheck_AgreesWithVectorOnVRLPrograms(t *testing.T) {
	vector := program(t)
	chosen := *seed
	if chosen == 0 {
		chosen = rand.Uint64()
	}
	t.Logf("seed %d", chosen)
	random := rand.New(rand.NewPCG(chosen, 0))
	all := slices.Concat(writtenPrograms(t), renderedPrograms(t), calls(t), uses(t, random))
	takes := asksPrograms(t, vector, all)
	var right []string
	for i := range all {
		if takes[i] {
			right = append(right, all[i].text)
		}
	}
	mutants := mutated(right, *most, random)
	all, takes = append(all, mutants...), append(takes, asksPrograms(t, vector, mutants)...)
	groups := map[string]*counted{}
	var refused, missed []string
	for i, one := range all {
		of := groups[one.group]
		if of == nil {
			of = &counted{}
			groups[one.group] = of
		}
		report := vrl.Check(one.text, vrl.Options{Minor: vectoroptions.Newest, Effort: 10_000_000, IsAny: true})
		of.add(report, takes[i])
		switch isFound := len(report.Findings) > 0; {
		case takes[i] && isFound:
			refused = append(refused, fmt.Sprintf("%s: %+v\n%s", one.group, report.Findings, one.text))
		case !takes[i] && !isFound && (report.Coverage == vrl.Fully || mustBeFound[one.group]):
			missed = append(missed, one.group+":\n"+one.text)
		}
	}
	for group, of := range groups {
		t.Logf("%-10s %6d programs, %5d refused, %5d of them caught; %5d judged fully, %5d partly, %d not", group, of.programs, of.refused, of.caught, of.fully, of.partly, of.not)
	}
	require.Empty(t, first(refused), "%d that Vector takes are refused", len(refused))
	require.Empty(t, first(missed), "%d that Vector refuses are not", len(missed))
}

// mustBeFound are the groups of what is wrong in something that the check judges.
var mustBeFound = map[string]bool{"refused": true, "unhandled": true, "misspelled": true, "extra": true, "keyword": true, "missing": true}

func (c *counted) add(report vrl.Report, isTaken bool) {
	c.programs++
	if !isTaken {
		c.refused++
		if len(report.Findings) > 0 {
			c.caught++
		}
	}
	switch report.Coverage {
	case vrl.Fully:
		c.fully++
	case vrl.Partly:
		c.partly++
	default:
		c.not++
	}
}

// writtenPrograms are those of the language's own tests.
func writtenPrograms(t *testing.T) []remap {
	t.Helper()
	root, err := harness.Root()
	require.NoError(t, err)
	var all []remap
	for _, name := range []string{"taken", "refused", "unhandled"} {
		text, err := os.ReadFile(filepath.Join(root, "internal", "vectorlint", "vrl", "testdata", name+".txt"))
		require.NoError(t, err)
		for _, one := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n---\n") {
			all = append(all, remap{name, one})
		}
	}
	return all
}

// renderedPrograms are those of every preset in every environment, and of the repository's
// configurations.
func renderedPrograms(t *testing.T) []remap {
	t.Helper()
	texts := []string{}
	for _, combination := range presets.All(t) {
		for _, text := range combination.Render(t).ConfigMap.Data {
			texts = append(texts, text)
		}
	}
	for _, one := range configurations(t) {
		if !strings.HasSuffix(one.name, ".toml") && !strings.Contains(one.from, "broken") {
			texts = append(texts, one.text)
		}
	}
	known := map[string]bool{}
	var all []remap
	for _, text := range texts {
		var config struct {
			Transforms map[string]struct {
				Type   string `json:"type"`
				Source any    `json:"source"`
			} `json:"transforms"`
		}
		if yaml.Unmarshal([]byte(text), &config) != nil {
			continue
		}
		for _, one := range config.Transforms {
			if source, isText := one.Source.(string); isText && one.Type == "remap" && !known[source] {
				known[source] = true
				all = append(all, remap{"rendered", source})
			}
		}
	}
	require.NotEmpty(t, all)
	return all
}

// insertions are put into programs to make mutants of them.
var insertions = []string{
	"(", ")", "[", "]", "{", "}", ".", `"`, "'", ",", ";", "\n", " ", "!", "=", "==", "??", "||", "&&", "|", "-> |x| {", "if ", "else", "else if ", "abort", "return ",
	"null", "true", "_", "x", "x.y", ".a", "%b", "# c\n", "1", "-1", "1.5", "s'a'", "r'a'", "t''", "@", "|=", "+", "-", "*", "/", "<", ">=", `\`, `"{{ x }}"`, "upcase(", "foo: ", "..", "[0]", "é", "5x",
}

var word = regexp.MustCompile(`(?s)\s+|\w+|.`)

// mutated changes programs in one to three places.
func mutated(programs []string, count int, random *rand.Rand) []remap {
	all := make([]remap, 0, count)
	for range count {
		text := programs[random.IntN(len(programs))]
		for range 1 + random.IntN(3)*random.IntN(2) {
			words := word.FindAllString(text, -1)
			if len(words) == 0 {
				break
			}
			at := random.IntN(len(words))
			switch random.IntN(5) {
			case 0:
				words = slices.Delete(words, at, at+1)
			case 1:
				words[at] = insertions[random.IntN(len(insertions))]
			case 2:
				other := random.IntN(len(words))
				words[at], words[other] = words[other], words[at]
			case 3:
				words = slices.Insert(words, at, words[random.IntN(len(words))])
			default:
				words = slices.Insert(words, at, insertions[random.IntN(len(insertions))])
			}
			text = strings.Join(words, "")
		}
		all = append(all, remap{"mutant", text})
	}
	return all
}

// refusal is how Vector names a transform that it refuses.
var refusal = regexp.MustCompile(`(?m)^x Transform "p(\d+)": `)

// asksPrograms is whether Vector takes each program, many of which are in one configuration.
func asksPrograms(t *testing.T, vector string, all []remap) []bool {
	t.Helper()
	takes := make([]bool, 0, len(all))
	for chunk := range slices.Chunk(all, 200) {
		takes = append(takes, asksChunk(t, vector, chunk)...)
	}
	return takes
}

func asksChunk(t *testing.T, vector string, all []remap) []bool {
	t.Helper()
	transforms := map[string]any{}
	for i, one := range all {
		transforms[fmt.Sprintf("p%d", i)] = map[string]any{"type": "remap", "inputs": []string{"in"}, "source": one.text}
	}
	text, err := json.Marshal(map[string]any{
		"sources":    map[string]any{"in": map[string]any{"type": "demo_logs", "format": "json"}},
		"transforms": transforms, "sinks": map[string]any{"out": map[string]any{"type": "blackhole", "inputs": []string{"p*"}}},
	})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "vector.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	output, err := exec.CommandContext(t.Context(), vector, "--quiet", "--color", "never", "validate", "--no-environment", file).Output()
	takes := make([]bool, len(all))
	for i := range takes {
		takes[i] = true
	}
	refusals := refusal.FindAllSubmatch(output, -1)
	for _, match := range refusals {
		number, err := strconv.Atoi(string(match[1]))
		require.NoError(t, err)
		takes[number] = false
	}
	if err == nil || len(refusals) > 0 {
		return takes
	}
	if len(all) == 1 {
		return []bool{false} // Vector has crashed.
	}
	middle := len(all) / 2
	return append(asksChunk(t, vector, all[:middle]), asksChunk(t, vector, all[middle:])...)
}
