// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Labels and annotations of a pod template have field managers, so that they can conflict as containers do.
func TestForInjection_ReportsPodMetadataConflict(t *testing.T) {
	labeled := sidecar()
	labeled.overlay.Template.Labels = map[string]string{"tier": "logs"}
	labeled.overlay.Template.Annotations = map[string]string{"example.com/scrape": "true", meta.AnnotationInjectedEnv(mine): "1"}
	carries := func(injectedHash string, owned workload.OwnedFields) *workload.View {
		view := injected("")
		owned.Containers, owned.Volumes, owned.InjectedHash = []string{"vector"}, []string{"data"}, injectedHash
		view.Owned[mine] = owned
		return view
	}
	has := func(view *workload.View) {
		view.PodLabels, view.PodAnnotations = []string{"tier"}, []string{"example.com/scrape"}
	}
	for name, test := range map[string]struct {
		view *workload.View
		want Change
		text string
	}{
		"a workload without them": {view: application(), want: Inject},
		"its mark":                {view: with(application(), func(v *workload.View) { v.PodAnnotations = []string{meta.AnnotationInjectedEnv(mine)} }), want: Inject},
		"its label":               {view: with(application(), func(v *workload.View) { v.PodLabels = []string{"tier"} }), want: ActionConflict, text: `already have a label "tier"`},
		"its annotation": {
			view: with(application(), func(v *workload.View) { v.PodAnnotations = []string{"example.com/scrape"} }),
			want: ActionConflict, text: `already have an annotation "example.com/scrape"`,
		},
		"a label of its selector": {view: with(application(), func(v *workload.View) { v.SelectorKeys = []string{"tier"} }), want: ActionConflict, text: `selector uses the label "tier"`},
		"ours from before": {
			view: with(carries("older", workload.OwnedFields{PodLabels: []string{"tier"}, PodAnnotations: []string{"example.com/scrape"}}), has), want: Update,
		},
		"the owner's, when a new version begins to set it": {view: with(carries("older", workload.OwnedFields{}), has), want: ActionConflict, text: `already have a label "tier"`},
		"one that a person changed":                        {view: with(carries(labeled.InjectedHash(), workload.OwnedFields{}), has), want: Update},
	} {
		t.Run(name, func(t *testing.T) {
			p := ForInjection(mine, labeled, Policy{}, test.view)
			require.EqualValues(t, test.want, p.Action(), p.Message())
			require.Contains(t, p.Message(), test.text)
		})
	}
}
