// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
	"kontroloop.ai/vector-sidecar-operator/test/random"
)

// differs matches the differences to Helm's engine in doc.go where ours returns an error and Helm's
// engine prints something.
var differs = regexp.MustCompile(strings.Join([]string{
	`has no key`, `is null`, `is not available`, `compiling a regular expression`, `printing as (YAML|JSON|TOML)`,
	`unknown file`, `prints? an address`,
}, "|"))

// asksOfNothing matches errors of Helm's engine where ours has a result: get, dig and the like on a
// missing map.
var asksOfNothing = regexp.MustCompile(`interface conversion: interface \{\} is nil|wrong type for value; expected .*; got interface \{\}`)

// openInHelm matches functions whose result is undefined in Helm's engine: keys and values have the
// order of Go's maps, and a printed address differs each time.
var openInHelm = regexp.MustCompile(`\b(keys|values|fromToml)\b`)

// bothWays renders templates with both engines. areKnown is false if Helm's does not end, if
// Compile refuses something that is never executed, or if a bound is hit, of which Helm's engine
// has none.
func bothWays(t *testing.T, helm *reference, text, helpers string) (ours string, err error, theirs rendering, areKnown bool) { //nolint:revive,staticcheck // the error is what is compared
	t.Helper()
	set, err := gotemplate.Compile(map[string]string{"c/templates/a.yaml": text, "c/templates/_h.tpl": helpers}, gotemplate.Options{})
	if err != nil {
		return "", err, rendering{}, false
	}
	if ours, err = set.Execute(t.Context(), "c/templates/a.yaml", ordinary()); isOutOfBounds(err) {
		return "", err, rendering{}, false
	}
	theirs, areKnown = helm.render(t, map[string]string{"templates/a.yaml": text, "templates/_h.tpl": helpers})
	return ours, err, theirs, areKnown
}

// For random templates, both engines return the same text, or both an error. The exceptions are the differences that
// doc.go lists.
func TestExecute_RendersRandomTemplatesAsHelm(t *testing.T) {
	sets := 1000
	if testing.Short() || raceDetector {
		sets = 100
	}
	helm, compared := newReference(t), 0
	for seed := range sets {
		g := random.New(rand.New(rand.NewPCG(3, uint64(seed))))
		text, helpers := g.Template(), g.Helpers()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			ours, err, theirs, areKnown := bothWays(t, helm, text, helpers)
			switch {
			case !areKnown:
			case err == nil && theirs.Error == "":
				compared++
				require.Equal(t, theirs.Text, ours, "%s\n%s", text, helpers)
			case err == nil:
				require.Regexp(t, asksOfNothing, theirs.Error, "%s\n%s", text, helpers)
			case theirs.Error == "":
				require.Regexp(t, differs, err.Error(), "Helm's engine prints %q for %s\n%s", theirs.Text, text, helpers)
			}
		})
	}
	t.Logf("%d of %d without an error", compared, sets)
	require.Greater(t, compared, sets/3, "else little is compared")
}

// A random template may end or hang the process with Helm's engine. The test then starts another process.
func TestExecute_RestartsHelmReferenceAfterCrash(t *testing.T) {
	helm := newReference(t)
	for _, text := range []string{
		`{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}`, // which Helm stops after a thousand
		`{{ range 100000000000 }}{{ end }}`,
		cyclic + `{{ $d }}`,
	} {
		_, isKnown := helm.render(t, map[string]string{"templates/a.yaml": text})
		t.Log(isKnown)
		result, isKnown := helm.render(t, map[string]string{"templates/a.yaml": "x"})
		require.True(t, isKnown)
		require.Equal(t, rendering{Text: "x"}, result)
	}
}

// If both engines render a template, the results are equal. Templates that print the root are excluded, because Helm
// adds to it.
func FuzzLikeHelm(f *testing.F) {
	seeds(f)
	for seed := range uint64(20) {
		f.Add(random.New(rand.New(rand.NewPCG(4, seed))).Template())
	}
	helm := newReference(f)
	f.Fuzz(func(t *testing.T, text string) {
		if openInHelm.MatchString(text) {
			return
		}
		ours, err, theirs, areKnown := bothWays(t, helm, text, `{{ define "h0" }}x{{ end }}{{ define "h1" }}{{ toJson .of }}{{ end }}{{ define "h2" }}{{ toJson . }}{{ end }}`)
		showsRoot := strings.Contains(ours+theirs.Text, "Template") || strings.Contains(ours+theirs.Text, "Subcharts")
		if areKnown && err == nil && theirs.Error == "" && !showsRoot {
			require.Equal(t, theirs.Text, ours)
		}
	})
}
