// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
)

// surroundings reads what bounds the pods of the scene's workloads, or counts on them. What may not
// be read is told and left out.
func (s *session) surroundings(ctx context.Context) (*simulate.Surroundings, error) {
	found := &simulate.Surroundings{}
	if s.cluster == nil {
		return found, nil
	}
	var quotas corev1.ResourceQuotaList
	var limits corev1.LimitRangeList
	var scalers autoscalingv2.HorizontalPodAutoscalerList
	for what, list := range map[string]client.ObjectList{"ResourceQuotas": &quotas, "LimitRanges": &limits, "HorizontalPodAutoscalers": &scalers} {
		err := s.cluster.List(ctx, list, client.InNamespace(s.namespace))
		switch {
		case apierrors.IsForbidden(err) || isNoMatch(err):
			s.note(fmt.Sprintf("could not read the %s, so that the forecast leaves them out: %v", what, err))
		case err != nil:
			return nil, fmt.Errorf("listing %s: %w", what, err)
		}
	}
	found.Quotas, found.LimitRanges, found.Autoscalers = quotas.Items, limits.Items, scalers.Items
	return found, nil
}

// clock adds up how long the turns of a plan take.
type clock struct {
	startup time.Duration
	// turns is how long each takes, and soaks how long is waited after its last rollouts.
	turns map[int]time.Duration
	soaks map[int]time.Duration
}

// add counts a rollout of a turn, which soaks.
func (c *clock) add(turn int, rollout simulate.Replacement, soak time.Duration) {
	c.turns[turn] = max(c.turns[turn], simulate.RolloutOf(rollout.Before, c.startup)+soak)
}

// total is how long all of them take, one after another.
func (c *clock) total() (sum time.Duration) {
	for _, took := range c.turns {
		sum += took
	}
	for _, waited := range c.soaks {
		sum += waited
	}
	return sum
}

// wavesOf returns the number of the wave of each VectorSidecar: one for all, unless what is planned
// is a change that goes by waves.
func (s *session) wavesOf(all []*result) (waves []int, rules *fleet.Rules) {
	waves, rules = make([]int, len(all)), s.taker.Platform.Rollout
	if s.inputs.values == "" && s.inputs.templates == "" || rules == nil || len(rules.Waves) == 0 {
		return waves, nil
	}
	for n, ruled := range all {
		waves[n] = rules.WaveOf(ruled.snapshot.NamespaceLabels, ruled.Environment)
	}
	return waves, rules
}

// printForecast prints what the new pods need besides the old ones.
func (o *planReport) printForecast(a *app) error {
	var rows [][]string
	for _, one := range o.Forecast.Namespaces {
		var classes []string
		for _, change := range one.QoS {
			classes = append(classes, fmt.Sprintf("%s %s → %s", change.Workload, change.From, change.To))
		}
		rows = append(rows, []string{
			one.Namespace, number(one.Pods), signed(one.Requests[corev1.ResourceCPU]), signed(one.Requests[corev1.ResourceMemory]), dash(fewOf(classes)),
		})
	}
	if err := section(a, []string{"NAMESPACE", "PODS", "CPU REQUESTS", "MEMORY REQUESTS", "QOS CLASS"}, rows); err != nil {
		return err
	}
	rows = nil
	for _, one := range o.Forecast.Quotas {
		says := "-"
		switch {
		case one.Missing != "":
			says = "refuses pods: container " + one.Missing + " has none"
		case one.IsShort():
			says = "refuses pods: it is too little"
		}
		rows = append(rows, []string{one.Namespace, one.Name, string(one.Resource), one.Hard.String(), one.Used.String(), one.Peak.String(), one.After.String(), says})
	}
	if err := section(a, []string{"NAMESPACE", "RESOURCEQUOTA", "RESOURCE", "HARD", "USED", "MEANWHILE", "AFTER", "EFFECT"}, rows); err != nil {
		return err
	}
	rows = nil
	for _, one := range o.Forecast.Autoscalers {
		rows = append(rows, []string{one.Namespace, one.Name, one.Workload, string(one.Resource), one.Before.String(), one.After.String(), readsOf(&one)})
	}
	if err := section(a, []string{"NAMESPACE", "AUTOSCALER", "WORKLOAD", "RESOURCE", "REQUESTS", "AFTER", "EFFECT"}, rows); err != nil || rows == nil {
		return err
	}
	a.note("an autoscaler whose metric has type ContainerResource, with the application's container, leaves sidecars out")
	return nil
}

// readsOf says what an autoscaler makes of another sum of requests.
func readsOf(of *simulate.AutoscalerForecast) string {
	switch {
	case of.Missing != "":
		return "cannot scale: container " + of.Missing + " requests none"
	case of.Before.IsZero():
		return "can scale, which it could not"
	}
	return fmt.Sprintf("what the application uses reads %d %% of before", of.Before.MilliValue()*100/max(of.After.MilliValue(), 1))
}

// fewOf joins the first of some texts.
func fewOf(texts []string) string {
	const few = 3
	if len(texts) > few {
		return strings.Join(texts[:few], ", ") + fmt.Sprintf(" and %d more", len(texts)-few)
	}
	return strings.Join(texts, ", ")
}

// section prints a table after an empty line, nothing if it has no rows.
func section(a *app, header []string, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(a.Out); err != nil {
		return err
	}
	return table(a.Out, header, rows)
}

// signed writes a quantity with its sign.
func signed(quantity resource.Quantity) string {
	switch quantity.Sign() {
	case 0:
		return "-"
	case 1:
		return "+" + quantity.String()
	}
	return quantity.String()
}
