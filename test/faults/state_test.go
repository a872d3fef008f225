// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// seen has the objects in the namespace of a run.
type seen struct {
	namespace string
	// workloads are the workloads of the run's kind.
	workloads   map[string]workload.Object
	sidecars    map[string]*v1alpha1.VectorSidecar
	configMaps  []corev1.ConfigMap
	replicaSets []appsv1.ReplicaSet
	overlaySets []v1alpha1.OverlaySet
	// revisions are the stored revisions of the operator.
	revisions []appsv1.ControllerRevision
	// versions has the resource versions of all objects. Two reads with equal versions are equal.
	versions string
}

// look reads a namespace from the API server's cache, which is cheap, or with latest from etcd. The cheap read leaves
// out ConfigMaps and ReplicaSets while a rollout is in progress.
func (p *place) look(ctx context.Context, latest bool) (*seen, error) {
	options := []client.ListOption{client.InNamespace(p.namespace)}
	if !latest {
		options = append(options, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}})
	}
	s := &seen{namespace: p.namespace, workloads: map[string]workload.Object{}, sidecars: map[string]*v1alpha1.VectorSidecar{}}
	var sidecars v1alpha1.VectorSidecarList
	workloads := p.kind.NewList()
	if err := s.list(ctx, options, workloads.(client.ObjectList), &sidecars); err != nil {
		return nil, err
	}
	for _, object := range workload.Items(workloads) {
		s.workloads[object.GetName()] = object
	}
	for i := range sidecars.Items {
		s.sidecars[sidecars.Items[i].Name] = &sidecars.Items[i]
	}
	if !latest && s.unsettled() != "" {
		return s, nil
	}
	var configMaps corev1.ConfigMapList
	var replicaSets appsv1.ReplicaSetList
	var revisions appsv1.ControllerRevisionList
	var overlaySets v1alpha1.OverlaySetList
	if err := s.list(ctx, options, &configMaps, &replicaSets, &revisions, &overlaySets); err != nil {
		return nil, err
	}
	s.overlaySets = overlaySets.Items
	s.configMaps, s.replicaSets = configMaps.Items, replicaSets.Items
	s.revisions = slices.DeleteFunc(revisions.Items, func(one appsv1.ControllerRevision) bool { return one.Labels[meta.LabelManagedBy] != meta.Operator })
	return s, nil
}

// list fills the lists and records the versions of their objects.
func (s *seen) list(ctx context.Context, options []client.ListOption, lists ...client.ObjectList) error {
	for _, list := range lists {
		if err := world.Client.List(ctx, list, options...); err != nil {
			return fmt.Errorf("looking at namespace %s: %w", s.namespace, err)
		}
		err := apimeta.EachListItem(list, func(item runtime.Object) error {
			object, err := apimeta.Accessor(item)
			if err == nil {
				s.versions += object.GetName() + "@" + object.GetResourceVersion() + " "
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("reading a list: %w", err)
		}
	}
	return nil
}

// unsettled describes what is still in progress, or returns the empty string.
func (s *seen) unsettled() string {
	for name, vs := range s.sidecars {
		reconciling := apimeta.FindStatusCondition(vs.Status.Conditions, meta.ConditionReconciling)
		switch {
		case vs.DeletionTimestamp != nil:
			return name + " is being deleted"
		case vs.Status.ObservedGeneration != vs.Generation:
			return name + " has not been looked at"
		case reconciling != nil && reconciling.Status == metav1.ConditionTrue:
			return name + ": " + reconciling.Message
		}
	}
	return s.rolling()
}

// rolling names a workload whose rollout is in progress, or returns the empty string.
func (s *seen) rolling() string {
	for name, object := range s.workloads {
		content, _ := workload.Read(object)
		isDone := content.Rollout == workload.RolloutComplete || content.Rollout == workload.PodsNotReplaced
		if d, isDeployment := object.(*appsv1.Deployment); isDeployment {
			isDone = d.Spec.Paused || isComplete(d)
		}
		if !content.Observed || !isDone {
			return name + " is rolling out"
		}
	}
	return ""
}

// told returns the statuses of the VectorSidecars.
func (s *seen) told() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.sidecars)) {
		fmt.Fprintf(&b, "\n%s:", name)
		for _, c := range s.sidecars[name].Status.Conditions {
			fmt.Fprintf(&b, " %s=%s %s: %s;", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	return b.String()
}

// isComplete returns whether the Deployment controller has finished.
func isComplete(d *appsv1.Deployment) bool {
	return slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentProgressing && c.Reason == "NewReplicaSetAvailable"
	})
}

// state is the comparable result of a run: a string for each object, without values that differ between runs.
type state map[string]string

// ends returns the parts of a state that do not depend on earlier steps: the injected fields and the statuses of
// VectorSidecars. Old configurations and ReplicaSets stay as long as a workload can be rolled back to them, and a
// finalizer stays after the first write.
func (s *seen) ends() state {
	all := state{}
	for name, object := range s.workloads {
		all["workload "+name] = s.text(specOf(object, ofAnyRun(metadataOf(object))))
	}
	for name, vs := range s.sidecars {
		all["VectorSidecar "+name] = s.text(statusOfAnyRun(&vs.Status))
	}
	return all
}

// state returns the state of a namespace.
func (s *seen) state() state {
	all := state{}
	for name, object := range s.workloads {
		all["workload "+name] = s.text(specOf(object, ofAnyRun(metadataOf(object))))
	}
	for name, vs := range s.sidecars {
		all["VectorSidecar "+name] = s.text(&v1alpha1.VectorSidecar{ObjectMeta: ofAnyRun(&vs.ObjectMeta), Spec: vs.Spec, Status: statusOfAnyRun(&vs.Status)})
	}
	for i := range s.configMaps {
		c := &s.configMaps[i]
		if c.Name != "kube-root-ca.crt" {
			all["ConfigMap "+c.Name] = s.text(&corev1.ConfigMap{ObjectMeta: ofAnyRun(&c.ObjectMeta), Immutable: c.Immutable, Data: c.Data, BinaryData: c.BinaryData})
		}
	}
	for i := range s.revisions {
		one := &s.revisions[i]
		all["ControllerRevision "+one.Name] = s.text(&appsv1.ControllerRevision{ObjectMeta: ofAnyRun(&one.ObjectMeta), Data: one.Data, Revision: one.Revision})
	}
	for i := range s.overlaySets {
		one := &s.overlaySets[i]
		all["OverlaySet "+one.Name] = s.text(&v1alpha1.OverlaySet{ObjectMeta: ofAnyRun(&one.ObjectMeta), Spec: one.Spec})
	}
	for of, templates := range s.templates() {
		all["ReplicaSets of "+of] = s.text(templates)
	}
	return all
}

// templates returns the pod templates of ReplicaSets by Deployment, without names that have a hash. Their order is
// not the order of creation.
func (s *seen) templates() map[string][]string {
	all := map[string][]string{}
	for i := range s.replicaSets {
		set := &s.replicaSets[i]
		of := "nobody"
		if owner := metav1.GetControllerOf(set); owner != nil {
			of = owner.Name
		}
		template := set.Spec.Template.DeepCopy()
		delete(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
		all[of] = append(all[of], fmt.Sprintf("%d times %s", *set.Spec.Replicas, text(template)))
	}
	for _, templates := range all {
		slices.Sort(templates)
	}
	return all
}

// uid matches UIDs of objects, including those in managedFields.
var uid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// version matches the operator's version in the annotation rendered-from.
var version = regexp.MustCompile(`"operator":"[^"]*",`)

// since matches the times in the record of the published revision.
var since = regexp.MustCompile(`"since": "[^"]*"`)

// failedAt matches the time in the annotation of a failed revision.
var failedAt = regexp.MustCompile(`(` + meta.AnnotationFailed + `: \w+) \S+`)

// text returns an object as YAML, without its namespace and UIDs.
func (s *seen) text(object any) string {
	written, err := yaml.Marshal(object)
	if err != nil {
		return err.Error()
	}
	text := strings.ReplaceAll(string(written), s.namespace, "NAMESPACE")
	// Operators with leader election have another name than a single one.
	text = strings.ReplaceAll(text, harness.AccountNamespace+"/"+harness.Account, "NAMESPACE/vector-sidecar-operator")
	// An operator in the process of the tests has no version.
	text = version.ReplaceAllString(text, "")
	text = failedAt.ReplaceAllString(text, "$1 TIME")
	text = since.ReplaceAllString(text, `"since": "TIME"`)
	return uid.ReplaceAllString(text, "UID")
}

func text(object any) string {
	written, err := json.Marshal(object)
	if err != nil {
		return err.Error()
	}
	return string(written)
}

// metadataOf returns the metadata of a workload.
func metadataOf(object workload.Object) *metav1.ObjectMeta {
	return &apimeta.AsPartialObjectMetadata(object).ObjectMeta
}

// specOf returns a workload with other metadata, and without its status.
func specOf(object workload.Object, metadata metav1.ObjectMeta) map[string]any {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return map[string]any{"metadata": metadata, "spec": tree["spec"]}
}

// ofAnyRun returns metadata without the values that differ between runs.
func ofAnyRun(given *metav1.ObjectMeta) metav1.ObjectMeta {
	m := *given.DeepCopy()
	m.UID, m.ResourceVersion, m.Generation, m.CreationTimestamp = "", "", 0, metav1.Time{}
	for _, key := range []string{"deployment.kubernetes.io/revision", appsv1.DeprecatedTemplateGeneration} {
		delete(m.Annotations, key) // Rollouts are counted apart.
	}
	for key := range m.Annotations {
		if meta.IsAnnotationKey(key, meta.AnnotationChangeCause) {
			m.Annotations[key] = "CAUSE" // It tells of the fault.
		}
	}
	for i := range m.OwnerReferences {
		m.OwnerReferences[i].UID = ""
	}
	// Fields of the Deployment's controller are not compared.
	m.ManagedFields = slices.DeleteFunc(m.ManagedFields, func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == "kube-controller-manager" || e.Manager == argoController
	})
	for i := range m.ManagedFields {
		m.ManagedFields[i].Time = nil
	}
	slices.SortFunc(m.ManagedFields, func(a, b metav1.ManagedFieldsEntry) int {
		return cmp.Or(cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Subresource, b.Subresource))
	})
	return m
}

func statusOfAnyRun(given *v1alpha1.VectorSidecarStatus) v1alpha1.VectorSidecarStatus {
	s := *given.DeepCopy()
	s.LastReconcileTime, s.ObservedGeneration = nil, 0
	if s.Rollout != nil {
		s.Rollout.StartTime, s.Rollout.CompletionTime = nil, nil
	}
	if s.Reverted != nil {
		s.Reverted.RevertTime = metav1.Time{}
	}
	for i := range s.Conditions {
		s.Conditions[i].LastTransitionTime, s.Conditions[i].ObservedGeneration = metav1.Time{}, 0
	}
	return s
}

// differences describes how a state differs from the expected one, or returns the empty string.
func differences(should, is state) string {
	names := map[string]bool{}
	for name := range should {
		names[name] = true
	}
	for name := range is {
		names[name] = true
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if should[name] != is[name] {
			fmt.Fprintf(&b, "%s (-without the fault +with it):\n%s", name, gocmp.Diff(lines(should[name]), lines(is[name])))
		}
	}
	return b.String()
}

func lines(text string) []string { return strings.Split(text, "\n") }
