// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// change is the combined effect of all VectorSidecars on one workload.
type change struct {
	before workload.Object
	// after is the workload with all changes, or nil if nothing would be written.
	after *unstructured.Unstructured
	// plans are the plans for the workload.
	plans []plan.Plan
	// isRestart is true if the pods are replaced.
	isRestart bool
}

// workloadFilter selects the workloads that a command applies to.
type workloadFilter struct {
	named    []workloadName
	selector labels.Selector
}

// workloadName is a workload on the command line. Its kind is "" if only a name is given.
type workloadName struct{ kind, name string }

// matches reports whether a workload has the name and, if the name has a kind, the kind.
func (n *workloadName) matches(object workload.Object) bool {
	return n.name == object.GetName() && (n.kind == "" || n.kind == workload.NewRef(object).Kind)
}

// parseFilter parses the command line: names such as "cart" or "deployment/cart".
func (s *inputs) parseFilter(arguments []string) (*workloadFilter, error) {
	selector, err := s.labelSelector()
	if err != nil {
		return nil, err
	}
	c := &workloadFilter{selector: selector}
	for _, argument := range arguments {
		kindName, name, isPair := strings.Cut(argument, "/")
		if !isPair {
			c.named = append(c.named, workloadName{name: argument})
			continue
		}
		kind := workload.KindNamed(kindName)
		if kind == nil {
			return nil, fmt.Errorf("%q is not a workload: sidecars are injected into %s; name one, such as %s/cart", argument, workload.Plural(), strings.ToLower(workload.Default().Kind))
		}
		c.named = append(c.named, workloadName{kind.Kind, name})
	}
	return c, nil
}

// matches reports whether the command applies to a workload: the label selector matches the workload, and the command
// line names the workload or none.
func (c *workloadFilter) matches(object workload.Object) bool {
	return c.selector.Matches(labels.Set(object.GetLabels())) &&
		(len(c.named) == 0 || slices.ContainsFunc(c.named, func(name workloadName) bool { return name.matches(object) }))
}

// pickWorkloads returns the workloads to which the command applies. Workloads from files keep their order. It returns
// an error for a name that matches no workload.
func (s *session) pickWorkloads() ([]workload.Object, error) {
	var workloads []workload.Object
	for _, deployment := range s.workloadsInOrder() {
		if s.filter.matches(deployment) && (s.namespace == "" || deployment.GetNamespace() == s.namespace) {
			workloads = append(workloads, deployment)
		}
	}
	for _, name := range s.filter.named {
		if !slices.ContainsFunc(workloads, name.matches) {
			return nil, fmt.Errorf("%s %q does not exist%s", cmp.Or(name.kind, workload.Singular()), name.name, namespacePhrase(s.namespace))
		}
	}
	return workloads, nil
}

// namespacePhrase returns the words that name a namespace at the end of a message, or "" for all namespaces.
func namespacePhrase(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in namespace " + namespace
}

// workloadsInOrder returns all workloads: first those in files, in the order of the files, then those of the cluster.
func (s *session) workloadsInOrder() []workload.Object {
	var workloads []workload.Object
	isIn := map[workload.Object]bool{}
	add := func(deployment workload.Object) {
		if !isIn[deployment] {
			isIn[deployment] = true
			workloads = append(workloads, deployment)
		}
	}
	for _, document := range s.documents {
		if object, ok := workload.ToObject(document.Object); ok {
			if current := s.objects.Workload(workload.NewRef(object)); current != nil {
				add(current)
			}
		}
	}
	for _, deployment := range s.objects.Workloads() {
		add(deployment)
	}
	return workloads
}

// mergedResult is the combined effect of all VectorSidecars of a session on its workloads.
type mergedResult struct {
	rulings []*result
	changes map[workload.Object]*change
}

// changeFor returns the change of a workload. It creates an empty change if there is none yet.
func (m *mergedResult) changeFor(deployment workload.Object) *change {
	if existing, ok := m.changes[deployment]; ok {
		return existing
	}
	return &change{before: deployment}
}

// mergeSidecars applies the decisions about all VectorSidecars, one after another, to copies of the workloads. It
// ignores rollout slots, because it shows the state after the rollout.
func (s *session) mergeSidecars(ctx context.Context) (*mergedResult, error) {
	merger, err := simulate.New()
	if err != nil {
		return nil, err
	}
	result := &mergedResult{changes: map[workload.Object]*change{}}
	latest := map[workload.Object]*change{} // By the workload as it is in the scene now.
	for _, sidecar := range s.objects.Sidecars() {
		ruled, err := s.evaluateSidecar(ctx, sidecar)
		if err != nil {
			return nil, err
		}
		result.rulings = append(result.rulings, ruled)
		for i := range ruled.decision.Plans {
			p := &ruled.decision.Plans[i]
			deployment := s.objects.Workload(p.Target)
			if deployment == nil || !s.filter.matches(deployment) {
				continue
			}
			workloadChange := latest[deployment]
			if workloadChange == nil {
				workloadChange = &change{before: deployment}
				latest[deployment], result.changes[deployment] = workloadChange, workloadChange
			}
			workloadChange.plans = append(workloadChange.plans, *p)
			if ruled.decision.Invalid != nil || !p.StartsPods() {
				continue
			}
			next, err := workloadChange.applyPlan(merger, deployment, p)
			if err != nil {
				return nil, err
			}
			s.objects.Put(next)
			latest[next] = workloadChange
		}
	}
	return result, nil
}

// applyPlan returns a copy of a workload to which a plan was applied.
func (c *change) applyPlan(merger *simulate.Merger, object workload.Object, p *plan.Plan) (workload.Object, error) {
	after, err := merger.Workload(object, p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", status.WorkloadTitle(p.Target), err)
	}
	next := p.Target.Adapter().New()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(after.Object, next); err != nil {
		return nil, fmt.Errorf("%s: %w", status.WorkloadTitle(p.Target), err)
	}
	c.after = after
	c.isRestart = !equality.Semantic.DeepEqual(workload.PodTemplate(c.before), workload.PodTemplate(next))
	return next, nil
}

// restartCount returns the number of pods of a workload that restart when its template changes. A paused workload keeps
// its pods.
func restartCount(object workload.Object) int {
	content, _ := workload.Read(object)
	if content.Paused {
		return 0
	}
	return int(content.Pods)
}

// setKind sets the kind and the API version of a workload, as in manifests.
func setKind(object workload.Object) {
	ref := workload.NewRef(object)
	object.GetObjectKind().SetGroupVersionKind(ref.Adapter().GroupVersionKind)
}

// companions returns the companions of all VectorSidecars that at least one of the workloads needs.
func (m *mergedResult) companions(workloads ...workload.Object) []*corev1.ConfigMap {
	var companions []*corev1.ConfigMap
	for _, ruled := range m.rulings {
		for i := range ruled.decision.Companions {
			if configMap := &ruled.decision.Companions[i]; ruled.referencesConfigMap(configMap, workloads...) {
				companions = append(companions, withTypeMeta(configMap))
			}
		}
	}
	return companions
}

// referencesConfigMap reports whether one of the workloads uses a companion, before or after the change.
func (r *result) referencesConfigMap(configMap *corev1.ConfigMap, workloads ...workload.Object) bool {
	return slices.ContainsFunc(workloads, func(object workload.Object) bool {
		return configMap.Namespace == object.GetNamespace() && slices.Contains(r.referencedConfigMaps(object), configMap.Name)
	})
}

// referencedConfigMaps returns the names of the ConfigMaps that a workload uses before or after the change.
func (r *result) referencedConfigMaps(object workload.Object) []string {
	target, names := workload.NewRef(object), companion.ReferencedConfigMaps(&workload.PodTemplate(object).Spec)
	isRefused := func(p plan.Plan) bool {
		return p.Target == target && (p.IsStopped() || p.IsDeferred())
	}
	if r.decision.Previous == nil || slices.ContainsFunc(r.decision.Plans, isRefused) {
		return names
	}
	for _, evaluated := range r.decision.Previous.Injected {
		if evaluated.Plan.Target != target {
			continue
		}
		for i := range evaluated.Companions {
			names = append(names, evaluated.Companions[i].Name)
		}
		if evaluated.Copied != nil {
			names = append(names, evaluated.Copied.Name)
		}
	}
	return names
}

// faultErrors returns an error for each VectorSidecar that is invalid, and therefore does not inject sidecars.
func (m *mergedResult) faultErrors() []error {
	var faults []error
	for _, ruled := range m.rulings {
		if ruled.decision.Invalid != nil {
			faults = append(faults, sidecarError(ruled.sidecar, len(m.rulings) > 1, ruled.decision.Invalid.Reason, ruled.decision.Invalid.Message))
		}
	}
	return faults
}

// sidecarError returns the error for a VectorSidecar. Its text names the VectorSidecar if hasOthers is true, because
// the session then has several.
func sidecarError(sidecar *v1alpha1.VectorSidecar, hasOthers bool, reason, message string) error {
	if hasOthers {
		return fmt.Errorf("%s: %s: %s", meta.TitleIn(sidecar.Namespace, sidecar.Name), reason, message)
	}
	return fmt.Errorf("%s: %s", reason, message)
}
