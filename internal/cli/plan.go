// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// planOptions are the flags of plan.
type planOptions struct {
	inputs *inputs

	output  *format
	startup time.Duration
}

// planReport is the predicted result of a rollout in a namespace or a cluster.
type planReport struct {
	// Workloads is the number of workloads that VectorSidecars select, or that have their sidecars. Restarts is the
	// number of replaced pods, and Batches the number of batches.
	Workloads int            `json:"workloads"`
	Restarts  int            `json:"restarts"`
	Batches   int            `json:"batches"`
	States    map[string]int `json:"states"`
	Steps     []step         `json:"steps"`

	// Estimate is the duration of all batches, such as 12m30s, if each pod is ready after --pod-startup. It does not
	// include the time until rollout windows open.
	Estimate string             `json:"estimate,omitempty"`
	Forecast *simulate.Forecast `json:"forecast,omitempty"`
	Invalid  []invalid          `json:"invalid,omitempty"`
	// Declared are the changes of the VectorSidecars and ClusterVectorSidecars that the values of --values declare.
	Declared []declaredChange `json:"declared,omitempty"`
}

// step is the planned change of one workload by one VectorSidecar.
type step struct {
	Namespace     string `json:"namespace"`
	VectorSidecar string `json:"vectorSidecar"`
	Workload      string `json:"workload"`
	Action        string `json:"action"`
	State         string `json:"state"`
	// Batch is the number of the batch in which the change starts, or 0 if nothing changes or the change cannot start.
	Batch int `json:"batch,omitempty"`
	// Wave is the name of the VectorSidecar's wave, or "" if the change does not roll out in waves.
	Wave     string `json:"wave,omitempty"`
	Restarts int    `json:"restarts"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"message,omitempty"`
}

// invalid is a VectorSidecar that injects nothing because of an error.
type invalid struct {
	Namespace     string `json:"namespace"`
	VectorSidecar string `json:"vectorSidecar"`
	Reason        string `json:"reason"`
	Message       string `json:"message"`
}

// newPlan returns the command plan.
func newPlan(a *app) *cobra.Command {
	options := planOptions{}
	command := &cobra.Command{
		Use:   "plan [-n NAMESPACE | -A] [-f FILE] [--sidecar FILE]",
		Short: "Show changes in a namespace or a cluster, their order, and skipped workloads",
		Long: `Show the changes in a namespace or a cluster: changed workloads, restarted pods, their order,
conflicts, and skipped workloads with the reason. It does not write.

A batch is a number of rollouts that run at once; the next one starts when it has finished. If all
rollout.windows of the installation are closed, the second batch starts with the next window. With
--values, VectorSidecars that the values declare (vectorSidecars) are included. With --values or
--templates, the batches are in the order of rollout.waves.

The forecast is arithmetic: requests that the new pods add; ResourceQuotas and LimitRanges that would
reject objects; autoscalers that would read another utilization for the same load; and changed QoS
classes. Quotas, limits and autoscalers of the files replace those of the cluster.`,
		Example: `# a namespace
kubectl vectorsidecar plan -n shop
# the cluster, if these VectorSidecars were changed
kubectl vectorsidecar plan -A --sidecar docs/samples/02-logs.yaml
# files alone, for a pipeline
kubectl vectorsidecar plan -f docs/samples/app/deployment.yaml --sidecar docs/samples/02-logs.yaml --label logs=vector -o json`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return options.run(command.Context()) },
	}
	options.inputs = newInputs(a, command)
	options.inputs.addWorkloadFlags(command)
	options.output = addFormat(command, "wide", "json", "yaml")
	command.Flags().DurationVar(&options.startup, "pod-startup", 30*time.Second, "time until a pod is ready, for the estimate of the duration")
	return command
}

// run predicts the rollout and prints the result.
func (o *planOptions) run(ctx context.Context) error {
	if err := o.output.check(); err != nil {
		return err
	}
	scene, err := o.inputs.openSession(ctx)
	if err != nil {
		return err
	}
	outlook, err := scene.planReport(ctx, o.startup)
	if err != nil {
		return err
	}
	if outlook.Declared, err = scene.planDeclared(ctx); err != nil {
		return err
	}
	if o.output.isTree() {
		return o.output.print(o.inputs.app.Out, outlook)
	}
	return outlook.print(o)
}

// planReport evaluates every VectorSidecar. startup is the time that a pod takes to become ready.
func (s *session) planReport(ctx context.Context, startup time.Duration) (*planReport, error) {
	result := &planReport{States: map[string]int{}, Steps: []step{}}
	merger, err := simulate.New()
	if err != nil {
		return nil, err
	}
	results, err := s.evaluateAll(ctx)
	if err != nil {
		return nil, err
	}
	surroundings, err := s.readSurroundings(ctx)
	if err != nil {
		return nil, err
	}
	order := s.planOrder(results)
	workloads, sum := map[workload.Object]bool{}, newSimulatedRun(startup)
	for n, ruled := range results {
		sidecar := ruled.sidecar
		if ruled.decision.Invalid != nil {
			result.Invalid = append(result.Invalid, invalid{sidecar.Namespace, sidecar.Name, ruled.decision.Invalid.Reason, ruled.decision.Invalid.Message})
		}
		for i := range ruled.decision.Plans {
			p := &ruled.decision.Plans[i]
			deployment := s.objects.Workload(p.Target)
			if deployment == nil || !s.filter.matches(deployment) {
				continue
			}
			plannedStep, after, err := newStep(merger, p, sum.latestObject(deployment), order.batches[n][i])
			if err != nil {
				return nil, err
			}
			plannedStep.VectorSidecar, plannedStep.Wave = sidecar.Name, order.waves[n].name
			if after != nil && plannedStep.Batch > 0 {
				sum.addChange(deployment, after, &plannedStep, ruled.decision.Limit.Soak)
				sum.soaks[order.waves[n].name] = order.waves[n].soak
			}
			result.addStep(plannedStep)
			workloads[deployment] = true
		}
	}
	result.Workloads = len(workloads)
	if len(sum.replaced) > 0 {
		result.Estimate = sum.totalDuration().String()
	}
	if change := (&simulate.Change{Replacements: sum.replaced, Created: createdObjects(results)}); len(change.Replacements)+len(change.Created) > 0 {
		result.Forecast = simulate.NewForecast(change, surroundings)
	}
	return result, nil
}

// evaluateAll evaluates every VectorSidecar.
func (s *session) evaluateAll(ctx context.Context) ([]*result, error) {
	var results []*result
	for _, sidecar := range s.objects.Sidecars() {
		ruled, err := s.evaluateSidecar(ctx, sidecar)
		if err != nil {
			return nil, err
		}
		results = append(results, ruled)
	}
	return results, nil
}

// pacedPlans returns the plans of a VectorSidecar with the limits of its rollouts.
func (r *result) pacedPlans() simulate.PacedPlans {
	return simulate.PacedPlans{Sidecar: client.ObjectKeyFromObject(r.sidecar), Plans: r.decision.Plans, Limit: r.decision.Limit, Matched: r.decision.Matched}
}

// newStep returns the step of a plan, and a copy of the workload after the step. The copy is nil if no pods are
// replaced.
func newStep(merger *simulate.Merger, p *plan.Plan, deployment workload.Object, batch int) (step, workload.Object, error) {
	plannedStep := step{
		Namespace: p.Target.Namespace, Workload: p.Target.Name,
		Action: p.Action(), State: string(p.State()), Batch: batch, Reason: p.Reason(), Message: p.Message(),
	}
	if !p.StartsPods() {
		return plannedStep, nil, nil
	}
	c := &change{before: deployment}
	after, err := c.applyPlan(merger, deployment, p)
	if err != nil || !c.isRestart { // An update may change only annotations of the workload.
		return plannedStep, nil, err
	}
	plannedStep.Restarts = restartCount(deployment)
	return plannedStep, after, nil
}

// addStep adds a step to the report and to its totals.
func (o *planReport) addStep(plannedStep step) {
	o.Steps = append(o.Steps, plannedStep)
	o.States[plannedStep.State]++
	o.Restarts += plannedStep.Restarts
	o.Batches = max(o.Batches, plannedStep.Batch)
}

// print prints the steps as a table, the forecast, and a summary.
func (o *planReport) print(options *planOptions) error {
	header := []string{"NAMESPACE", "VECTORSIDECAR", "WORKLOAD", "ACTION", "BATCH", "RESTARTS", "REASON"}
	hasWaves := slices.ContainsFunc(o.Steps, func(plannedStep step) bool { return plannedStep.Wave != "" })
	if hasWaves {
		header = append(header, "WAVE")
	}
	isWide := options.output.name == "wide"
	if isWide {
		header = append(header, "MESSAGE")
	}
	var rows [][]string
	for _, plannedStep := range o.sortedSteps() {
		row := []string{plannedStep.Namespace, plannedStep.VectorSidecar, plannedStep.Workload, plannedStep.Action, countText(plannedStep.Batch), countText(plannedStep.Restarts), textOrDash(plannedStep.Reason)}
		if hasWaves {
			row = append(row, plannedStep.Wave)
		}
		if isWide {
			row = append(row, plannedStep.Message)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		header = nil
	}
	if err := printTable(options.inputs.app.Out, header, rows); err != nil {
		return err
	}
	if err := printDeclared(options.inputs.app.Out, o.Declared); err != nil {
		return err
	}
	for _, invalidSidecar := range o.Invalid {
		options.inputs.app.printNote("no workload gets the sidecar of %s, for the reason %s: %s", meta.TitleIn(invalidSidecar.Namespace, invalidSidecar.VectorSidecar), invalidSidecar.Reason, invalidSidecar.Message)
	}
	if _, err := fmt.Fprintln(options.inputs.app.Out, o.summary()); err != nil {
		return err
	}
	if o.Estimate != "" {
		if _, err := fmt.Fprintf(options.inputs.app.Out, "The rollout takes about %s, if a pod is ready after %s (--pod-startup), without waiting for windows.\n", o.Estimate, options.startup); err != nil {
			return err
		}
	}
	if o.Forecast == nil {
		return nil
	}
	return o.printForecast(options.inputs.app)
}

// sortedSteps returns the steps by batch. Steps without a batch come last.
func (o *planReport) sortedSteps() []step {
	steps := slices.Clone(o.Steps)
	slices.SortStableFunc(steps, func(a, b step) int {
		turnRank := func(s step) int {
			if s.Batch == 0 {
				return o.Batches + 1
			}
			return s.Batch
		}
		return turnRank(a) - turnRank(b)
	})
	return steps
}

// summary returns the result in one line.
func (o *planReport) summary() string {
	actions := map[string]int{}
	for _, plannedStep := range o.Steps {
		actions[plannedStep.Action]++
	}
	var actionTexts []string
	for _, action := range []string{string(plan.Inject), string(plan.Update), string(plan.Adopt), string(plan.Remove), plan.ActionConflict, plan.ActionBlocked, plan.ActionDefer, string(plan.RecordOnly), string(plan.None)} {
		if n := actions[action]; n > 0 {
			actionTexts = append(actionTexts, fmt.Sprintf("%s %d", strings.ToLower(action), n))
		}
	}
	text := fmt.Sprintf("%s, %s would restart in %s", countNoun(o.Workloads, "workload"), countNoun(o.Restarts, "pod"), countNoun(o.Batches, "batch"))
	if len(actionTexts) > 0 {
		text += ": " + strings.Join(actionTexts, ", ")
	}
	return text
}

// countText returns a number as text, or "-" for 0.
func countText(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// textOrDash returns a text, or "-" for "".
func textOrDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
