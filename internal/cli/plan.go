// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// planOptions are the flags of plan.
type planOptions struct {
	*inputs

	output *format
}

// planReport is what would happen in a namespace or a cluster.
type planReport struct {
	// Workloads is how many workloads VectorSidecars are about, Restarts how many pods would be
	// replaced, Turns how many turns that takes.
	Workloads int            `json:"workloads"`
	Restarts  int            `json:"restarts"`
	Turns     int            `json:"turns"`
	States    map[string]int `json:"states"`
	Steps     []step         `json:"steps"`
	Invalid   []invalid      `json:"invalid,omitempty"`
}

// step is what would happen to one workload because of one VectorSidecar.
type step struct {
	Namespace     string `json:"namespace"`
	VectorSidecar string `json:"vectorSidecar"`
	Workload      string `json:"workload"`
	Action        string `json:"action"`
	State         string `json:"state"`
	// Turn is when it is carried out, from 1 for now. 0 means nothing to do, or never as things stand.
	Turn     int    `json:"turn,omitempty"`
	Restarts int    `json:"restarts"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"message,omitempty"`
}

// invalid is a VectorSidecar that injects nothing at all.
type invalid struct {
	Namespace     string `json:"namespace"`
	VectorSidecar string `json:"vectorSidecar"`
	Reason        string `json:"reason"`
	Message       string `json:"message"`
}

func newPlan(a *app) *cobra.Command {
	options := planOptions{}
	command := &cobra.Command{
		Use:   "plan [-n NAMESPACE | -A] [-f FILE] [--sidecar FILE]",
		Short: "Show what would happen in a namespace or a cluster, in which order, and what is skipped and why",
		Long: `Show what would happen in a namespace or a cluster: which workloads change, how many
pods restart, in which order, who is in conflict, who is skipped and why.

A turn is a number of rollouts that run at once; the next one begins when it has finished. If no window of the
installation's rollout.windows is open, the second turn begins with the next one. Nothing is written.`,
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
	options.many(command)
	options.output = addFormat(command, "wide", "json", "yaml")
	return command
}

func (o *planOptions) run(ctx context.Context) error {
	if err := o.output.check(); err != nil {
		return err
	}
	scene, err := o.open(ctx)
	if err != nil {
		return err
	}
	outlook, err := scene.planReport(ctx)
	if err != nil {
		return err
	}
	if o.output.isTree() {
		return o.output.print(o.app.Out, outlook)
	}
	return outlook.print(o)
}

// planReport decides about every VectorSidecar.
func (s *session) planReport(ctx context.Context) (*planReport, error) {
	result := &planReport{States: map[string]int{}, Steps: []step{}}
	merger, err := simulate.New()
	if err != nil {
		return nil, err
	}
	seen := map[workload.Object]bool{}
	all, err := s.ruleAll(ctx)
	if err != nil {
		return nil, err
	}
	turns := turnsOf(all)
	for n, ruled := range all {
		sidecar := ruled.sidecar
		if ruled.Invalid != nil {
			result.Invalid = append(result.Invalid, invalid{sidecar.Namespace, sidecar.Name, ruled.Invalid.Reason, ruled.Invalid.Message})
		}
		for i := range ruled.Plans {
			p := &ruled.Plans[i]
			deployment := s.Workload(p.Target)
			if deployment == nil || !s.about.includes(deployment) {
				continue
			}
			one, err := stepOf(merger, p, deployment, turns[n][i])
			if err != nil {
				return nil, err
			}
			one.VectorSidecar = sidecar.Name
			result.add(one)
			seen[deployment] = true
		}
	}
	result.Workloads = len(seen)
	return result, nil
}

// ruleAll decides about every VectorSidecar.
func (s *session) ruleAll(ctx context.Context) ([]*result, error) {
	var all []*result
	for _, sidecar := range s.Sidecars() {
		ruled, err := s.rule(ctx, sidecar)
		if err != nil {
			return nil, err
		}
		all = append(all, ruled)
	}
	return all, nil
}

// turnsOf returns the turns of the plans of VectorSidecars, which share the places of the
// installation. An invalid VectorSidecar has none.
func turnsOf(all []*result) [][]int {
	paced := make([]plan.Paced, len(all))
	var rules *fleet.Rules
	for n, ruled := range all {
		rules = ruled.snapshot.Platform.Rollout
		if ruled.Invalid == nil {
			paced[n] = ruled.paced()
		}
	}
	plan.Share(paced, rules)
	turns := plan.Turns(paced, rules)
	for n, ruled := range all {
		if ruled.Invalid != nil {
			turns[n] = make([]int, len(ruled.Plans))
		}
	}
	return turns
}

// paced are the plans and their limits.
func (r *result) paced() plan.Paced {
	return plan.Paced{Sidecar: client.ObjectKeyFromObject(r.sidecar), Plans: r.Plans, Limit: r.Limit, Matched: r.Matched}
}

func stepOf(merger *simulate.Merger, p *plan.Plan, deployment workload.Object, turn int) (step, error) {
	one := step{
		Namespace: p.Target.Namespace, Workload: p.Target.Name,
		Action: string(p.Action), State: string(p.Phase()), Turn: turn, Reason: p.Reason, Message: p.Message,
	}
	switch {
	case !isWritten(p):
		return one, nil
	case p.Action == plan.Update:
		// An update may change only annotations of the workload.
		c := &change{before: deployment}
		if _, err := c.carryOut(merger, deployment, p); err != nil || !c.isRestart {
			return one, err
		}
	}
	if content, _ := workload.Read(deployment); !content.Paused {
		one.Restarts = int(content.Pods)
	}
	return one, nil
}

func (o *planReport) add(one step) {
	o.Steps = append(o.Steps, one)
	o.States[one.State]++
	o.Restarts += one.Restarts
	o.Turns = max(o.Turns, one.Turn)
}

func (o *planReport) print(to *planOptions) error {
	header := []string{"NAMESPACE", "VECTORSIDECAR", "WORKLOAD", "ACTION", "TURN", "RESTARTS", "REASON"}
	isWide := to.output.name == "wide"
	if isWide {
		header = append(header, "MESSAGE")
	}
	var rows [][]string
	for _, one := range o.sorted() {
		row := []string{one.Namespace, one.VectorSidecar, one.Workload, one.Action, number(one.Turn), number(one.Restarts), dash(one.Reason)}
		if isWide {
			row = append(row, one.Message)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		header = nil
	}
	if err := table(to.app.Out, header, rows); err != nil {
		return err
	}
	for _, one := range o.Invalid {
		to.app.note("VectorSidecar %s/%s injects nothing: %s: %s", one.Namespace, one.VectorSidecar, one.Reason, one.Message)
	}
	_, err := fmt.Fprintln(to.app.Out, o.summary())
	return err
}

// sorted returns the steps in the order of their turns, those without one last.
func (o *planReport) sorted() []step {
	steps := slices.Clone(o.Steps)
	slices.SortStableFunc(steps, func(a, b step) int {
		last := func(s step) int {
			if s.Turn == 0 {
				return o.Turns + 1
			}
			return s.Turn
		}
		return last(a) - last(b)
	})
	return steps
}

// summary returns the result in one line.
func (o *planReport) summary() string {
	actions := map[string]int{}
	for _, one := range o.Steps {
		actions[one.Action]++
	}
	var parts []string
	for _, action := range []plan.Action{plan.Inject, plan.Update, plan.Remove, plan.Conflict, plan.Blocked, plan.Note, plan.None} {
		if n := actions[string(action)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", strings.ToLower(string(action)), n))
		}
	}
	text := fmt.Sprintf("%s, %s would restart in %s", count(o.Workloads, "workload"), count(o.Restarts, "pod"), count(o.Turns, "turn"))
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

func number(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
