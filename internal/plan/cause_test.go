// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

func TestForInjection_ReportsCauseOfWrite(t *testing.T) {
	old, next := rendered("old", "a"), rendered("new", "a")
	const image = "; in the pods: initContainers[vector].image vector:old → vector:new"
	for name, test := range map[string]struct {
		view    *workload.View
		desired *Desired
		policy  Policy
		action  Change
		want    string
	}{
		"new to it":       {view: application(), desired: old, action: Inject, want: "VectorSidecar logs selects the workload"},
		"as it should be": {view: writtenBy(old), desired: old, action: None},
		"kept":            {view: writtenBy(old), desired: next, action: None},
		"asked anew": {
			view: writtenBy(old), desired: rendered("old", "b"), action: RecordOnly, want: "values of the VectorSidecar (sidecar.logLevel)",
		},
		"asked anew, of another release": {
			view: writtenBy(old), desired: rendered("new", "b"), action: Update, want: "values of the VectorSidecar (sidecar.logLevel); operator old → new" + image,
		},
		"taken out": {
			view: with(application(), func(v *workload.View) { v.Owned = map[string]workload.OwnedFields{mine: {}} }), desired: old, action: Inject,
			want: "another writer removed the sidecar",
		},
		"changed by hand": {
			view: with(writtenBy(old), func(v *workload.View) {
				v.LastWriter = "kubectl-edit"
				owning(func(o *workload.OwnedFields) {
					o.Hash, o.Tree = "x", podOf(map[string]any{"name": "vector", "restartPolicy": "Always"})
				})(v)
			}),
			desired: old, action: Update,
			want: `another writer changed the sidecar (last writer: "kubectl-edit"); in the pods: initContainers[vector].image → vector:old, volumes[data] added`,
		},
		"changed by hand, and asked anew": {
			view: with(writtenBy(old), owning(func(o *workload.OwnedFields) { o.Hash = "x" })), desired: rendered("old", "b"), action: Update,
			want: `another writer changed the sidecar (last writer: ""); values of the VectorSidecar (sidecar.logLevel)`,
		},
		"with a ConfigMap that is gone": {
			view: writtenBy(old), desired: next, policy: Policy{Renew: true}, action: Update, want: "a ConfigMap that the sidecar reads does not exist; operator old → new" + image,
		},
		"of another release that has no other name": {
			view: with(writtenBy(old), owning(func(o *workload.OwnedFields) { o.RenderedFrom = "" })), desired: next, policy: Policy{Renew: true}, action: Update,
			want: "a ConfigMap that the sidecar reads does not exist; another version of the operator renders the sidecar differently" + image,
		},
		"behind an init container": {
			view: with(writtenBy(old), gotAhead), desired: next, policy: Policy{StrictOrder: true}, action: Update,
			want: "an init container of the workload runs before the sidecar; operator old → new" + image,
		},
		"with annotations that move": {
			view: with(writtenBy(old), owning(func(o *workload.OwnedFields) { o.HasPlainAnnotations = false })), desired: next, action: Update,
			want: "another VectorSidecar of the workload takes precedence now; operator old → new" + image,
		},
		"without annotations that say it": {
			view: with(writtenBy(old), owning(func(o *workload.OwnedFields) {
				o.InputHash, o.AppliedHash, o.RenderedFrom, o.ChangeCause = "", "", "", ""
			})), desired: next, action: Update,
			want: "the annotation rendered-from does not list the inputs of the sidecar" + image,
		},
		"for what has no name": {
			view: with(writtenBy(old), owning(func(o *workload.OwnedFields) { o.InputHash = "b" })), desired: next, action: Update,
			want: "operator old → new; inputs of the sidecar changed" + image,
		},
		"half done": {
			view: with(writtenBy(old), owning(func(o *workload.OwnedFields) { o.Named, o.Unfinished = true, true })), desired: old, action: RecordOnly, want: "an earlier change of the sidecar was interrupted",
		},
		"half done, of something else": {
			view: with(writtenBy(old), owning(func(o *workload.OwnedFields) { o.Unfinished, o.Hash = true, "x" })), desired: next, action: Update,
			want: "an earlier change of the sidecar was interrupted; operator old → new",
		},
		"opted out": {
			view: with(writtenBy(old), func(v *workload.View) { v.OptOut = `"false"` }), desired: old, action: Remove,
			want: `the workload's annotation ` + meta.AnnotationInject + ` is "false"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, texts := range []*Texts{nil, {}} {
				policy := test.policy
				policy.Texts = texts
				for range 2 {
					p := ForInjection(mine, test.desired, policy, test.view)
					require.EqualValues(t, test.action, p.Action(), p.Message())
					require.Equal(t, test.want, p.Write.Cause)
					if p.Change == Inject || p.Change == Update {
						require.Equal(t, test.want, tree.MapAt(p.Write.Apply, "metadata", "annotations")[meta.AnnotationChangeCause])
					}
				}
			}
		})
	}
}

// podOf is a pod template tree with one init container.
func podOf(container map[string]any) map[string]any {
	return map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"initContainers": []any{container}}}}}
}

// A write changes only annotations of the workload, so no pods restart. The annotation with the cause of the last
// rollout stays.
func TestForInjection_KeepsCauseInRecordOnlyWrite(t *testing.T) {
	view := writtenBy(rendered("old", "a"))
	p := ForInjection(mine, rendered("old", "b"), Policy{}, view)
	require.Equal(t, RecordOnly, p.Change)
	annotations := tree.MapAt(p.Write.Apply, "metadata", "annotations")
	require.Equal(t, "VectorSidecar logs selects the workload", annotations[meta.AnnotationChangeCause])
	require.NotEqual(t, view.Owned[mine].RenderedFrom, annotations[meta.AnnotationRenderedFrom])
}

// A label of the workload that some release has read changes. The cause names it, although this release does not read
// it.
func TestForInjection_NamesChangedWorkloadInput(t *testing.T) {
	labeled := func(v *workload.View) { v.Labels = map[string]string{"team": "search"} }
	for name, now := range map[string][]string{"still read": {"containers", "labels"}, "not read by now": nil} {
		t.Run(name, func(t *testing.T) {
			view := with(writtenBy(rendered("old", "a", "labels", "containers")), labeled)
			require.Equal(t, "fields of the workload (labels); operator old → other; in the pods: initContainers[vector].image vector:old → vector:other",
				ForInjection(mine, rendered("other", "a", now...), Policy{}, view).Write.Cause)
		})
	}
}

// A workload whose cause annotations are missing or changed is up to date.
func TestForInjection_IgnoresCauseAnnotations(t *testing.T) {
	desired := rendered("old", "a")
	for name, change := range map[string]func(map[string]any){
		"removed": func(a map[string]any) {
			for _, key := range []string{meta.AnnotationSidecarName, meta.AnnotationChangeCause, meta.AnnotationRenderedFrom} {
				delete(a, key)
			}
		},
		"changed": func(a map[string]any) {
			for _, key := range []string{meta.AnnotationSidecarName, meta.AnnotationChangeCause, meta.AnnotationRenderedFrom} {
				a[key] = "x"
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			view := writtenBy(desired)
			owning(func(o *workload.OwnedFields) {
				annotations := tree.MapAt(o.Tree, "metadata", "annotations")
				require.Equal(t, "logs", annotations[meta.AnnotationSidecarName])
				change(annotations)
				o.Hash = workload.Hash(o.Tree)
			})(view)
			require.Equal(t, None, ForInjection(mine, desired, Policy{}, view).Change)
			require.NotEmpty(t, ForInjection(mine, rendered("new", "a"), Policy{}, view).Existing.UnchangedHash)
		})
	}
}
