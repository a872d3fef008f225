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
	change func(input *gateInput)
	want   string
	until  time.Time
}

// newTestGateInput returns the input for a DaemonSet that gets its first sidecar and that no gate blocks.
func newTestGateInput(t *testing.T) *gateInput {
	t.Helper()
	rules, err := policy.Parse("policy", nil)
	require.NoError(t, err)
	facts := &Facts{Input: inputAt(noon)}
	facts.Platform = &desired.Platform{Policy: rules}
	overlay := &workload.Overlay{Hash: "new", Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "vector", SecurityContext: &corev1.SecurityContext{RunAsUser: new(int64(10001))}}},
	}}}
	view := workload.View{Ref: workload.Ref{Kind: "DaemonSet", Namespace: "shop", Name: "cart", UID: "cart"}}
	view.LastWriter = "helm"
	p := &plan.Plan{Target: view.Ref, Manager: meta.Manager("logs"), Change: plan.Inject, Desired: plan.NewDesired(overlay, "logs", "vector", "1", plan.Notes{})}
	return &gateInput{facts: facts, plan: p, view: &view, rendered: &desired.Rendered{Overlay: overlay}, workload: &Workload{Record: workloadcache.NewRecordWithView(view)}}
}

var (
	gateHour = noon.Add(time.Hour)

	gateCases = map[string]map[string]gateCase{
		"blockByApplicationPolicy": {
			"no secret": {change: func(*gateInput) {}},
			"the application's secret": {change: func(input *gateInput) {
				input.view.Secrets = []string{"token"}
				input.rendered.Overlay.Template.Spec.Volumes = []corev1.Volume{{Name: "a", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "token"}}}}
			}, want: meta.ReasonPolicyViolation},
		},
		"blockByCleanupPolicy": { // TestCheckCleanup_AllowsListedVolumeKinds has the volumes.
			"no cleanup": {change: func(*gateInput) {}},
		},
		"blockByPodSecurity": {
			"no level": {change: func(*gateInput) {}},
			"restricted": {change: func(input *gateInput) {
				input.facts.NamespaceLabels = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
			}, want: meta.ReasonPodSecurity},
		},
		"blockByUserRange": {
			"no range":      {change: func(*gateInput) {}},
			"another range": {change: func(input *gateInput) { input.facts.NamespaceUsers = policy.ParseUserRange("1000650000/10000") }, want: meta.ReasonUserOutOfRange},
		},
		"blockByAdmission": {
			"no owner":             {change: func(input *gateInput) { input.facts.Sidecar.Spec.OwnedWorkloads = v1alpha1.OwnedAtAdmission }},
			"owners get it":        {change: ofOwner},
			"nothing is injected":  {change: atAdmission, want: meta.ReasonOwnedBy},
			"the same is injected": {change: func(input *gateInput) { atAdmission(input); offering(input) }, want: meta.ReasonOwnedBy},
		},
		"blockByOwnerRemoval": {
			"no removal": {change: ofOwner},
			"a removal":  {change: func(input *gateInput) { ofOwner(input); input.removal = &v1alpha1.OwnerRemoval{} }, want: meta.ReasonRemovedByOwner},
			"it still has a sidecar": {change: func(input *gateInput) {
				ofOwner(input)
				input.removal, input.plan.Existing.HasSidecar = &v1alpha1.OwnerRemoval{}, true
			}},
		},
		"blockByMode": {
			"no wait":        {change: func(input *gateInput) { input.mode = &mode{of: v1alpha1.ModeManual} }},
			"a promotion":    {change: waiting(mode{of: v1alpha1.ModeManual}), want: meta.ReasonWaitingForPromotion},
			"an app rollout": {change: waiting(mode{of: v1alpha1.ModeOnAppRollout}), want: meta.ReasonWaitingForAppRollout},
			"before its age": {change: waiting(mode{of: v1alpha1.ModeManual, maxAge: time.Hour}), want: meta.ReasonWaitingForPromotion, until: gateHour},
			"after the max age": {change: func(input *gateInput) {
				waiting(mode{of: v1alpha1.ModeManual, maxAge: time.Hour})(input)
				input.facts.Now = gateHour
			}},
		},
		"blockByCorrectionLoop": {
			"no loop":         {change: func(*gateInput) {}},
			"a loop":          {change: func(input *gateInput) { looping(input, input.plan.InjectedHash()) }, want: meta.ReasonCorrectionLoop},
			"another sidecar": {change: func(input *gateInput) { looping(input, "older") }},
		},
		"blockByNodePort": {
			"no port":     {change: func(input *gateInput) { input.claims = []*gateInput{{ports: nodePort, view: input.view}} }},
			"a free port": {change: func(input *gateInput) { input.ports = nodePort }},
			"a port of an earlier one": {change: func(input *gateInput) {
				input.ports, input.claims = nodePort, []*gateInput{{ports: nodePort, view: &workload.View{Ref: workload.Ref{Name: "first"}}}}
			}, want: meta.ReasonBlocked, until: noon.Add(nodePortsInterval)},
			"a port of a container": {change: func(input *gateInput) { input.ports, input.facts.OnNodes = nodePort, listeningOnNode("other") }, want: meta.ReasonBlocked, until: noon.Add(nodePortsInterval)},
			"a port of its own":     {change: func(input *gateInput) { input.ports, input.facts.OnNodes = nodePort, listeningOnNode("cart") }},
		},
		"blockByInvalidConfig": {
			"no validation": {change: func(input *gateInput) { input.facts.Verdict = always(VerdictInvalid) }},
			"rejected":      {change: validating(VerdictInvalid, ""), want: meta.ReasonInvalidConfig},
			"accepted":      {change: validating(VerdictValid, "")},
		},
		"blockByValidation": {
			"no validation": {change: func(*gateInput) {}},
			"in progress":   {change: validating(VerdictPending, ""), want: meta.ReasonValidating},
			"accepted":      {change: validating(VerdictValid, "")},
			"not possible":  {change: validating(VerdictUnable, "Wait")},
		},
		"blockByValidator": {
			"not possible":            {change: validating(VerdictUnable, "")},
			"not possible, it waits":  {change: validating(VerdictUnable, "Wait"), want: meta.ReasonNotValidated},
			"not installed, it waits": {change: func(input *gateInput) { validating(VerdictValid, "Wait")(input); input.facts.Verdict = nil }, want: meta.ReasonNotValidated},
			"accepted":                {change: validating(VerdictValid, "Wait")},
		},
		"blockByDryRun": {
			"no dry run":                 {change: func(*gateInput) {}},
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
				input := newTestGateInput(t)
				test.change(input)
				gates := []func(input *gateInput) *plan.Block{gate}
				block := findBlock(gates, input)
				if test.want == "" {
					require.Nil(t, block)
					return
				}
				require.NotNil(t, block)
				require.Equal(t, test.want, block.Reason)
				require.Equal(t, test.until, block.Until)
				for _, change := range []plan.Change{plan.None, plan.RecordOnly, plan.Adopt, plan.Remove} {
					input.plan.Change = change
					require.Nil(t, findBlock(gates, input), change)
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
			var workloads []Workload
			for _, name := range []string{"first", "second"} {
				view := workload.View{Ref: workload.Ref{Kind: "DaemonSet", Namespace: "shop", Name: name, UID: types.UID(name)}}
				view.HostNetwork = true
				p := plan.Plan{Target: view.Ref, Manager: meta.Manager("logs"), Change: plan.Inject, Desired: plan.NewDesired(overlay, "logs", "vector", "1", plan.Notes{})}
				workloads = append(workloads, Workload{Record: workloadcache.NewRecordWithView(view), Evaluated: &Evaluated{Plan: p, Rendered: &desired.Rendered{Overlay: overlay}}})
			}
			facts := &Facts{Input: inputAt(noon)}
			facts.DryRuns = map[preflight.Key]preflight.DryRunResult{preflight.NewWorkloadKey(&workloads[0].Evaluated.Plan): {Result: test.result, Expiry: gateHour}}

			second := Decide(facts, workloads, nil).Plans[1]

			require.Equal(t, test.want == "", second.Writes())
			require.Equal(t, test.want, second.Reason())
		})
	}
}

func ofOwner(input *gateInput) {
	input.plan.Owner = &workload.Owner{Kind: "Kafka.kafka.strimzi.io", Name: "orders"}
}

func atAdmission(input *gateInput) {
	ofOwner(input)
	input.facts.Sidecar.Spec.OwnedWorkloads, input.facts.OverlayBlocker = v1alpha1.OwnedAtAdmission, "the VectorSidecar is invalid"
}

// offering makes the API server inject the sidecar of the plan.
func offering(input *gateInput) {
	input.facts.Overlays = []desired.AdmissionOverlay{{Rendered: &desired.Rendered{Overlay: input.rendered.Overlay, Desired: input.plan.Desired}}}
}

func waiting(m mode) func(*gateInput) {
	return func(input *gateInput) {
		input.mode, input.wait, input.isWaitRecorded = &m, &workload.Wait{StartedAt: noon}, true
	}
}

func looping(input *gateInput, hash string) {
	input.facts.CorrectionLoops = map[types.UID]CorrectionLoop{"cart": {InjectedHash: hash, Writes: 4}}
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

func validating(state VerdictState, whenUnable string) func(*gateInput) {
	return func(input *gateInput) {
		input.rendered.Validation = &desired.Validation{Key: "key", WaitsWhenUnable: whenUnable == "Wait"}
		input.facts.Verdict = always(state)
	}
}

func tried(result preflight.Result) func(*gateInput) {
	return func(input *gateInput) {
		input.facts.DryRuns = map[preflight.Key]preflight.DryRunResult{preflight.NewKey(input.plan): {Result: result, Expiry: gateHour}}
	}
}
