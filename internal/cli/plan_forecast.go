// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// readSurroundings reads the objects that limit or scale the pods of the session's workloads, such as quotas and
// autoscalers. Objects in the files replace objects of the cluster. It prints a note for each kind that cannot be read.
func (s *session) readSurroundings(ctx context.Context) (*simulate.Surroundings, error) {
	surroundings := &simulate.Surroundings{Workloads: s.objects.Workloads(), Existing: map[string]simulate.Objects{}}
	if s.cluster != nil {
		identity := func(object client.Object) (client.Object, bool) { return object, true }
		for plural, list := range map[string]client.ObjectList{
			"ResourceQuotas": &corev1.ResourceQuotaList{}, "LimitRanges": &corev1.LimitRangeList{}, "HorizontalPodAutoscalers": &autoscalingv2.HorizontalPodAutoscalerList{},
		} {
			bounds, err := collectBounds(ctx, s, list, plural, identity, client.InNamespace(s.namespace))
			if err != nil {
				return nil, err
			}
			for _, bound := range bounds {
				surroundings.Add(bound)
			}
		}
	}
	for i := range s.sources {
		bound, err := s.sources[i].DecodeBound()
		if err != nil {
			return nil, err
		}
		if bound == nil {
			continue
		}
		bound.SetNamespace(cmp.Or(bound.GetNamespace(), s.filesNamespace))
		surroundings.Add(bound)
		if _, isQuota := bound.(*corev1.ResourceQuota); !isQuota {
			continue
		}
		existing, err := s.existingObjects(ctx, bound.GetNamespace())
		if err != nil {
			return nil, err
		}
		surroundings.Existing[bound.GetNamespace()] = existing
	}
	if s.cluster != nil {
		if err := s.readRevisions(ctx, surroundings); err != nil {
			return nil, err
		}
	}
	return surroundings, nil
}

// readRevisions reads the revisions of workloads if quotas count them. A change that returns to an existing revision
// does not create another one.
func (s *session) readRevisions(ctx context.Context, surroundings *simulate.Surroundings) error {
	isRead := map[string]bool{}
	for i := range surroundings.Quotas {
		quota := &surroundings.Quotas[i]
		for name := range quota.Spec.Hard {
			holder, ok := workload.CountedHolder(name)
			key := quota.Namespace + "/" + holder.Plural
			if !ok || isRead[key] {
				continue
			}
			isRead[key] = true
			revisions, err := collectBounds(ctx, s, holder.NewList(), holder.Plural, withoutManagers, client.InNamespace(quota.Namespace))
			if err != nil {
				return err
			}
			surroundings.Revisions = append(surroundings.Revisions, revisions...)
		}
	}
	return nil
}

// withoutManagers returns a copy of an object without its managedFields, which are not needed.
func withoutManagers(object client.Object) (workload.Object, bool) {
	object.SetManagedFields(nil)
	reduced, ok := object.DeepCopyObject().(workload.Object)
	return reduced, ok
}

// collectBounds lists objects of the cluster, and returns the results of reduce for them. It prints a note if they
// cannot be listed.
func collectBounds[T any](ctx context.Context, s *session, list client.ObjectList, plural string, reduce func(client.Object) (T, bool), namespace client.InNamespace) ([]T, error) {
	bounds, err := livelist.Collect(ctx, livelist.New(s.cluster), list, reduce, namespace)
	switch {
	case apierrors.IsForbidden(err) || isNoMatch(err):
		s.addNote(fmt.Sprintf("the forecast ignores %s, because they could not be listed: %v", plural, err))
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("listing %s: %w", plural, err)
	}
	return bounds, nil
}

// rootCertificates is the name of the ConfigMap that Kubernetes creates in each namespace, which quotas count.
const rootCertificates = "kube-root-ca.crt"

// existingObjects returns the numbers of existing objects in a namespace that quotas count. It is needed for quotas in
// files, which have no status.
func (s *session) existingObjects(ctx context.Context, namespace string) (simulate.Objects, error) {
	names := map[string]bool{}
	if s.cluster == nil {
		names[rootCertificates] = true
	} else {
		configMaps := livelist.Metadata(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		live, err := collectBounds(ctx, s, configMaps, "ConfigMaps", func(object client.Object) (string, bool) { return object.GetName(), true }, client.InNamespace(namespace))
		if err != nil {
			return simulate.Objects{}, err
		}
		for _, name := range live {
			names[name] = true
		}
	}
	var inFiles corev1.ConfigMapList
	if err := s.objects.List(ctx, &inFiles, client.InNamespace(namespace)); err != nil {
		return simulate.Objects{}, err
	}
	for i := range inFiles.Items {
		names[inFiles.Items[i].Name] = true
	}
	existing := simulate.Objects{ConfigMaps: len(names)}
	for _, sidecar := range s.objects.Sidecars() {
		if sidecar.Namespace == namespace && !meta.IsOfCluster(sidecar.Name) && sidecar.UID != "" {
			existing.VectorSidecars++
		}
	}
	return existing, nil
}

// createdObjects returns the numbers of objects that would be created in each namespace: the objects of VectorSidecars,
// and new VectorSidecars.
func createdObjects(results []*result) map[string]simulate.Objects {
	created := map[string]simulate.Objects{}
	for _, ruled := range results {
		namespace := ruled.sidecar.Namespace
		objects := created[namespace]
		for i := range ruled.decision.Missing {
			if ruled.decision.Missing[i].UID == "" { // ConfigMaps with a UID are updated.
				objects.ConfigMaps++
			}
		}
		if !meta.IsOfCluster(ruled.sidecar.Name) && ruled.sidecar.UID == "" {
			objects.VectorSidecars++
		}
		if objects != (simulate.Objects{}) {
			created[namespace] = objects
		}
	}
	return created
}

// simulatedRun is the combined effect of all steps of a plan.
type simulatedRun struct {
	startup time.Duration
	// replaced are the workloads with replaced pods. A workload occurs once, at its index in indexes.
	replaced []simulate.Replacement
	indexes  map[workload.Object]int
	// batches contains the duration of each batch, and soaks the soak time after the last batch of each wave.
	batches map[int]time.Duration
	soaks   map[string]time.Duration
}

// newSimulatedRun returns an empty run. startup is the time that a pod takes to become ready.
func newSimulatedRun(startup time.Duration) *simulatedRun {
	return &simulatedRun{startup: startup, indexes: map[workload.Object]int{}, batches: map[int]time.Duration{}, soaks: map[string]time.Duration{}}
}

// latestObject returns a workload after the steps so far.
func (o *simulatedRun) latestObject(object workload.Object) workload.Object {
	if n, isReplaced := o.indexes[object]; isReplaced {
		return o.replaced[n].After
	}
	return object
}

// addChange adds a step that replaces the pods of a workload and then soaks.
func (o *simulatedRun) addChange(object, after workload.Object, plannedStep *step, soak time.Duration) {
	o.batches[plannedStep.Batch] = max(o.batches[plannedStep.Batch], simulate.RolloutDuration(object, o.startup)+soak)
	n, isReplaced := o.indexes[object]
	if !isReplaced {
		n = len(o.replaced)
		o.indexes[object], o.replaced = n, append(o.replaced, simulate.Replacement{Before: object, Pods: plannedStep.Restarts})
	}
	o.replaced[n].After, o.replaced[n].Batch = after, max(o.replaced[n].Batch, plannedStep.Batch)
}

// totalDuration returns the duration of all batches and soaks, one after another.
func (o *simulatedRun) totalDuration() (sum time.Duration) {
	for _, batchDuration := range o.batches {
		sum += batchDuration
	}
	for _, watched := range o.soaks {
		sum += watched
	}
	return sum
}

// rolloutOrder is the order of the plans of VectorSidecars.
type rolloutOrder struct {
	// batches are the batch numbers of the plans of each VectorSidecar. The number is 0 for a plan that cannot start.
	// An invalid VectorSidecar has no plans.
	batches [][]int
	// waves[i] is the wave of the i-th VectorSidecar.
	waves []plannedWave
}

// plannedWave is the wave of a VectorSidecar. The zero value means that the change does not roll out in waves.
type plannedWave struct {
	number int
	name   string
	soak   time.Duration
}

// planOrder assigns the plans of VectorSidecars to batches. The VectorSidecars share the rollout slots of the
// installation, and the plans of a wave come after all plans of the waves before. planOrder also blocks the plans in
// results that do not get a slot.
func (s *session) planOrder(results []*result) rolloutOrder {
	rules := cmp.Or(s.taker.Platform.Rollout, &fleet.Rules{}) // The installation may have no rules.
	order := rolloutOrder{batches: make([][]int, len(results)), waves: s.plannedWaves(results, rules)}
	waveNumbers := map[int]bool{}
	for n, result := range results {
		order.batches[n] = make([]int, len(result.decision.Plans))
		waveNumbers[order.waves[n].number] = true
	}
	lastBatch := 0
	for _, number := range slices.Sorted(maps.Keys(waveNumbers)) {
		var members []int // indexes of results
		var plans []simulate.PacedPlans
		for n, result := range results {
			if order.waves[n].number == number && result.decision.Invalid == nil {
				members, plans = append(members, n), append(plans, result.pacedPlans())
			}
		}
		previousWaves := lastBatch
		simulate.Share(plans, rules)
		for i, batches := range simulate.Batches(plans, rules) {
			member := members[i]
			results[member].decision.Plans = plans[i].Plans
			for j, batch := range batches {
				if batch > 0 {
					order.batches[member][j] = previousWaves + batch
					lastBatch = max(lastBatch, previousWaves+batch)
				}
			}
		}
	}
	return order
}

// plannedWaves returns the wave of each VectorSidecar if the planned change rolls out in waves.
func (s *session) plannedWaves(results []*result, rules *fleet.Rules) []plannedWave {
	waves := make([]plannedWave, len(results))
	if !s.inputs.values.isSet() && s.inputs.templates == "" || len(rules.Waves) == 0 {
		return waves
	}
	for n, ruled := range results {
		number := rules.WaveFor(ruled.input.NamespaceLabels, ruled.decision.Environment)
		name := rules.WaveName(number)
		waves[n] = plannedWave{number, name, rules.Soak(name)}
	}
	return waves
}

// printForecast prints the resources that the new pods need, and the effects on quotas and autoscalers.
func (o *planReport) printForecast(a *app) error {
	var rows [][]string
	for _, namespaceForecast := range o.Forecast.Namespaces {
		var classes []string
		for _, change := range namespaceForecast.QoS {
			classes = append(classes, fmt.Sprintf("%s %s → %s", change.Workload, change.From, change.To))
		}
		rows = append(rows, []string{
			namespaceForecast.Namespace, countText(namespaceForecast.Pods), signedText(namespaceForecast.Requests[corev1.ResourceCPU]), signedText(namespaceForecast.Requests[corev1.ResourceMemory]), textOrDash(joinFirst(classes)),
		})
	}
	if err := printSection(a, []string{"NAMESPACE", "PODS", "CPU REQUESTS", "MEMORY REQUESTS", "QOS CLASS"}, rows); err != nil {
		return err
	}
	rows = nil
	for _, quota := range o.Forecast.Quotas {
		effect := "-"
		switch {
		case quota.Missing != "":
			effect = "rejects pods: container " + quota.Missing + " does not set this resource"
		case quota.Rejects():
			effect = "rejects " + quota.Objects() + ": the quota is too low"
		}
		rows = append(rows, []string{quota.Namespace, quota.Name, string(quota.Resource), quota.Hard.String(), quota.Used.String(), quota.Peak.String(), quota.After.String(), effect})
	}
	if err := printSection(a, []string{"NAMESPACE", "RESOURCEQUOTA", "RESOURCE", "HARD", "USED", "PEAK", "AFTER", "EFFECT"}, rows); err != nil {
		return err
	}
	rows = nil
	for _, limit := range o.Forecast.Limits {
		rows = append(rows, []string{limit.Namespace, limit.Name, limit.Workload, string(limit.Type), "rejects pods: " + limit.Message})
	}
	if err := printSection(a, []string{"NAMESPACE", "LIMITRANGE", "WORKLOAD", "TYPE", "EFFECT"}, rows); err != nil {
		return err
	}
	rows = nil
	for _, autoscaler := range o.Forecast.Autoscalers {
		rows = append(rows, []string{autoscaler.Namespace, autoscaler.Name, autoscaler.Workload, string(autoscaler.Resource), autoscaler.Before.String(), autoscaler.After.String(), utilizationEffect(&autoscaler)})
	}
	if err := printSection(a, []string{"NAMESPACE", "AUTOSCALER", "WORKLOAD", "RESOURCE", "REQUESTS", "AFTER", "EFFECT"}, rows); err != nil || rows == nil {
		return err
	}
	a.printNote("an autoscaler whose metric is of type ContainerResource and names the application's container does not count sidecars")
	return nil
}

// utilizationEffect describes the effect of a different sum of requests on an autoscaler.
func utilizationEffect(forecast *simulate.AutoscalerForecast) string {
	switch {
	case forecast.Missing != "":
		return "cannot scale: container " + forecast.Missing + " has no request of this resource"
	case forecast.Before.IsZero():
		return "can scale; without the sidecar, it cannot"
	}
	return fmt.Sprintf("the measured utilization of the application falls to %d %% of its current value", forecast.Before.MilliValue()*100/max(forecast.After.MilliValue(), 1))
}

// joinFirst joins the first few texts.
func joinFirst(texts []string) string {
	const maxTexts = 3
	if len(texts) > maxTexts {
		return strings.Join(texts[:maxTexts], ", ") + fmt.Sprintf(" and %d more", len(texts)-maxTexts)
	}
	return strings.Join(texts, ", ")
}

// printSection prints a table after an empty line, nothing if it has no rows.
func printSection(a *app, header []string, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(a.Out); err != nil {
		return err
	}
	return printTable(a.Out, header, rows)
}

// signedText returns a quantity with its sign, or "-" for zero.
func signedText(quantity resource.Quantity) string {
	switch quantity.Sign() {
	case 0:
		return "-"
	case 1:
		return "+" + quantity.String()
	}
	return quantity.String()
}
