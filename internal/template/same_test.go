// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package template_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/template"
	"kontroloop.ai/vector-sidecar-operator/test/random"
)

// differs are the differences to Helm's engine that doc.go lists, as far as they show in
// errors: ours are errors, where Helm's engine prints something.
var differs = regexp.MustCompile(strings.Join([]string{
	`has no key`, `is null`, `is not available`, `compiling a regular expression`, `printing as (YAML|JSON|TOML)`,
	`there is no file`, `prints? an address`,
}, "|"))

// asksOfNothing are errors of Helm's engine where ours answers: what get, dig and their kin
// find in a map that is missing.
var asksOfNothing = regexp.MustCompile(`interface conversion: interface \{\} is nil|wrong type for value; expected .*; got interface \{\}`)

// openInHelm are functions whose result Helm's engine leaves open: the order of keys and
// values is that of Go's maps, and where an address is printed, it is another each time.
var openInHelm = regexp.MustCompile(`\b(keys|values|fromToml)\b`)

// bothWays renders templates with both engines. It is not known what Helm's gives where that
// does not come to an end, nor what is ours where Compile refuses what is never executed,
// or where a bound is hit: Helm's engine has none.
func bothWays(t *testing.T, helm *reference, text, helpers string) (ours string, err error, theirs rendering, areKnown bool) { //nolint:revive,staticcheck // the error is what is compared
	t.Helper()
	set, err := template.Compile(map[string]string{"c/templates/a.yaml": text, "c/templates/_h.tpl": helpers}, template.Options{})
	if err != nil {
		return "", err, rendering{}, false
	}
	if ours, err = set.Execute(t.Context(), "c/templates/a.yaml", ordinary()); isOutOfBounds(err) {
		return "", err, rendering{}, false
	}
	theirs, areKnown = helm.render(t, map[string]string{"templates/a.yaml": text, "templates/_h.tpl": helpers})
	return ours, err, theirs, areKnown
}

// What random templates give is what Helm's engine gives: the same text, or an error, or
// doc.go says why not.
func TestRandomTemplatesRenderAsInHelm(t *testing.T) {
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

// What Helm's engine does not come back from is no end of the test.
func TestTheReferenceOutlivesItsTemplates(t *testing.T) {
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

// Of any template for which both engines have a text, they have the same. A text that shows
// the root is none of these: what else Helm puts there is not ours.
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
