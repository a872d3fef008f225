// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// explainOptions are the flags of explain.
type explainOptions struct {
	inputs *inputs

	output *format
}

// explanation is the complete explanation of one workload, with the effect of each VectorSidecar.
type explanation struct {
	Workload string `json:"workload"`
	// Reason is a reason of the catalog, and Message a sentence. Together, they explain why the workload has the
	// sidecar or not.
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Owner is the controller owner of the workload, or "" for none.
	Owner string `json:"owner,omitempty"`
	// VectorSidecars are the VectorSidecars that can select the workload: the VectorSidecars of its namespace, and
	// the ClusterVectorSidecars that select the namespace.
	VectorSidecars []sidecarReport `json:"vectorSidecars"`

	// unreached names the ClusterVectorSidecars that do not select the namespace of the workload. It is "" for none.
	unreached string
	// otherNamespaceMatch names a VectorSidecar of another namespace with a selector that matches the workload. It is
	// "" for none.
	otherNamespaceMatch string
}

// sidecarReport describes the effect of one VectorSidecar on the workload, with the reasons.
type sidecarReport struct {
	Name    string `json:"name"`
	Matches bool   `json:"matches"`
	// Selector describes the labels that match, or the labels that do not match.
	Selector        string `json:"selector"`
	Environment     string `json:"environment,omitempty"`
	EnvironmentFrom string `json:"environmentFrom,omitempty"`
	Templates       string `json:"templates,omitempty"`
	// Assumed describes the assumption that was made because some data could not be read.
	Assumed  string `json:"assumed,omitempty"`
	Action   string `json:"action,omitempty"`
	State    string `json:"state,omitempty"`
	Batch    int    `json:"batch,omitempty"`
	Restarts int    `json:"restarts,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"message,omitempty"`
	// Cause is the cause of the next write, and ChangeCause the cause of the last write.
	Cause       string `json:"cause,omitempty"`
	ChangeCause string `json:"changeCause,omitempty"`
	Warning     string `json:"warning,omitempty"`
	// QoS describes how the sidecar changes the QoS class of the pods.
	QoS string `json:"qos,omitempty"`
	// Node explains why the Cluster Autoscaler cannot remove the nodes of the pods because of the sidecar.
	Node string `json:"node,omitempty"`
	// Remark is a property of the workload that affects a sidecar in it.
	Remark  string `json:"remark,omitempty"`
	Rollout string `json:"rollout,omitempty"`
	// InjectedBy names the injector of the existing sidecar: the API server or the operator. Admission names the
	// injector for new workloads, with the reason.
	InjectedBy string `json:"injectedBy,omitempty"`
	Admission  string `json:"admission,omitempty"`
	// Reverted explains that the operator renders the last known good spec because the current one has failed. It is ""
	// otherwise.
	Reverted string `json:"reverted,omitempty"`
	// InjectedEnv lists the variables that are injected into the application's containers.
	InjectedEnv string `json:"injectedEnv,omitempty"`
	// InjectedHash is the hash of the sidecar in the workload, and WantedHash the hash of the desired sidecar.
	InjectedHash string `json:"injectedHash,omitempty"`
	WantedHash   string `json:"wantedHash,omitempty"`
	// HasOlderRendering is true if an earlier release has rendered the sidecar, which stays unchanged until its next
	// change.
	HasOlderRendering bool    `json:"hasOlderRendering,omitempty"`
	Fields            []field `json:"fields,omitempty"`
}

// newExplain returns the command explain.
func newExplain(a *app) *cobra.Command {
	options := explainOptions{}
	command := &cobra.Command{
		Use:   "explain WORKLOAD",
		Short: "Explain the decision about one workload: why it has the sidecar or lacks it",
		Long: `Explain the decision about one workload: matching selectors, or the first requirement that does not
match; opt-out; environment and its origin; templates; the action, its reason, and why it waits;
cause of the last write; and owners of each of the operator's fields.`,
		Example: `# why does this workload have the sidecar, or lack it?
kubectl vectorsidecar explain deployment/cart -n shop
# all fields of the operator, with their owners
kubectl vectorsidecar explain cart -n shop -o wide
# from files
kubectl vectorsidecar explain cart -f docs/samples/app/deployment.yaml --sidecar docs/samples/02-logs.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			return options.run(command.Context(), arguments)
		},
	}
	options.inputs = newInputs(a, command)
	options.output = addFormat(command, "wide", "json", "yaml")
	command.ValidArgsFunction = options.inputs.completeWorkloads
	return command
}

// run prints the explanation of one workload. It returns an error if several workloads have the name.
func (o *explainOptions) run(ctx context.Context, arguments []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	scene, err := o.inputs.openSession(ctx, arguments...)
	if err != nil {
		return err
	}
	workloads, err := scene.pickWorkloads()
	if err != nil {
		return err
	}
	if len(workloads) > 1 {
		return fmt.Errorf("%d %s are named %q; add the kind, or set --namespace", len(workloads), workload.Plural(), arguments[0])
	}
	explained, err := scene.explainWorkload(ctx, workloads[0])
	if err != nil {
		return err
	}
	if o.output.isTree() {
		return o.output.print(o.inputs.app.Out, explained)
	}
	return explained.print(o.inputs.app.Out, o.output.name == "wide")
}

// explainWorkload collects the decisions of every VectorSidecar that may affect a workload.
func (s *session) explainWorkload(ctx context.Context, deployment workload.Object) (*explanation, error) {
	result := &explanation{Workload: workload.NewRef(deployment).Kind + " " + deployment.GetNamespace() + "/" + deployment.GetName()}
	view := workload.NewView(deployment)
	if view.Owner != nil {
		result.Owner = view.Owner.String()
	}
	results, err := s.evaluateAll(ctx)
	if err != nil {
		return nil, err
	}
	merger, err := simulate.New()
	if err != nil {
		return nil, err
	}
	names, order := map[string]bool{}, s.planOrder(results)
	for n, ruled := range results {
		if ruled.sidecar.Namespace != deployment.GetNamespace() {
			continue
		}
		names[ruled.sidecar.Name] = true
		report, err := s.sidecarReport(ctx, merger, ruled, order.batches[n], deployment)
		if err != nil {
			return nil, err
		}
		result.VectorSidecars = append(result.VectorSidecars, *report)
	}
	for _, cluster := range s.objects.Clusters() {
		if name := meta.ClusterSidecarName(cluster.Name); !names[name] {
			result.unreached += fmt.Sprintf("; ClusterVectorSidecar %s does not select namespace %s, or the namespace has opted out", cluster.Name, deployment.GetNamespace())
		}
	}
	if len(result.VectorSidecars) == 0 {
		hint, err := s.findInOtherNamespaces(ctx, deployment)
		if err != nil {
			return nil, err
		}
		result.otherNamespaceMatch = hint
	}
	result.setConclusion(&view)
	return result, nil
}

// sidecarReport explains the decision about one VectorSidecar of the workload's namespace. batches are the batches of
// its plans.
func (s *session) sidecarReport(ctx context.Context, merger *simulate.Merger, ruled *result, batches []int, deployment workload.Object) (*sidecarReport, error) {
	sidecar, view := ruled.sidecar, workload.NewView(deployment)
	owned, carries := view.Owned[meta.Manager(sidecar.Name)]
	report := &sidecarReport{
		Name: sidecar.Name, Environment: ruled.decision.Environment, EnvironmentFrom: ruled.decision.EnvironmentFrom,
		Templates: s.templatesName(ruled), Assumed: ruled.assumed, InjectedHash: owned.InjectedHash, ChangeCause: owned.ChangeCause,
		InjectedBy: injectionOrigin(&owned, carries), Admission: s.describeAdmission(ctx, sidecar),
		Fields: ownedFields(deployment, meta.Manager(sidecar.Name)), Reverted: lastgood.RevertMessage(sidecar),
	}
	content, _ := workload.Read(deployment)
	report.Remark = content.Remark
	report.Matches, report.Selector = ruled.matches(deployment)
	for i := range ruled.decision.Plans {
		p := &ruled.decision.Plans[i]
		if p.Target.Name == deployment.GetName() && p.Target.Kind == workload.NewRef(deployment).Kind {
			planned, _, err := newStep(merger, p, deployment, batches[i])
			if err != nil {
				return nil, err
			}
			report.addPlan(p, &planned, &view)
			report.InjectedEnv = describeInjectedEnv(p, &view, workload.PodTemplate(deployment))
		}
	}
	switch {
	case report.Matches && ruled.decision.Invalid != nil:
		report.Reason, report.Message = ruled.decision.Invalid.Reason, ruled.decision.Invalid.Message
	case report.Matches && !sidecar.Spec.IsEnabled():
		report.Reason, report.Message = meta.ReasonDisabled, "spec.enabled of the VectorSidecar is false"
	default:
		report.addStatus(sidecar, workload.NewRef(deployment))
	}
	return report, nil
}

// addPlan sets the fields that depend on the plan for the workload and on the step of that plan.
func (a *sidecarReport) addPlan(p *plan.Plan, planned *step, view *workload.View) {
	a.Action, a.State, a.Batch, a.Restarts, a.Rollout = planned.Action, planned.State, planned.Batch, planned.Restarts, string(p.Workload.Rollout)
	a.Reason, a.Message, a.Warning, a.Cause = planned.Reason, planned.Message, p.Warning, p.Write.Cause
	a.HasOlderRendering = p.Existing.UnchangedHash != ""
	if p.Desired != nil {
		a.WantedHash = p.Desired.InjectedHash()
		if class := p.Desired.QoSClass(view); class != view.QoSClass {
			a.QoS = fmt.Sprintf("the QoS class is %s with the sidecar, and %s without it", class, view.QoSClass)
		}
		if volumes := p.Desired.NodeBlockingVolumes(p.Manager, view); volumes != "" {
			a.Node = fmt.Sprintf("the Cluster Autoscaler keeps the node because of the volumes %s (sidecar.data.evictable)", strings.ReplaceAll(volumes, ",", ", "))
		}
	}
}

// addStatus sets the fields that depend on the status, because only the operator has this data: rejected writes, paused
// corrections, and errors of pods.
func (a *sidecarReport) addStatus(sidecar *v1alpha1.VectorSidecar, ref workload.Ref) {
	if sidecar.Status.ObservedGeneration != sidecar.Generation {
		return
	}
	for _, reported := range sidecar.Status.Workloads {
		if !reported.Is(ref.Kind, ref.Name) || reported.Reason == "" {
			continue
		}
		isKnown := false
		switch reported.State {
		case v1alpha1.StateRejected, v1alpha1.StateBlocked:
			isKnown = a.Reason == "" || reported.Reason == meta.ReasonPreflightRejected
		case v1alpha1.StateSkipped:
			isKnown = a.Reason == "" && reported.Reason == meta.ReasonApplicationRejected || a.Reason == meta.ReasonOwnedBy && reported.Reason == a.Reason
		case v1alpha1.StateFailed, v1alpha1.StatePodsBlocked:
			isKnown = a.Action == string(plan.None) && a.State != "Updated"
		case v1alpha1.StateDeferred: // Only the operator knows the injections of the API server.
			isKnown = a.Action == plan.ActionDefer
		default:
		}
		if isKnown {
			a.State, a.Reason, a.Message = string(reported.State), reported.Reason, reported.Message+byReport
		}
	}
}

// templatesName returns the name of the templates that render the sidecar.
func (s *session) templatesName(ruled *result) string {
	if s.inputs.templates != "" {
		return s.inputs.templates
	}
	return cmp.Or(ruled.decision.TemplateSet, desired.DefaultTemplateSet)
}
