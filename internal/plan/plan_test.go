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

var (
	mine   = meta.Manager("logs")
	theirs = meta.Manager("audit")
)

// sidecar is the desired sidecar of the tests.
func sidecar() *Desired {
	always := corev1.ContainerRestartPolicyAlways
	overlay := &workload.Overlay{
		Hash: "new",
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{
				Name: "vector", RestartPolicy: &always,
				Ports:        []corev1.ContainerPort{{ContainerPort: 9598}},
				VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/var/lib/vector"}, {Name: "logs", MountPath: "/var/log/app"}},
			}},
			Volumes: []corev1.Volume{{Name: "data"}},
		}},
		Body: map[string]any{"spec": map[string]any{
			"initContainers": []any{map[string]any{"name": "vector", "restartPolicy": "Always"}},
			"volumes":        []any{map[string]any{"name": "data"}},
		}},
	}
	return NewDesired(overlay, "logs", "vector", "config-1", Notes{}).WithInput(RequestedInput{Digest: "asked"})
}

// application is a workload that can take the sidecar.
func application() *workload.View {
	return &workload.View{
		Ref: workload.Ref{Kind: "Deployment", Namespace: "shop", Name: "cart", UID: "u"},
		PodView: workload.PodView{
			Containers: []workload.Container{{Name: "app", Ports: []corev1.ContainerPort{{ContainerPort: 8080}}}},
			Volumes:    []workload.Volume{{Name: "logs"}},
		},
		State: workload.State{Rollout: workload.RolloutComplete, Progress: workload.Progress{Evidence: 1}},
	}
}

// injected is the application with the sidecar.
func injected(hash string) *workload.View {
	view := application()
	view.Containers = append([]workload.Container{{Name: "vector", Init: true, Ports: []corev1.ContainerPort{{ContainerPort: 9598}}}}, view.Containers...)
	view.Volumes = append(view.Volumes, workload.Volume{Name: "data"})
	view.Owned = map[string]workload.OwnedFields{mine: {
		Hash: hash, InputHash: "older", AppliedHash: hash, InjectedHash: sidecar().InjectedHash(), HasPlainAnnotations: true, Containers: []string{"vector"}, Volumes: []string{"data"},
	}}
	return view
}

func current() *workload.View {
	return with(injected(sidecar().standalone.hash), owning(func(o *workload.OwnedFields) { o.InputHash = "asked" }))
}

func with(view *workload.View, change func(*workload.View)) *workload.View {
	change(view)
	return view
}

func owning(change func(*workload.OwnedFields)) func(*workload.View) {
	return func(v *workload.View) {
		owned := v.Owned[mine]
		change(&owned)
		v.Owned[mine] = owned
	}
}

// Each case is a workload, and the action of its plan, such as an injection, an update or none.
func TestForInjection_ChoosesActionByWorkload(t *testing.T) {
	older := owning(func(o *workload.OwnedFields) { o.Hash, o.InjectedHash, o.InputHash = "older", "older", "older" })
	changed := owning(func(o *workload.OwnedFields) { o.Hash = "changed by hand" })
	for name, test := range map[string]struct {
		view   *workload.View
		policy Policy
		want   Change
		reason string
	}{
		"an application":                      {view: application(), want: Inject},
		"one that carries it":                 {view: current(), want: None},
		"one that carries an older one":       {view: with(current(), older), want: Update},
		"one that somebody changed":           {view: with(current(), changed), want: Update},
		"a change that is only to be told":    {view: with(current(), changed), policy: Policy{ReportDrift: true}, want: ActionBlocked, reason: meta.ReasonDrifted},
		"an older one, by the same policy":    {view: with(current(), older), policy: Policy{ReportDrift: true}, want: Update},
		"one that is being deleted":           {view: with(application(), func(v *workload.View) { v.Deleting = true }), want: ActionBlocked, reason: meta.ReasonWorkloadDeleting},
		"one that opts out":                   {view: with(application(), func(v *workload.View) { v.OptOut = "false" }), want: ActionBlocked, reason: meta.ReasonOptedOut},
		"one that opts out after all":         {view: with(current(), func(v *workload.View) { v.OptOut = "false" }), want: Remove},
		"one that is paused":                  {view: with(application(), func(v *workload.View) { v.Paused = true }), want: ActionBlocked, reason: meta.ReasonWorkloadPaused},
		"one that is paused and carries it":   {view: with(current(), func(v *workload.View) { v.Paused = true }), want: None},
		"one that is paused and has an older": {view: with(with(current(), older), func(v *workload.View) { v.Paused = true }), want: ActionBlocked, reason: meta.ReasonWorkloadPaused},
		"one on the node's network":           {view: with(application(), onNode), want: ActionBlocked, reason: meta.ReasonHostNetwork},
		"the same, where that is allowed":     {view: with(application(), onNode), policy: Policy{HostNetwork: true}, want: Inject},
		"the same, which carries it":          {view: with(current(), onNode), want: None},
		"the same, which carries an older":    {view: with(with(current(), onNode), older), want: Update},
		"one that runs on Windows":            {view: with(application(), onWindows), policy: Policy{HostNetwork: true}, want: ActionBlocked, reason: meta.ReasonWindows},
		"the same, which has the sidecar":     {view: with(current(), onWindows), want: None},
		"the same, which has an older one":    {view: with(with(current(), onWindows), older), want: Update},
		"one of another operator":             {view: with(application(), ofKafka), want: Inject},
		"the same, where these are left out":  {view: with(application(), ofKafka), policy: Policy{SkipsOwned: true}, want: ActionBlocked, reason: meta.ReasonOwnedBy},
		"one of theirs that carries it":       {view: with(current(), ofKafka), policy: Policy{SkipsOwned: true}, want: Remove},
		"one of nobody, where these are":      {view: application(), policy: Policy{SkipsOwned: true}, want: Inject},
		"one that does not fit its type":      {view: with(application(), misfit), want: ActionBlocked, reason: meta.ReasonBlocked},
		"such a one, which carries it":        {view: with(current(), misfit), want: ActionBlocked, reason: meta.ReasonBlocked},
		"a status that does not":              {view: with(current(), func(v *workload.View) { v.Unread.Other = "status.replicas" }), want: ActionBlocked, reason: meta.ReasonBlocked},
		"one that does not, and opts out":     {view: with(current(), func(v *workload.View) { misfit(v); v.OptOut = "false" }), want: ActionBlocked, reason: meta.ReasonBlocked},
		"a container of the name":             {view: with(application(), func(v *workload.View) { v.Containers[0].Name = "vector" }), want: ActionConflict, reason: meta.ReasonConflict},
		"a volume of the name":                {view: with(application(), func(v *workload.View) { v.Volumes = append(v.Volumes, workload.Volume{Name: "data"}) }), want: ActionConflict, reason: meta.ReasonConflict},
		"no volume to mount":                  {view: with(application(), func(v *workload.View) { v.Volumes = nil }), want: ActionBlocked, reason: meta.ReasonBlocked},
		"a port that is taken":                {view: with(application(), func(v *workload.View) { v.Containers[0].Ports[0].ContainerPort = 9598 }), want: ActionBlocked, reason: meta.ReasonBlocked},
		"a port taken under its protocol's name": {view: with(application(), func(v *workload.View) {
			v.Containers[0].Ports[0] = corev1.ContainerPort{ContainerPort: 9598, Protocol: "TCP"}
		}), want: ActionBlocked, reason: meta.ReasonBlocked},
		"a port of another protocol": {view: with(application(), func(v *workload.View) {
			v.Containers[0].Ports[0] = corev1.ContainerPort{ContainerPort: 9598, Protocol: "UDP"}
		}), want: Inject},
		"the container of another VectorSidecar": {view: with(current(), func(v *workload.View) { v.Owned = map[string]workload.OwnedFields{theirs: v.Owned[mine]} }), want: ActionConflict, reason: meta.ReasonConflict},
		"an init container that got ahead":       {view: with(current(), gotAhead), want: None},
		"the same, where order matters":          {view: with(current(), gotAhead), policy: Policy{StrictOrder: true}, want: Update},
	} {
		t.Run(name, func(t *testing.T) {
			p := ForInjection(mine, sidecar(), test.policy, test.view)

			require.EqualValues(t, test.want, p.Action(), p.Message())
			require.Equal(t, test.reason, p.Reason())
			require.Equal(t, test.reason != "", p.Message() != "", "whoever is refused is told why")
			require.Equal(t, test.view.Ref, p.Target)
			require.Equal(t, mine, p.Manager)
			require.Equal(t, p.HasChange(Inject, Update), p.Write.Apply != nil)
			require.Equal(t, p.HasChange(Inject, Update, Remove), p.Writes())
		})
	}
}

// misfit is a template that does not fit its type: what is in it is not seen.
func misfit(v *workload.View) {
	v.Unread.Template, v.Containers, v.Volumes = "spec.template.spec.volumes cannot be read", nil, nil
}

// If the pod template cannot be decoded, the sidecar is not removed, and the status reports the field. An undecodable
// status does not prevent the removal.
func TestForRemoval_KeepsSidecarInUnreadableTemplate(t *testing.T) {
	record := with(current(), misfit)
	record.Kind, record.Owned = "Rollout", map[string]workload.OwnedFields{mine: {IsRecorded: true, InjectedHash: "x", Lost: []string{"data"}}}

	p := ForRemoval(mine, record)
	require.Equal(t, ActionBlocked, p.Action())
	require.Equal(t, meta.ReasonBlocked, p.Reason())
	require.Equal(t, "the sidecar cannot be removed: spec.template.spec.volumes cannot be read; the operator retries after the field is corrected", p.Message())
	require.True(t, p.Existing.IsOwned, "its ConfigMaps are still needed")
	require.False(t, p.Writes())
	require.Equal(t, None, ForRemoval(theirs, record).Change, "what is not in it need not be taken out")

	record = with(current(), func(v *workload.View) { v.Unread.Other = "status.replicas cannot be read" })
	require.Equal(t, Remove, ForRemoval(mine, record).Change)
}

func onNode(v *workload.View) { v.HostNetwork = true }

func ofKafka(v *workload.View) {
	v.Owner = &workload.Owner{Kind: "Kafka.kafka.strimzi.io", Name: "orders"}
}

func onWindows(v *workload.View) { v.Windows = "spec.nodeSelector" }

func gotAhead(v *workload.View) {
	v.Containers = append([]workload.Container{{Name: "migrate", Init: true}}, v.Containers...)
}

// sharing is the sidecar with a volume for the application's container.
func sharing() *Desired {
	overlay := *sidecar().overlay
	overlay.Mounts = []workload.Mount{{Container: "app", VolumeMount: corev1.VolumeMount{Name: "data", MountPath: "/data"}}}
	return NewDesired(&overlay, "logs", "vector", "config-1", Notes{}).WithInput(RequestedInput{Digest: "sharing"})
}

// shares is a workload with that sidecar and its mount.
func shares() *workload.View {
	view := injected(sharing().standalone.hash)
	view.Containers[1].Mounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	return with(view, owning(func(o *workload.OwnedFields) {
		o.InputHash, o.AppliedHash = "sharing", workload.AppliedHash(o.Hash, sharing().overlay.Mounts)
	}))
}

func TestForInjection_NamesBothManagersOfConflict(t *testing.T) {
	for name, test := range map[string]struct {
		view  *workload.View
		names []string
	}{
		"a container": {with(application(), func(v *workload.View) { v.Containers[0].Name = "vector" }), []string{`"vector"`, "spec.sidecar.name"}},
		"the container of another VectorSidecar": {
			with(current(), func(v *workload.View) { v.Owned = map[string]workload.OwnedFields{theirs: v.Owned[mine]} }), []string{`"vector"`, "audit"},
		},
		"a volume":           {with(application(), func(v *workload.View) { v.Volumes = append(v.Volumes, workload.Volume{Name: "data"}) }), []string{`"data"`}},
		"a missing volume":   {with(application(), func(v *workload.View) { v.Volumes = nil }), []string{`"vector"`, `"logs"`, "/var/log/app"}},
		"a port":             {with(application(), func(v *workload.View) { v.Containers[0].Ports[0].ContainerPort = 9598 }), []string{"9598", `"vector"`, `"app"`}},
		"a change by a hand": {with(injected("x"), func(v *workload.View) { v.LastWriter = "kubectl-edit" }), []string{"kubectl-edit", "spec.driftPolicy"}},
		"an opt-out":         {with(application(), func(v *workload.View) { v.OptOut = "no" }), []string{meta.AnnotationInject, "no"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := ForInjection(mine, sidecar(), Policy{ReportDrift: true}, test.view)
			for _, part := range test.names {
				require.Contains(t, p.Message(), part)
			}
		})
	}
}

// The rendering fails. A workload that opts out still loses its sidecar.
func TestForBlocked_AppliesOptOut(t *testing.T) {
	optedOut := func(v *workload.View) { v.OptOut = "\"false\"" }
	for name, test := range map[string]struct {
		view   *workload.View
		want   Change
		reason string
	}{
		"as it is":              {current(), ActionBlocked, meta.ReasonInvalidValues},
		"opted out":             {with(application(), optedOut), ActionBlocked, meta.ReasonOptedOut},
		"opted out, carries it": {with(current(), optedOut), Remove, ""},
		"being deleted":         {with(current(), func(v *workload.View) { v.Deleting = true }), ActionBlocked, meta.ReasonWorkloadDeleting},
	} {
		t.Run(name, func(t *testing.T) {
			p := ForBlocked(mine, test.view, Block{Kind: BlockedByObstacle, Reason: meta.ReasonInvalidValues, Message: "x"})
			require.EqualValues(t, test.want, p.Action())
			require.Equal(t, test.reason, p.Reason())
		})
	}
}

func TestForRemoval_RemovesExistingSidecar(t *testing.T) {
	for name, test := range map[string]struct {
		view *workload.View
		want Change
	}{
		"a workload that carries it":         {current(), Remove},
		"one that carries what is left":      {with(current(), owning(func(o *workload.OwnedFields) { o.Containers, o.Hash = nil, "" })), Remove},
		"one that carries nothing":           {application(), None},
		"one that carries another's":         {with(current(), func(v *workload.View) { v.Owned = map[string]workload.OwnedFields{theirs: v.Owned[mine]} }), None},
		"one that goes anyway":               {with(current(), func(v *workload.View) { v.Deleting = true }), None},
		"one that is paused":                 {with(current(), func(v *workload.View) { v.Paused = true }), Remove},
		"one whose container somebody wants": {with(current(), func(v *workload.View) { v.Containers[1].Name = "vector" }), Remove},
	} {
		t.Run(name, func(t *testing.T) {
			p := ForRemoval(mine, test.view)

			require.EqualValues(t, test.want, p.Action())
			if p.Change == Remove {
				require.Equal(t, map[string]any{}, p.Body(), "applying nothing gives up everything, whatever today's templates say")
			}
		})
	}
}

// Two VectorSidecars are injected. The first one keeps the annotations without a name in their keys, and the second one
// writes keys with its name.
func TestForInjection_AddsSidecarNameToKeysOfSecond(t *testing.T) {
	view := application()
	view.Owned = map[string]workload.OwnedFields{theirs: {HasPlainAnnotations: true, Containers: []string{"audit"}}}
	second := ForInjection(mine, sidecar(), Policy{}, view)
	require.Equal(t, Inject, second.Change)
	require.Equal(t, map[string]any{
		meta.AnnotationInjected: "true",
		meta.AnnotationKeyFor(meta.AnnotationInjectedHash, "logs"):     sidecar().InjectedHash(),
		meta.AnnotationKeyFor(meta.AnnotationSidecarName, "logs"):      "logs",
		meta.AnnotationKeyFor(meta.AnnotationContainerName, "logs"):    "vector",
		meta.AnnotationKeyFor(meta.AnnotationConfigMapVersion, "logs"): "config-1",
		meta.AnnotationKeyFor(meta.AnnotationInputHash, "logs"):        "asked",
		meta.AnnotationKeyFor(meta.AnnotationAppliedHash, "logs"):      workload.Hash(second.Write.Apply),
		meta.AnnotationKeyFor(meta.AnnotationChangeCause, "logs"):      second.Write.Cause,
	}, second.Write.Apply["metadata"].(map[string]any)["annotations"])

	view = current()
	view.Owned[theirs] = workload.OwnedFields{Containers: []string{"audit"}}
	first := ForInjection(mine, sidecar(), Policy{}, view)
	require.Equal(t, None, first.Change, "a second one changes nothing for the first")
}

func TestForInjection_PutsNativeSidecarBeforeInitContainers(t *testing.T) {
	view := with(application(), func(v *workload.View) {
		v.Containers = append([]workload.Container{{Name: "migrate", Init: true}, {Name: "warm-up", Init: true}}, v.Containers...)
	})

	p := ForInjection(mine, sidecar(), Policy{}, view)

	require.Equal(t, []string{"migrate", "warm-up"}, p.Write.InitAfter)
	require.Equal(t, []any{"vector", "migrate", "warm-up"}, initContainers(p.Body()), "their names order them")
	require.Equal(t, []any{"vector"}, initContainers(p.Write.Apply))

	p = ForInjection(mine, sharing(), Policy{}, view)
	require.NotNil(t, p.Write.Patch)
	require.Equal(t, p.Write.Apply, p.Body(), "a patch orders them already, and the owner's names are never applied")
}

func initContainers(body map[string]any) []any {
	pod := body["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	var names []any
	for _, item := range pod["initContainers"].([]any) {
		names = append(names, item.(map[string]any)["name"])
	}
	return names
}

func TestPlan_WritesNothingWithBlock(t *testing.T) {
	p := ForInjection(mine, sidecar(), Policy{}, application())
	require.Equal(t, p, p.WithBlock(nil))

	blocked := p.WithBlock(&Block{Kind: BlockedBySlot, Reason: meta.ReasonWaitingForSlot, Message: "its turn comes"})

	require.True(t, p.Writes())
	require.False(t, blocked.Writes())
	require.Equal(t, meta.ReasonWaitingForSlot, blocked.Reason())
}

// An injection patches mounts into the application's container, and a removal patches them out.
func TestForInjection_PatchesMountsIntoApplication(t *testing.T) {
	app := func(change func(*workload.Container)) func(*workload.View) {
		return func(v *workload.View) { change(&v.Containers[len(v.Containers)-1]) }
	}
	mounting := func(path string) *workload.View {
		return with(application(), app(func(c *workload.Container) { c.Mounts = []corev1.VolumeMount{{Name: "logs", MountPath: path}} }))
	}
	for name, test := range map[string]struct {
		view    *workload.View
		want    Change
		patches bool
	}{
		"an application":       {application(), Inject, true},
		"one that has it":      {shares(), None, false},
		"one that lost it":     {with(shares(), app(func(c *workload.Container) { c.Mounts = nil })), Update, true},
		"one that moved it":    {with(shares(), app(func(c *workload.Container) { c.Mounts[0].MountPath = "/x" })), Update, true},
		"another mount there":  {mounting("/data"), ActionConflict, false},
		"by a trailing slash":  {mounting("/data/"), ActionConflict, false},
		"by two slashes":       {mounting("//data"), ActionConflict, false},
		"by a way round":       {mounting("/var/../data/."), ActionConflict, false},
		"by no slash":          {mounting("data"), ActionConflict, false},
		"a mount below":        {mounting("/data/below"), Inject, true},
		"no such container":    {with(application(), app(func(c *workload.Container) { c.Name = "web" })), ActionBlocked, false},
		"only init containers": {with(application(), app(func(c *workload.Container) { c.Init = true })), ActionBlocked, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := ForInjection(mine, sharing(), Policy{}, test.view)

			require.EqualValues(t, test.want, p.Action(), p.Message())
			require.Equal(t, test.patches, p.Write.Patch != nil)
			require.NotContains(t, fmt.Sprint(p.Write.Apply), "mountPath", "no mount is applied")
		})
	}
	require.NotNil(t, ForInjection(mine, sidecar(), Policy{}, shares()).Write.Patch, "what is not wanted any more is patched out")
	require.NotNil(t, ForRemoval(mine, shares()).Write.Patch)
	require.Nil(t, ForRemoval(mine, current()).Write.Patch, "without a mount it is enough to give up")
}

// The annotation written-by is missing. That alone causes no write, so an installation that finds the sidecar of
// another one does not change it.
func TestForInjection_IgnoresMissingWriterAnnotation(t *testing.T) {
	marked := *sidecar()
	marked.notes.Marks = map[string]string{meta.AnnotationWrittenBy(mine): "vector-system/vso"}
	marked.standalone = marked.apply(plainKey, "")

	require.Equal(t, None, ForInjection(mine, &marked, Policy{}, current()).Change)
	require.Equal(t, "vector-system/vso", tree.MapAt(ForInjection(mine, &marked, Policy{}, application()).Write.Apply, "metadata", "annotations")[meta.AnnotationWrittenBy(mine)])
}

// The next VectorSidecar that writes to an orphaned sidecar removes the orphan annotation, although its field manager
// does not own the annotation.
func TestForInjection_RemovesOrphanAnnotation(t *testing.T) {
	left := func(view *workload.View) *workload.View {
		return with(view, owning(func(o *workload.OwnedFields) { o.Orphan = "true" }))
	}
	isUnmarked := func(p Plan) {
		annotations := tree.MapAt(p.Write.Patch, "metadata", "annotations")
		require.Contains(t, annotations, meta.AnnotationOrphaned(mine))
		require.Nil(t, annotations[meta.AnnotationOrphaned(mine)])
	}

	require.Equal(t, None, ForInjection(mine, sidecar(), Policy{}, left(current())).Change, "it is no reason to write")
	isUnmarked(ForInjection(mine, sidecar(), Policy{}, left(injected("old"))))
	isUnmarked(ForInjection(mine, sidecar(), Policy{}, left(shares())))
	isUnmarked(ForRemoval(mine, left(current())))
	isUnmarked(ForRemoval(mine, left(shares())))
	require.NotContains(t, ForRemoval(mine, left(current())).Write.Patch, "spec", "the rest is given up")
}

// The patch of a removal changes no items of other field managers.
func TestForRemoval_PatchesOnlyOwnedItems(t *testing.T) {
	view := shares()
	owned := view.Owned[mine]
	owned.Tree = map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{meta.AnnotationInjected: "true"}},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"initContainers": []any{map[string]any{"name": "vector", "env": []any{map[string]any{"name": "A", "value": "b"}}}},
			"volumes":        []any{map[string]any{"name": "data"}},
		}}},
	}
	view.Owned[mine] = owned
	without := func(item map[string]any) []any { return append([]any{}, item) }

	pod := tree.MapAt(ForRemoval(mine, view).Write.Patch, tree.Pod...)
	require.Equal(t, without(map[string]any{"name": "vector", "$patch": "delete"}), pod["initContainers"])
	require.Equal(t, without(map[string]any{"name": "data", "$patch": "delete"}), pod["volumes"])
	require.Equal(t, "app", tree.Name(tree.List(pod["containers"])[0]))
	require.NotContains(t, tree.List(pod["containers"])[0], "$patch")

	owned.DeployerContainers = []string{"vector"}
	view.Owned[mine] = owned
	p := ForRemoval(mine, view)
	require.True(t, p.Write.ReleaseOnly)
	require.Nil(t, p.Body(), "to apply nothing would take the container out")
	left := tree.Map(tree.List(tree.MapAt(p.Write.Patch, tree.Pod...)["initContainers"])[0])
	require.NotContains(t, left, "$patch", "it stays")
	require.Equal(t, without(map[string]any{"name": "A", "$patch": "delete"}), left["env"], "without anything of ours")
}

// Each case is a workload after an interrupted write. The plan completes the write, whichever request was the last one,
// and keeps the fields of the application.
func TestForInjection_CompletesInterruptedWrite(t *testing.T) {
	report := Policy{ReportDrift: true}
	for name, test := range map[string]struct {
		change func(*workload.OwnedFields)
		want   Change
		sends  bool
	}{
		"ordered, with the owner's names on record": {func(o *workload.OwnedFields) { o.Named, o.Unfinished = true, true }, RecordOnly, false},
		"applied, with the patch on record":         {func(o *workload.OwnedFields) { o.Patched, o.Unfinished = true, true }, RecordOnly, false},
		"patched, and not applied": {func(o *workload.OwnedFields) {
			o.Hash, o.Patched, o.Unfinished, o.Leftovers = "", true, true, []string{"vector", "data"}
		}, Update, true},
		"with nothing left but the record": {func(o *workload.OwnedFields) { *o = workload.OwnedFields{Patched: true, Unfinished: true} }, Inject, true},
		"changed by somebody, as reported": {func(o *workload.OwnedFields) { o.Hash = "changed" }, ActionBlocked, false},
		"patched before, and now out of it": {func(o *workload.OwnedFields) {
			o.Hash, o.InjectedHash, o.InputHash, o.Patched = "old", "old", "old", true
		}, Update, true},
	} {
		t.Run(name, func(t *testing.T) {
			view := with(current(), owning(test.change))
			if owned := view.Owned[mine]; owned.IsEmpty() {
				bare := application()
				bare.Owned, view = view.Owned, bare
			}
			p := ForInjection(mine, sidecar(), report, view)

			require.EqualValues(t, test.want, p.Action(), p.Message())
			require.Equal(t, test.sends, p.Body() != nil, "a record is trimmed, and nothing applied")
			require.False(t, p.Write.Repairs, "nobody has changed it")
		})
	}
}

// If a removal only has to release the managedFields entry, the plan applies no empty body. That would delete items
// that only this manager owns, such as an init container of the application.
func TestForRemoval_KeepsItemsOfApplication(t *testing.T) {
	for name, change := range map[string]func(*workload.OwnedFields){
		"names":          func(o *workload.OwnedFields) { o.Named = true },
		"a patch":        func(o *workload.OwnedFields) { o.Patched = true },
		"what came back": func(o *workload.OwnedFields) { o.Leftovers = []string{"vector"} },
	} {
		p := ForRemoval(mine, with(current(), owning(change)))
		require.Equal(t, Remove, p.Change, name)
		require.True(t, p.Write.ReleaseOnly, name)
		require.Nil(t, p.Body(), name)
	}
	husk := application()
	husk.Owned = map[string]workload.OwnedFields{mine: {Patched: true}}
	p := ForRemoval(mine, husk)
	require.Equal(t, RecordOnly, p.Change, "there is nothing to take out but the record")
	require.True(t, p.Write.ReleaseOnly)
	require.Nil(t, p.Write.Patch)
}

// The native sidecar of another VectorSidecar stays before the injected one.
func TestForInjection_KeepsOrderOfOtherNativeSidecars(t *testing.T) {
	view := with(application(), func(v *workload.View) {
		v.Containers = append([]workload.Container{{Name: "audit", Init: true}, {Name: "migrate", Init: true}}, v.Containers...)
		v.Owned = map[string]workload.OwnedFields{theirs: {Containers: []string{"audit"}}}
	})
	for _, desired := range []*Desired{sidecar(), sharing()} {
		p := ForInjection(mine, desired, Policy{}, view)
		require.Equal(t, []any{"audit", "vector", "migrate"}, initContainers(p.Write.orderedBody()))
	}
	p := ForInjection(mine, sharing(), Policy{}, view)
	var order []string
	for _, item := range tree.List(tree.MapAt(p.Write.Patch, tree.Pod...)["$setElementOrder/initContainers"]) {
		order = append(order, tree.Name(item))
	}
	require.Equal(t, []string{"audit", "vector", "migrate"}, order)

	view.Containers = append(view.Containers[:1], view.Containers[2:]...)
	p = ForInjection(mine, sidecar(), Policy{}, view)
	require.Empty(t, p.Write.InitAfter, "between sidecars there is no order")
}
