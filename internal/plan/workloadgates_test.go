// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// workloadGateCase is a workload in front of one gate. It passes if want is "".
type workloadGateCase struct {
	view   *workload.View
	policy Policy
	// desired is the sidecar of the tests if it is nil.
	desired *Desired
	want    string
}

// compareWith returns the candidate of a case in front of the gates of a desired sidecar.
func (test *workloadGateCase) compareWith() *candidate {
	desired := test.desired
	if desired == nil {
		desired = sidecar()
	}
	return newCandidate(mine, desired, test.policy, test.view).withComparison()
}

var gateCases = map[string]map[string]workloadGateCase{
	"blockByDeletion": {
		"an application": {view: application()},
		"being deleted":  {view: with(application(), func(v *workload.View) { v.Deleting = true }), want: meta.ReasonWorkloadDeleting},
	},
	"blockByOptOut": {
		"an application": {view: application()},
		"opted out":      {view: with(application(), func(v *workload.View) { v.OptOut = "false" }), want: meta.ReasonOptedOut},
	},
	"blockBySuperseding": {
		"an application": {view: application()},
		"superseded":     {view: application(), policy: Policy{Superseded: "audit takes precedence"}, want: meta.ReasonSuperseded},
	},
	"blockByOwner": {
		"an owner":                  {view: with(application(), ofKafka)},
		"an owner that is skipped":  {view: with(application(), ofKafka), policy: Policy{SkipsOwned: true}, want: meta.ReasonOwnedBy},
		"owners skipped, but none":  {view: application(), policy: Policy{SkipsOwned: true}},
		"skipped, with the sidecar": {view: with(current(), ofKafka), policy: Policy{SkipsOwned: true}, want: meta.ReasonOwnedBy},
	},
	"blockByTemplateSource": {
		"own template":       {view: application()},
		"template elsewhere": {view: with(application(), func(v *workload.View) { v.TemplateSource = "Deployment cart" }), want: meta.ReasonTemplateInWorkloadRef},
		"with the sidecar":   {view: with(current(), func(v *workload.View) { v.TemplateSource = "Deployment cart" }), want: meta.ReasonTemplateInWorkloadRef},
	},
	"blockByWindows": {
		"Linux":            {view: application()},
		"Windows":          {view: with(application(), onWindows), want: meta.ReasonWindows},
		"with the sidecar": {view: with(current(), onWindows)},
	},
	"blockByHostNetwork": {
		"pod network":          {view: application()},
		"host network":         {view: with(application(), onNode), want: meta.ReasonHostNetwork},
		"host network allowed": {view: with(application(), onNode), policy: Policy{HostNetwork: true}},
		"with the sidecar":     {view: with(current(), onNode)},
	},
	"blockByImmutableTemplate": {
		"a Deployment":      {view: application()},
		"a Job":             {view: with(application(), ofKind("Job")), want: meta.ReasonTemplateImmutable},
		"a manifest of Job": {view: with(application(), ofKind("Job")), policy: Policy{Manifests: true}},
	},
	"blockByCompletion": {
		"a container in a Deployment":  {view: application(), desired: container()},
		"a container in a CronJob":     {view: with(application(), ofKind("CronJob")), desired: container(), want: meta.ReasonBlocked},
		"a native sidecar in the same": {view: with(application(), ofKind("CronJob"))},
	},
	"blockByContainerName": {
		"another name":     {view: application()},
		"the same name":    {view: with(application(), named("vector")), want: meta.ReasonConflict},
		"its own sidecar":  {view: current()},
		"of another owner": {view: with(current(), func(v *workload.View) { v.Owned = map[string]workload.OwnedFields{theirs: v.Owned[mine]} }), want: meta.ReasonConflict},
	},
	"blockByMetadata": {
		"no metadata":      {view: application()},
		"a label of their": {view: with(application(), func(v *workload.View) { v.PodLabels = []string{"team"} }), desired: labeled(), want: meta.ReasonConflict},
		"of the selector":  {view: with(application(), func(v *workload.View) { v.SelectorKeys = []string{"team"} }), desired: labeled(), want: meta.ReasonConflict},
	},
	"blockByVolumeName": {
		"another name":    {view: application()},
		"the same name":   {view: with(application(), func(v *workload.View) { v.Volumes = append(v.Volumes, workload.Volume{Name: "data"}) }), want: meta.ReasonConflict},
		"its own sidecar": {view: current()},
	},
	"blockByApplicationMounts": {
		"a free path":         {view: application(), desired: sharing()},
		"a path in use":       {view: with(application(), mounting("/data/")), desired: sharing(), want: meta.ReasonConflict},
		"no such container":   {view: with(application(), named("web")), desired: sharing(), want: meta.ReasonBlocked},
		"the sidecar's mount": {view: shares(), desired: sharing()},
	},
	"blockByVolumesAndPorts": {
		"all there":        {view: application()},
		"a missing volume": {view: with(application(), func(v *workload.View) { v.Volumes = nil }), want: meta.ReasonBlocked},
		"a port in use":    {view: with(application(), listening(9598)), want: meta.ReasonBlocked},
	},
	"blockByKeptPorts": {
		"a free port":                {view: kept()},
		"a port in use":              {view: with(kept(), listening(9598)), want: meta.ReasonBlocked},
		"a sidecar that is replaced": {view: with(application(), listening(9598))},
	},
	"blockByPausedWorkload": {
		"an injection":    {view: with(application(), paused), want: meta.ReasonWorkloadPaused},
		"an update":       {view: with(with(current(), older), paused), want: meta.ReasonWorkloadPaused},
		"no change":       {view: with(current(), paused)},
		"a kept sidecar":  {view: with(kept(), paused)},
		"not paused":      {view: application()},
		"only its record": {view: with(with(current(), owning(func(o *workload.OwnedFields) { o.InputHash = "older" })), paused)},
	},
	"blockByDrift": {
		"drift":                       {view: with(current(), changedByHand)},
		"drift that is only reported": {view: with(current(), changedByHand), policy: Policy{ReportDrift: true}, want: meta.ReasonDrifted},
		"an outdated sidecar":         {view: with(current(), older), policy: Policy{ReportDrift: true}},
		"no change":                   {view: current(), policy: Policy{ReportDrift: true}},
	},
}

// Each gate has cases in the table, and blocks a workload only for its own cause.
func TestWorkloadGate_BlocksOnlyItsCause(t *testing.T) {
	tested := map[string]bool{gateName(blockByUnread): true} // TestBlockByUnread_AllowsRemovalIfStatusIsUnreadable tests it.
	for _, gates := range [][]workloadGate{exclusionGates, sidecarGates} {
		for _, gate := range gates {
			name := gateName(gate.block)
			tested[name] = true
			for caseName, test := range gateCases[name] {
				t.Run(name+"/"+caseName, func(t *testing.T) {
					block := gate.block(test.compareWith())
					if test.want == "" {
						require.Nil(t, block)
						return
					}
					require.NotNil(t, block)
					require.Equal(t, test.want, block.Reason)
					require.NotEmpty(t, block.Message)
				})
			}
		}
	}
	for name := range gateCases {
		require.True(t, tested[name], name)
	}
	require.Len(t, tested, len(gateCases)+1, "a gate has no cases")
}

// A field of the workload cannot be decoded. That blocks an injection. It blocks a removal only if the field is in the
// pod template.
func TestBlockByUnread_AllowsRemovalIfStatusIsUnreadable(t *testing.T) {
	status := func(v *workload.View) { v.Unread.Other = "status.replicas cannot be read" }
	for name, test := range map[string]struct {
		view   *workload.View
		change Change
		want   string
	}{
		"readable":                          {application(), "", ""},
		"an unread template":                {with(application(), misfit), "", "the workload is not changed until the field is corrected"},
		"an unread status":                  {with(application(), status), "", "the workload is not changed until the field is corrected"},
		"an unread template, at removal":    {with(current(), misfit), Remove, "the operator retries after the field is corrected"},
		"an unread status, at removal":      {with(current(), status), Remove, ""},
		"an unread template, with a record": {with(application(), misfit), RecordOnly, ""},
	} {
		t.Run(name, func(t *testing.T) {
			block := blockByUnread(newCandidate(mine, nil, Policy{}, test.view).withoutDesired(test.change))
			if test.want == "" {
				require.Nil(t, block)
				return
			}
			require.NotNil(t, block)
			require.Contains(t, block.Message, test.want)
		})
	}
}

// Of all gates, only blockByUnread can block a removal, because a removal must not wait for an object that only an
// injection needs.
func TestWorkloadGate_OnlyBlockByUnreadStopsRemovals(t *testing.T) {
	var names []string
	for _, gate := range append(exclusionGates, sidecarGates...) {
		if gate.appliesToRemovals {
			names = append(names, gateName(gate.block))
		}
	}
	require.Equal(t, []string{"blockByUnread"}, names)
}

// Several causes require the removal of a sidecar. The first one in the fixed order is reported.
func TestRemovalCause_ReturnsFirstCause(t *testing.T) {
	optedOut := func(v *workload.View) { v.OptOut = `"false"` }
	deleting := func(v *workload.View) { v.Deleting = true }
	waits := owning(func(o *workload.OwnedFields) { *o = workload.OwnedFields{Waits: true} })
	superseded := Policy{Superseded: "audit takes precedence"}
	for name, test := range map[string]struct {
		view   *workload.View
		policy Policy
		want   string
	}{
		"no rule":                            {current(), Policy{}, ""},
		"superseded":                         {current(), superseded, "audit takes precedence"},
		"superseded, without a sidecar":      {application(), superseded, ""},
		"superseded, before an opt-out":      {with(current(), optedOut), superseded, "audit takes precedence"},
		"an opt-out":                         {with(current(), optedOut), Policy{}, meta.AnnotationInject},
		"an opt-out of one that waits":       {with(with(current(), waits), optedOut), Policy{}, meta.AnnotationInject},
		"an opt-out, without a sidecar":      {with(application(), optedOut), Policy{}, ""},
		"an opt-out of one being deleted":    {with(with(current(), optedOut), deleting), Policy{}, ""},
		"an opt-out, before a skipped owner": {with(with(current(), optedOut), ofKafka), Policy{SkipsOwned: true}, meta.AnnotationInject},
		"a skipped owner":                    {with(current(), ofKafka), Policy{SkipsOwned: true}, "spec.ownedWorkloads is Skip"},
		"a skipped owner without a sidecar":  {with(application(), ofKafka), Policy{SkipsOwned: true}, ""},
		"an owner":                           {with(current(), ofKafka), Policy{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cause := removalCause(newCandidate(mine, sidecar(), test.policy, test.view))
			if test.want == "" {
				require.Empty(t, cause)
				return
			}
			require.Contains(t, cause, test.want)
		})
	}
}

// Each case is a workload, and the change that it needs for the desired sidecar.
func TestCompare_ReturnsRequiredChange(t *testing.T) {
	for name, test := range map[string]struct {
		view   *workload.View
		policy Policy
		want   Change
		diff   func(*comparison) bool
	}{
		"no sidecar":              {view: application(), want: Inject},
		"a removed sidecar":       {view: with(current(), owning(func(o *workload.OwnedFields) { o.Containers, o.Volumes = nil, nil; o.Hash = "x" })), want: Inject},
		"the current sidecar":     {view: current(), want: None, diff: func(d *comparison) bool { return d.isRendered }},
		"an outdated record":      {view: with(current(), owning(func(o *workload.OwnedFields) { o.InputHash = "older" })), want: RecordOnly},
		"an outdated sidecar":     {view: with(current(), older), want: Update, diff: func(d *comparison) bool { return !d.isDrift }},
		"drift":                   {view: with(current(), changedByHand), want: Update, diff: func(d *comparison) bool { return d.isDrift }},
		"another rendering":       {view: kept(), want: None, diff: func(d *comparison) bool { return d.keepsRendering }},
		"a lost ConfigMap":        {view: kept(), policy: Policy{Renew: true}, want: Update},
		"an interrupted write":    {view: with(current(), owning(func(o *workload.OwnedFields) { o.Named = true })), want: RecordOnly, diff: func(d *comparison) bool { return d.isInterrupted }},
		"a container in front":    {view: with(kept(), gotAhead), want: None},
		"the same, with an order": {view: with(injected(sidecar().standalone.hash), gotAhead), policy: Policy{StrictOrder: true}, want: Update},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCandidate(mine, sidecar(), test.policy, test.view).withComparison()
			require.Equal(t, test.want, c.change)
			require.True(t, test.diff == nil || test.diff(&c.diff), "%+v", c.diff)
		})
	}
}

// gateName returns the name of the function of a gate.
func gateName(gate func(c *candidate) *Block) string {
	name := runtime.FuncForPC(reflect.ValueOf(gate).Pointer()).Name()
	return name[len("kontroloop.ai/vector-sidecar-operator/internal/plan."):]
}

// kept is a workload with a sidecar that an earlier release has written for the current input.
func kept() *workload.View {
	return with(injected("earlier"), owning(func(o *workload.OwnedFields) { o.InputHash = "asked" }))
}

// container is the sidecar in a container that is not native.
func container() *Desired {
	overlay := *sidecar().overlay
	overlay.Template.Spec.InitContainers, overlay.Template.Spec.Containers = nil, overlay.Template.Spec.InitContainers
	return NewDesired(&overlay, "logs", "vector", "config-1", Notes{}).WithInput(RequestedInput{Digest: "asked"})
}

// labeled is the sidecar with a pod label.
func labeled() *Desired {
	overlay := *sidecar().overlay
	overlay.Template.Labels = map[string]string{"team": "logs"}
	return NewDesired(&overlay, "logs", "vector", "config-1", Notes{}).WithInput(RequestedInput{Digest: "asked"})
}

func older(v *workload.View) {
	owning(func(o *workload.OwnedFields) { o.Hash, o.InjectedHash, o.InputHash = "older", "older", "older" })(v)
}

func changedByHand(v *workload.View) {
	owning(func(o *workload.OwnedFields) { o.Hash = "changed by hand" })(v)
}

func paused(v *workload.View) { v.Paused = true }

func ofKind(kind string) func(*workload.View) {
	return func(v *workload.View) { v.Kind = kind }
}

func named(name string) func(*workload.View) {
	return func(v *workload.View) { v.Containers[0].Name = name }
}

// mounting adds a mount to the application's container.
func mounting(path string) func(*workload.View) {
	return func(v *workload.View) {
		v.Containers[0].Mounts = []corev1.VolumeMount{{Name: "logs", MountPath: path}}
	}
}

// listening makes the application's container listen on a port.
func listening(port int32) func(*workload.View) {
	return func(v *workload.View) {
		v.Containers[len(v.Containers)-1].Ports = []corev1.ContainerPort{{ContainerPort: port}}
	}
}
