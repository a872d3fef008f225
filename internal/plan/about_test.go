// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Another text of the annotation about the sidecar causes no write. It is written with the next change of the sidecar.
func TestForInjection_WritesAboutTextOnlyWithChange(t *testing.T) {
	saying := func(text string, desired *Desired) *Desired {
		return NewDesired(desired.overlay, "logs", "vector", "config-1", Notes{AboutText: text}).WithInput(desired.input)
	}
	before := saying("before", rendered("old", "a"))
	for name, test := range map[string]struct {
		before, now *Desired
		want        Change
		text        any
	}{
		"no sidecar":                     {nil, saying("now", rendered("old", "a")), Inject, "now"},
		"another text":                   {before, saying("now", rendered("old", "a")), None, nil},
		"another text and rendering":     {before, saying("now", rendered("new", "a")), None, nil},
		"first text":                     {rendered("old", "a"), saying("now", rendered("old", "a")), None, nil},
		"another text and input":         {before, saying("now", rendered("old", "b")), RecordOnly, "before"},
		"first text and another input":   {rendered("old", "a"), saying("now", rendered("old", "b")), RecordOnly, nil},
		"no text and another input":      {before, rendered("old", "b"), RecordOnly, "before"},
		"another input and rendering":    {before, saying("now", rendered("new", "b")), Update, "now"},
		"first text and other rendering": {rendered("old", "a"), saying("now", rendered("new", "b")), Update, "now"},
	} {
		t.Run(name, func(t *testing.T) {
			view := application()
			if test.before != nil {
				view = writtenBy(test.before)
			}
			p := ForInjection(mine, test.now, Policy{}, view)
			require.Equal(t, test.want, p.Change)
			if p.Change != None {
				require.Equal(t, test.text, tree.MapAt(p.Write.Apply, "spec", "template", "metadata", "annotations")[meta.AnnotationAbout(mine)])
			}
		})
	}
	require.Equal(t, before.InjectedHash(), rendered("old", "a").InjectedHash(), "the text is not a part of the sidecar")
}
