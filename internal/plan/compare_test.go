// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// rendered is the sidecar as a release renders it for an input.
func rendered(release, asked string, keys ...string) *Desired {
	overlay := *sidecar().overlay
	overlay.Hash = release
	overlay.Body = map[string]any{"spec": map[string]any{
		"initContainers": []any{map[string]any{"name": "vector", "restartPolicy": "Always", "image": "vector:" + release}},
		"volumes":        []any{map[string]any{"name": "data"}},
	}}
	inputs := Inputs{}
	inputs.Name(InputOperator, release)
	inputs.Add(InputSidecar, Digests(map[string]any{"sidecar": map[string]any{"logLevel": asked}}))
	return NewDesired(&overlay, "logs", "vector", "config-1", Notes{}).WithInput(RequestedInput{Digest: asked, Keys: keys, Inputs: inputs})
}

// writtenBy is a workload with what a release rendered and noted.
func writtenBy(desired *Desired) *workload.View {
	view := injected("")
	applied := ForInjection(mine, desired, Policy{}, application()).Write.Apply
	annotations := tree.MapAt(applied, "metadata", "annotations")
	asked, _ := annotations[meta.AnnotationInputHash].(string)
	was, _ := annotations[meta.AnnotationAppliedHash].(string)
	because, _ := annotations[meta.AnnotationChangeCause].(string)
	from, _ := annotations[meta.AnnotationRenderedFrom].(string)
	owning(func(o *workload.OwnedFields) {
		o.Hash, o.Tree, o.InjectedHash, o.InputHash, o.AppliedHash = workload.Hash(applied), applied, desired.InjectedHash(), asked, was
		o.ChangeCause, o.RenderedFrom = because, from
	})(view)
	return view
}

// After an upgrade, the operator renders the same input differently. That alone causes no write, but a change of the
// input does.
func TestForInjection_UpdatesOnlyOnChangedInput(t *testing.T) {
	const same, different, missing = "same", "different", "missing"
	for _, asked := range []string{same, different, missing} {
		for _, applied := range []string{same, different, missing} {
			for _, rendering := range []string{same, different} {
				for _, reports := range []bool{false, true} {
					t.Run(fmt.Sprintf("asked %s, applied %s, rendering %s, reporting drift %t", asked, applied, rendering, reports), func(t *testing.T) {
						view := writtenBy(rendered("old", "a"))
						owning(func(o *workload.OwnedFields) {
							o.InputHash = map[string]string{same: "a", different: "b", missing: ""}[asked]
							o.AppliedHash = map[string]string{same: o.AppliedHash, different: "x", missing: ""}[applied]
						})(view)
						desired := rendered(map[string]string{same: "old", different: "new"}[rendering], "a")

						p := ForInjection(mine, desired, Policy{ReportDrift: reports}, view)

						want := Plan{Change: Update}
						switch {
						case rendering == same && asked == same && applied == same:
							want = Plan{Change: None}
						case rendering == same:
							want = Plan{Change: RecordOnly}
						case asked == same && applied == same:
							want = Plan{Change: None, Existing: Existing{UnchangedHash: rendered("old", "a").InjectedHash()}}
						case asked == same && reports:
							want = Plan{Change: None, Block: &Block{Kind: BlockedByObstacle}}
						case asked == same:
							want.Write.Repairs = true
						}
						require.Equal(t, want.IsStopped(), p.IsStopped())
						want.Block = nil
						require.Equal(t, p.IsStopped(), p.Reason() == meta.ReasonDrifted)
						require.Equal(t, want, Plan{Change: p.Change, Existing: Existing{UnchangedHash: p.Existing.UnchangedHash}, Write: Write{Repairs: p.Write.Repairs}}, p.Message())
						require.Equal(t, want.Change == RecordOnly || want.Change == Update, p.Writes())
						require.Equal(t, want.Change == Update, p.StartsPods())
						require.Equal(t, p.Writes(), p.Write.Apply != nil)
					})
				}
			}
		}
	}
}

// A write of annotations of the workload does not change its pod template.
func TestForInjection_KeepsPodTemplateInRecordOnlyWrite(t *testing.T) {
	p := ForInjection(mine, rendered("old", "b"), Policy{}, writtenBy(rendered("old", "a")))
	require.Equal(t, RecordOnly, p.Change)
	require.Equal(t, rendered("old", "b").standalone.tree["spec"], p.Write.Apply["spec"])
	require.Equal(t, "b", tree.MapAt(p.Write.Apply, "metadata", "annotations")[meta.AnnotationInputHash])
	require.Equal(t, p.Write.Apply, p.Body(), "one request")
	require.Nil(t, p.Write.Patch)
	require.Equal(t, p.Desired.InjectedHash(), p.SidecarHash())
}

// A workload with the sidecar of an earlier release opts out, is changed by hand, or is reverted by rollout undo. Each
// is handled as with a current sidecar.
func TestForInjection_MaintainsEarlierRendering(t *testing.T) {
	old, desired := rendered("old", "a"), rendered("new", "a")
	app := func(change func(*workload.Container)) func(*workload.View) {
		return func(v *workload.View) { change(&v.Containers[len(v.Containers)-1]) }
	}
	for name, test := range map[string]struct {
		view   *workload.View
		policy Policy
		want   Change
		reason string
	}{
		"as it was written":              {view: writtenBy(old), want: None},
		"paused":                         {view: with(writtenBy(old), func(v *workload.View) { v.Paused = true }), want: None},
		"opted out":                      {view: with(writtenBy(old), func(v *workload.View) { v.OptOut = "false" }), want: Remove},
		"no longer possible":             {view: writtenBy(old), policy: Policy{Renew: true}, want: Update},
		"changed by somebody":            {view: with(writtenBy(old), owning(func(o *workload.OwnedFields) { o.Hash = "x" })), want: Update},
		"brought back by a rollout undo": {view: with(writtenBy(old), owning(func(o *workload.OwnedFields) { o.Leftovers = []string{"vector"} })), want: Update},
		"with annotations that move":     {view: with(writtenBy(old), owning(func(o *workload.OwnedFields) { o.HasPlainAnnotations = false })), want: Update},
		"behind an init container":       {view: with(writtenBy(old), gotAhead), want: None},
		"the same, where order matters":  {view: with(writtenBy(old), gotAhead), policy: Policy{StrictOrder: true}, want: Update},
		"in order, where that matters": {
			view: with(writtenBy(old), func(v *workload.View) {
				v.Containers = append(v.Containers, workload.Container{Name: "migrate", Init: true})
			}),
			policy: Policy{StrictOrder: true}, want: None,
		},
		"its port taken": {
			view: with(writtenBy(old), app(func(c *workload.Container) { c.Ports[0].ContainerPort = 9598 })), want: ActionBlocked, reason: meta.ReasonBlocked,
		},
		"a mount in the application that it has not": {
			view: with(writtenBy(old), app(func(c *workload.Container) {
				c.Mounts = append(c.Mounts, corev1.VolumeMount{Name: "data", MountPath: "/data"})
			})), want: Update,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := ForInjection(mine, desired, test.policy, test.view)
			require.EqualValues(t, test.want, p.Action(), p.Message())
			require.Equal(t, test.reason, p.Reason())
		})
	}
}

// The sidecar of an earlier release stays unchanged. Parts that only the new rendering has cause no conflict.
func TestForInjection_IgnoresConflictsOfNewerRendering(t *testing.T) {
	overlay := *rendered("new", "a").overlay
	overlay.Template.Spec.InitContainers = []corev1.Container{*overlay.Template.Spec.InitContainers[0].DeepCopy()}
	overlay.Template.Spec.InitContainers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080}}
	desired := NewDesired(&overlay, "logs", "vector", "config-1", Notes{}).WithInput(RequestedInput{Digest: "a"})

	require.Equal(t, None, ForInjection(mine, desired, Policy{}, writtenBy(rendered("old", "a"))).Change)
	p := ForInjection(mine, desired, Policy{}, application())
	require.True(t, p.IsStopped())
}

// Only fields of the workload that the templates have read are compared. Templates of another release may read other
// fields.
func TestForInjection_ComparesOnlyReadWorkloadFields(t *testing.T) {
	mounts := func(v *workload.View) {
		app := &v.Containers[len(v.Containers)-1]
		app.Mounts = append(app.Mounts, corev1.VolumeMount{Name: "logs", MountPath: "/var/log"})
	}
	for name, test := range map[string]struct {
		wrote, now []string
		change     func(*workload.View)
		keeps      bool
	}{
		"the same, unchanged":    {[]string{"containers"}, []string{"containers"}, func(*workload.View) {}, true},
		"the same, changed":      {[]string{"containers"}, []string{"containers"}, mounts, false},
		"more by now, unchanged": {nil, []string{"containers"}, func(*workload.View) {}, true},
		"more by now, changed":   {nil, []string{"containers"}, mounts, true},
		"less by now, changed":   {[]string{"containers", "labels"}, nil, mounts, false},
	} {
		t.Run(name, func(t *testing.T) {
			view := with(writtenBy(rendered("old", "a", test.wrote...)), test.change)
			p := ForInjection(mine, rendered("new", "a", test.now...), Policy{}, view)
			require.Equal(t, test.keeps, p.Existing.UnchangedHash != "")
		})
	}
}

// Mounts in application containers are patched, not applied. The sidecar is up to date if they exist.
func TestForInjection_CountsPatchedMountsAsWritten(t *testing.T) {
	shared := func(release, at string) *Desired {
		overlay := *rendered(release, "a").overlay
		overlay.Mounts = []workload.Mount{{Container: "app", VolumeMount: corev1.VolumeMount{Name: "data", MountPath: at}}}
		return NewDesired(&overlay, "logs", "vector", "config-1", Notes{}).WithInput(RequestedInput{Digest: "a"})
	}
	view := writtenBy(shared("old", "/data"))
	app := &view.Containers[len(view.Containers)-1]
	require.Equal(t, Update, ForInjection(mine, shared("old", "/data"), Policy{}, view).Change, "the mount is not there yet")

	app.Mounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	require.Equal(t, None, ForInjection(mine, shared("old", "/data"), Policy{}, view).Change)
	require.NotEmpty(t, ForInjection(mine, shared("new", "/moved"), Policy{}, view).Existing.UnchangedHash)
	app.Mounts = nil
	require.True(t, ForInjection(mine, shared("new", "/moved"), Policy{}, view).Write.Repairs)
}

// The keys of the second VectorSidecar's annotations contain its name.
func TestForInjection_AddsNameToBookkeepingKeys(t *testing.T) {
	view := application()
	view.Owned = map[string]workload.OwnedFields{theirs: {HasPlainAnnotations: true, Containers: []string{"audit"}}}
	annotations := tree.MapAt(ForInjection(mine, rendered("old", "a"), Policy{}, view).Write.Apply, "metadata", "annotations")
	require.Equal(t, "a", annotations[meta.AnnotationKeyFor(meta.AnnotationInputHash, "logs")])
	require.NotEmpty(t, annotations[meta.AnnotationKeyFor(meta.AnnotationAppliedHash, "logs")])
	require.NotContains(t, annotations, meta.AnnotationInputHash)
}
