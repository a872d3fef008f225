// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// RemainingError lists the objects and fields that Clean has not removed.
type RemainingError struct{ Traces *Traces }

func (e *RemainingError) Error() string {
	var lines []string
	for i := range e.Traces.Workloads {
		lines = append(lines, describeWorkload(&e.Traces.Workloads[i].Ref)+" has a sidecar again; remove the sidecar from the manifest that restores it (eject -f FILE)")
	}
	for _, key := range e.Traces.CompanionKeys() {
		lines = append(lines, ExplainRemaining(key, e.Traces.Companions[key]))
	}
	for i := range e.Traces.Sidecars {
		lines = append(lines, fmt.Sprintf("VectorSidecar %s still exists; check its finalizers, and the client that creates it", qualifiedName(&e.Traces.Sidecars[i])))
	}
	for _, namespace := range e.Traces.OverlaySets {
		lines = append(lines, fmt.Sprintf("the OverlaySet of namespace %s exists again; stop the operator", namespace))
	}
	return strings.Join(humanize.TruncateList(lines, maxNamed, len(lines)), "; ")
}

// ExplainRemaining explains why a ConfigMap stays, and how to continue.
func ExplainRemaining(key client.ObjectKey, users []workload.Ref) string {
	if len(users) == 0 {
		return fmt.Sprintf("ConfigMap %s exists again; stop the operator", path.Join(key.Namespace, key.Name))
	}
	var names []string
	for i := range users[:min(maxNamed, len(users))] {
		names = append(names, describeWorkload(&users[i]))
	}
	advice := "remove the references from the pod template, or delete the workload"
	if !slices.ContainsFunc(users, func(user workload.Ref) bool { return user.Adapter().Traits.Immutable == "" }) {
		advice = "wait until these workloads have ended, or delete them"
	}
	return fmt.Sprintf("ConfigMap %s stays, because pods of %s need it; to remove the ConfigMap, %s",
		path.Join(key.Namespace, key.Name), strings.Join(humanize.TruncateList(names, maxNamed, len(users)), ", "), advice)
}

// describeWorkload returns the kind and name of a workload. The namespace may be empty, because a manifest may omit it.
func describeWorkload(ref *workload.Ref) string {
	return ref.Kind + " " + path.Join(ref.Namespace, ref.Name)
}

// CompanionKeys returns the sorted names of the ConfigMaps.
func (t *Traces) CompanionKeys() []client.ObjectKey {
	return slices.SortedFunc(maps.Keys(t.Companions), func(a, b client.ObjectKey) int { return cmp.Compare(a.String(), b.String()) })
}

// isStuck reports whether only ConfigMaps that workloads need are left.
func (t *Traces) isStuck() bool {
	for _, users := range t.Companions {
		if len(users) == 0 {
			return false
		}
	}
	return len(t.Workloads)+len(t.Sidecars)+len(t.OverlaySets) == 0
}

// NeededConfigMaps returns the identity of an object, and the names of the ConfigMaps that its new pods need. A Job of a
// CronJob counts separately, because it keeps the pod template of its start.
func NeededConfigMaps(object client.Object) (ref workload.Ref, names []string) {
	if object.GetDeletionTimestamp() != nil {
		return ref, nil
	}
	var pod *corev1.PodSpec
	if workloadObject, isWorkload := workload.ToObject(object); isWorkload {
		ref, pod = workload.NewRef(workloadObject), &workload.PodTemplate(workloadObject).Spec
	}
	if job, isJob := object.(*batchv1.Job); isJob {
		ref = workload.Ref{Kind: "Job", Namespace: job.Namespace, Name: job.Name, UID: job.UID}
		pod, isJob = workload.PodSpecFor(job)
		if !isJob || job.Labels[meta.LabelValidation] != "" {
			return ref, nil
		}
	}
	if pod == nil {
		return ref, nil
	}
	names = companion.ReferencedConfigMaps(pod)
	slices.Sort(names)
	return ref, slices.Compact(names)
}
