// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"path"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// gateCase is the input of one gate. It passes if want is "".
type gateCase struct {
	change func(e *evaluation, g *gateInput)
	want   string
	until  time.Time
}

// newTestGateInput returns the input of the gates for a DaemonSet that gets its first sidecar and that no gate blocks.
func newTestGateInput(t *testing.T) (*evaluation, *gateInput) {
	t.Helper()
	rules, err := policy.Parse("policy", nil)
	require.NoError(t, err)
	e := &evaluation{Input: inputAt(noon)}
	e.Platform = &desired.Platform{Policy: rules}
	overlay := &workload.Overlay{Hash: "new", Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "vector", SecurityContext: &corev1.SecurityContext{RunAsUser: new(int64(10001))}}},
	}}}
	view := workload.View{Ref: workload.Ref{Kind: "DaemonSet", Namespace: "shop", Name: "cart", UID: "cart"}}
	view.LastWriter = "helm"
	p := &plan.Plan{Target: view.Ref, Manager: meta.Manager("logs"), Change: plan.Inject, Desired: plan.NewDesired(overlay, "logs", "vector", "1", plan.Notes{})}
	return e, &gateInput{plan: p, view: &view, rendered: &desired.Rendered{Overlay: overlay}}
}

var (
	gateHour = noon.Add(time.Hour)

	gateCases = map[string]map[string]gateCase{
		"blockByApplicationPolicy": {
			"no secret": {change: func(*evaluation, *gateInput) {}},
			"the application's secret": {change: func(_ *evaluation, g *gateInput) {
				g.view.Secrets = []string{"token"}
				g.rendered.Overlay.Template.Spec.Volumes = []corev1.Volume{{Name: "a", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "token"}}}}
			}, want: meta.ReasonPolicyViolation},
		},
		"blockByCleanupPolicy": { // TestCheckCleanup_AllowsListedVolumeKinds has the volumes.
			"no cleanup": {change: func(*evaluation, *gateInput) {}},
		},
		"blockByPodSecurity": {
			"no level": {change: func(*evaluation, *gateInput) {}},
			"restricted": {change: func(e *evaluation, _ *gateInput) {
				e.NamespaceLabels = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
			}, want: meta.ReasonPodSecurity},
		},
		"blockByUserRange": {
			"no range":      {change: func(*evaluation, *gateInput) {}},
			"another range": {change: func(e *evaluation, _ *gateInput) { e.NamespaceUsers = policy.ParseUserRange("1000650000/10000") }, want: meta.ReasonUserOutOfRange},
		},
		"blockByAdmission": {
			"no owner":             {change: func(e *evaluation, _ *gateInput) { e.Sidecar.Spec.OwnedWorkloads = v1alpha1.OwnedAtAdmission }},
			"owners get it":        {change: ofOwner},
			"nothing is injected":  {change: atAdmission, want: meta.ReasonOwnedBy},
			"the same is injected": {change: func(e *evaluation, g *gateInput) { atAdmission(e, g); offering(e, g) }, want: meta.ReasonOwnedBy},
		},
		"blockByOwnerRemoval": {
			"no removal": {change: ofOwner},
			"a removal":  {change: func(e *evaluation, g *gateInput) { ofOwner(e, g); g.removal = &v1alpha1.OwnerRemoval{} }, want: meta.ReasonRemovedByOwner},
			"it still has a sidecar": {change: func(e *evaluation, g *gateInput) {
				ofOwner(e, g)
				g.removal, g.plan.Existing.HasSidecar = &v1alpha1.OwnerRemoval{}, true
			}},
		},
		"blockByMode": {
			"no wait":        {change: func(_ *evaluation, g *gateInput) { g.mode = &mode{setting: v1alpha1.ModeManual} }},
			"a promotion":    {change: waiting(mode{setting: v1alpha1.ModeManual}), want: meta.ReasonWaitingForPromotion},
			"an app rollout": {change: waiting(mode{setting: v1alpha1.ModeOnAppRollout}), want: meta.ReasonWaitingForAppRollout},
			"before its age": {change: waiting(mode{setting: v1alpha1.ModeManual, maxAge: time.Hour}), want: meta.ReasonWaitingForPromotion, until: gateHour},
			"after the max age": {change: func(e *evaluation, g *gateInput) {
				waiting(mode{setting: v1alpha1.ModeManual, maxAge: time.Hour})(e, g)
				e.Now = gateHour
			}},
		},
		"blockByCorrectionLoop": {
			"no loop":         {change: func(*evaluation, *gateInput) {}},
			"a loop":          {change: func(e *evaluation, g *gateInput) { looping(e, g.plan.InjectedHash()) }, want: meta.ReasonCorrectionLoop},
			"another sidecar": {change: func(e *evaluation, _ *gateInput) { looping(e, "older") }},
		},
		"blockByNodePort": {
			"no port":     {change: func(_ *evaluation, g *gateInput) { g.claims = []*gateInput{{ports: nodePort, view: g.view}} }},
			"a free port": {change: func(_ *evaluation, g *gateInput) { g.ports = nodePort }},
			"a port of an earlier one": {change: func(_ *evaluation, g *gateInput) {
				g.ports, g.claims = nodePort, []*gateInput{{ports: nodePort, view: &workload.View{Ref: workload.Ref{Name: "first"}}}}
			}, want: meta.ReasonBlocked, until: noon.Add(nodePortsInterval)},
			"a port of a container": {change: func(e *evaluation, g *gateInput) { g.ports, e.OnNodes = nodePort, listeningOnNode("other") }, want: meta.ReasonBlocked, until: noon.Add(nodePortsInterval)},
			"a port of its own":     {change: func(e *evaluation, g *gateInput) { g.ports, e.OnNodes = nodePort, listeningOnNode("cart") }},
		},
		"blockByInvalidConfig": {
			"no validation": {change: func(e *evaluation, _ *gateInput) { e.Verdict = always(VerdictInvalid) }},
			"rejected":      {change: validating(VerdictInvalid, ""), want: meta.ReasonInvalidConfig},
			"accepted":      {change: validating(VerdictValid, "")},
		},
		"blockByValidation": {
			"no validation": {change: func(*evaluation, *gateInput) {}},
			"in progress":   {change: validating(VerdictPending, ""), want: meta.ReasonValidating},
			"accepted":      {change: validating(VerdictValid, "")},
			"not possible":  {change: validating(VerdictUnable, "Wait")},
		},
		"blockByValidator": {
			"not possible":            {change: validating(VerdictUnable, "")},
			"not possible, it waits":  {change: validating(VerdictUnable, "Wait"), want: meta.ReasonNotValidated},
			"not installed, it waits": {change: func(e *evaluation, g *gateInput) { validating(VerdictValid, "Wait")(e, g); e.Verdict = nil }, want: meta.ReasonNotValidated},
			"accepted":                {change: validating(VerdictValid, "Wait")},
		},
		"blockByDryRun": {
			"no dry run":                 {change: func(*evaluation, *gateInput) {}},
			"rejected":                   {change: tried(preflight.Rejected), want: meta.ReasonPreflightRejected, until: gateHour},
			"rejected without a sidecar": {change: tried(preflight.RejectedAnyway), want: meta.ReasonApplicationRejected, until: gateHour},
			"no result":                  {change: tried(preflight.Inconclusive)},
		},
	}

	nodePort = []workload.NodePort{{Port: 9598, Protocol: corev1.ProtocolTCP}}
)

// Each gate of an injection has cases in the table, and does not block removals.
func TestFindBlock_TestsEachGate(t *testing.T) {
	tested := map[string]bool{}
	for _, gate := range slices.Concat(policyGates, ownerGates, changeGates, checkGates) {
		name := path.Ext(runtime.FuncForPC(reflect.ValueOf(gate).Pointer()).Name())[1:]
		tested[name] = true
		require.NotEmpty(t, gateCases[name], name)
		for title, test := range gateCases[name] {
			t.Run(name+"/"+title, func(t *testing.T) {
				e, g := newTestGateInput(t)
				test.change(e, g)
				gates := []func(e *evaluation, g *gateInput) *plan.Block{gate}
				block := findBlock(gates, e, g)
				if test.want == "" {
					require.Nil(t, block)
					return
				}
				require.NotNil(t, block)
				require.Equal(t, test.want, block.Reason)
				require.Equal(t, test.until, block.Until)
				for _, change := range []plan.Change{plan.None, plan.RecordOnly, plan.Adopt, plan.Remove} {
					g.plan.Change = change
					require.Nil(t, findBlock(gates, e, g), change)
				}
			})
		}
	}
	require.Len(t, gateCases, len(tested))
}

// A sidecar that is not written because of its dry run does not use a port of the node. A sidecar that waits will use it.
func TestDecide_LeavesPortsOfRejectedSidecarsFree(t *testing.T) {
	overlay := &workload.Overlay{Hash: "new", Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "vector", Ports: []corev1.ContainerPort{{ContainerPort: 9598}}}},
	}}}
	for name, test := range map[string]struct {
		result preflight.Result
		want   string
	}{
		"rejected": {preflight.Rejected, ""},
		"passed":   {preflight.Passed, meta.ReasonBlocked},
	} {
		t.Run(name, func(t *testing.T) {
			var workloads []evaluatedWorkload
			for _, name := range []string{"first", "second"} {
				view := workload.View{Ref: workload.Ref{Kind: "DaemonSet", Namespace: "shop", Name: name, UID: types.UID(name)}}
				view.HostNetwork = true
				p := plan.Plan{Target: view.Ref, Manager: meta.Manager("logs"), Change: plan.Inject, Desired: plan.NewDesired(overlay, "logs", "vector", "1", plan.Notes{})}
				workloads = append(workloads, evaluatedWorkload{Record: workloadcache.NewRecordWithView(view), Evaluated: &Evaluated{Plan: p, Rendered: &desired.Rendered{Overlay: overlay}}})
			}
			e := &evaluation{Input: inputAt(noon)}
			e.DryRuns = map[preflight.Key]preflight.DryRunResult{preflight.NewWorkloadKey(&workloads[0].Evaluated.Plan): {Result: test.result, Expiry: gateHour}}

			second := decideFor(e, workloads, nil).Plans[1]

			require.Equal(t, test.want == "", second.Writes())
			require.Equal(t, test.want, second.Reason())
		})
	}
}

func ofOwner(_ *evaluation, g *gateInput) {
	g.plan.Owner = &workload.Owner{Kind: "Kafka.kafka.strimzi.io", Name: "orders"}
}

func atAdmission(e *evaluation, g *gateInput) {
	ofOwner(e, g)
	e.Sidecar.Spec.OwnedWorkloads, e.overlayBlocker = v1alpha1.OwnedAtAdmission, "the VectorSidecar is invalid"
}

// offering makes the API server inject the sidecar of the plan.
func offering(e *evaluation, g *gateInput) {
	e.overlays = []desired.AdmissionOverlay{{Rendered: &desired.Rendered{Overlay: g.rendered.Overlay, Desired: g.plan.Desired}}}
}

func waiting(m mode) func(*evaluation, *gateInput) {
	return func(_ *evaluation, g *gateInput) {
		g.mode, g.wait, g.isWaitRecorded = &m, &workload.Wait{StartedAt: noon}, true
	}
}

func looping(e *evaluation, hash string) {
	e.CorrectionLoops = map[types.UID]CorrectionLoop{"cart": {InjectedHash: hash, Writes: 4}}
}

// listeningOnNode returns a DaemonSet of the namespace with a container on nodePort.
func listeningOnNode(name string) func() []*workloadcache.Record {
	view := workload.View{Ref: workload.Ref{Kind: "DaemonSet", Namespace: "shop", Name: name, UID: types.UID(name)}}
	view.HostNetwork, view.Containers = true, []workload.Container{{Name: "app", Ports: []corev1.ContainerPort{{ContainerPort: 9598}}}}
	return func() []*workloadcache.Record { return []*workloadcache.Record{workloadcache.NewRecordWithView(view)} }
}

// always returns the same result for each configuration.
func always(state VerdictState) func(string) Verdict {
	return func(string) Verdict { return Verdict{State: state, Message: "its word"} }
}

func validating(state VerdictState, whenUnable string) func(*evaluation, *gateInput) {
	return func(e *evaluation, g *gateInput) {
		g.rendered.Validation = &desired.Validation{Key: "key", WaitsWhenUnable: whenUnable == "Wait"}
		e.Verdict = always(state)
	}
}

func tried(result preflight.Result) func(*evaluation, *gateInput) {
	return func(e *evaluation, g *gateInput) {
		e.DryRuns = map[preflight.Key]preflight.DryRunResult{preflight.NewKey(g.plan): {Result: result, Expiry: gateHour}}
	}
}
