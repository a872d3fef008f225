// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

var argoGroupVersion = schema.GroupVersion{Group: "argoproj.io", Version: "v1alpha1"}

// ArgoRollout is a Rollout of Argo Rollouts, with the fields that are read. The others are
// kept as they came, so that the object is printed as it was read; it is written by patches
// alone.
type ArgoRollout struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ArgoRolloutSpec   `json:"spec,omitempty"`
	Status ArgoRolloutStatus `json:"status,omitempty"`

	// whole is the object that it was read from; nil for none.
	whole map[string]any
	// unread is what of it does not fit the types.
	unread Unread
}

// ArgoRolloutSpec is what is read of a Rollout's spec.
type ArgoRolloutSpec struct {
	Replicas        *int32                 `json:"replicas,omitempty"`
	Selector        *metav1.LabelSelector  `json:"selector,omitempty"`
	Template        corev1.PodTemplateSpec `json:"template,omitempty"`
	WorkloadRef     *ArgoWorkloadRef       `json:"workloadRef,omitempty"`
	MinReadySeconds int32                  `json:"minReadySeconds,omitempty"`
	Paused          bool                   `json:"paused,omitempty"`
	Strategy        ArgoStrategy           `json:"strategy,omitempty"`

	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`
}

// ArgoWorkloadRef names the workload whose pod template a Rollout uses.
type ArgoWorkloadRef struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Name       string `json:"name,omitempty"`
}

// ArgoStrategy is how a Rollout replaces its pods.
type ArgoStrategy struct {
	BlueGreen *struct{}   `json:"blueGreen,omitempty"`
	Canary    *ArgoCanary `json:"canary,omitempty"`
}

// ArgoCanary bounds the pods of a canary.
type ArgoCanary struct {
	MaxSurge       *intstr.IntOrString `json:"maxSurge,omitempty"`
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// ArgoRolloutStatus is what is read of a Rollout's status. The controller writes the
// generations as texts.
type ArgoRolloutStatus struct {
	ObservedGeneration         string          `json:"observedGeneration,omitempty"`
	WorkloadObservedGeneration string          `json:"workloadObservedGeneration,omitempty"`
	Phase                      string          `json:"phase,omitempty"`
	Abort                      bool            `json:"abort,omitempty"`
	CurrentPodHash             string          `json:"currentPodHash,omitempty"`
	StableRS                   string          `json:"stableRS,omitempty"`
	Selector                   string          `json:"selector,omitempty"`
	Replicas                   int32           `json:"replicas,omitempty"`
	UpdatedReplicas            int32           `json:"updatedReplicas,omitempty"`
	AvailableReplicas          int32           `json:"availableReplicas,omitempty"`
	Conditions                 []ArgoCondition `json:"conditions,omitempty"`
}

// ArgoCondition is a condition of a Rollout.
type ArgoCondition struct {
	Type    string                 `json:"type"`
	Status  corev1.ConditionStatus `json:"status"`
	Reason  string                 `json:"reason,omitempty"`
	Message string                 `json:"message,omitempty"`
}

// ArgoRolloutList is a list of Rollouts.
type ArgoRolloutList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ArgoRollout `json:"items"`
}

// argoFields are the fields without the methods.
type argoFields ArgoRollout

// UnmarshalJSON implements json.Unmarshaler. The definition rules out little of a pod template, and one
// Rollout that cannot be decoded would fail the list of all: what does not fit is left out, and noted.
func (r *ArgoRollout) UnmarshalJSON(text []byte) error {
	var whole map[string]any
	if err := utiljson.Unmarshal(text, &whole); err != nil {
		return err
	}
	var read argoFields
	if CheckQuantities[argoFields]("", whole) != nil || utiljson.Unmarshal(text, &read) != nil { // No API server has.
		fitting, err := fittingFields(whole)
		if err != nil {
			return err
		}
		read = fitting
	}
	read.whole = whole
	*r = ArgoRollout(read)
	return nil
}

// fittingFields reads the fields of the spec and the status one by one, and notes those that do not fit.
// Metadata fits, or the object has no name.
func fittingFields(whole map[string]any) (argoFields, error) {
	var read argoFields
	object := maps.Clone(whole)
	delete(object, "spec")
	delete(object, "status")
	if err := decodeTree(object, &read); err != nil {
		return argoFields{}, err
	}
	for _, part := range []string{"spec", "status"} {
		fields, isMap := whole[part].(map[string]any)
		if whole[part] != nil && !isMap {
			read.unread.Else = misfit(part, whole[part], func(value any) error { return decodeTree(map[string]any{part: value}, &argoFields{}) })
		}
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			read.fit(part, key, fields[key])
		}
	}
	if read.Spec.WorkloadRef != nil {
		read.unread.Template = "" // The other workload's is used.
	}
	return read, nil
}

// fit reads a field of the spec or the status if it fits. Of a pod template that does not the annotations
// are read all the same: they say what is in it of ours.
func (f *argoFields) fit(part, key string, value any) {
	decode := func(value any, into *argoFields) error {
		return decodeTree(map[string]any{part: map[string]any{key: value}}, into)
	}
	fits := func(value any) error { return decode(value, &argoFields{}) }
	if err := CheckQuantities[argoFields]("", map[string]any{part: map[string]any{key: value}}); err != nil {
		fits = func(any) error { return err }
	}
	why := misfit(part+tree.Path("", key), value, fits)
	switch {
	case why == "":
		_ = decode(value, f) // It has just been decoded.
	case part == "spec" && key == "template":
		f.unread.Template = why
		for name, text := range tree.At(tree.Map(value), "metadata", "annotations") {
			if text, isText := text.(string); isText {
				metav1.SetMetaDataAnnotation(&f.Spec.Template.ObjectMeta, name, text)
			}
		}
	default:
		f.unread.Else = cmp.Or(f.unread.Else, why)
	}
}

// decodeTree decodes a tree as the JSON that it was read from.
func decodeTree(of map[string]any, into any) error {
	text, err := json.Marshal(of)
	if err != nil {
		return err
	}
	return utiljson.Unmarshal(text, into)
}

// MarshalJSON implements json.Marshaler: the object as it was read, with its present
// metadata and status. Its spec is never changed.
func (r *ArgoRollout) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal((*argoFields)(r))
	if err != nil || r.whole == nil {
		return text, err
	}
	var present map[string]any
	if err := utiljson.Unmarshal(text, &present); err != nil {
		return nil, err
	}
	whole := maps.Clone(r.whole)
	for _, key := range []string{"apiVersion", "kind", "metadata"} {
		if value, is := present[key]; is {
			whole[key] = value
		}
	}
	if status := tree.Map(present["status"]); len(status) > 0 {
		merged := maps.Clone(tree.Map(whole["status"]))
		if merged == nil {
			merged = map[string]any{}
		}
		maps.Copy(merged, status)
		whole["status"] = merged
	}
	return json.Marshal(whole)
}

// DeepCopyObject implements runtime.Object.
func (r *ArgoRollout) DeepCopyObject() runtime.Object { return r.deepCopy() }

func (r *ArgoRollout) deepCopy() *ArgoRollout {
	copied := *r
	r.DeepCopyInto(&copied.ObjectMeta)
	copied.whole = runtime.DeepCopyJSON(r.whole)
	spec := &copied.Spec
	spec.Replicas = clonedPointer(r.Spec.Replicas)
	spec.Selector = r.Spec.Selector.DeepCopy()
	r.Spec.Template.DeepCopyInto(&spec.Template)
	spec.WorkloadRef = clonedPointer(r.Spec.WorkloadRef)
	if canary := r.Spec.Strategy.Canary; canary != nil {
		spec.Strategy.Canary = &ArgoCanary{MaxSurge: clonedPointer(canary.MaxSurge), MaxUnavailable: clonedPointer(canary.MaxUnavailable)}
	}
	copied.Status.Conditions = append([]ArgoCondition(nil), r.Status.Conditions...)
	return &copied
}

func clonedPointer[T any](of *T) *T {
	if of == nil {
		return nil
	}
	return ptr.To(*of)
}

// DeepCopyObject implements runtime.Object.
func (l *ArgoRolloutList) DeepCopyObject() runtime.Object {
	copied := *l
	l.DeepCopyInto(&copied.ListMeta)
	copied.Items = make([]ArgoRollout, len(l.Items))
	for i := range l.Items {
		copied.Items[i] = *l.Items[i].deepCopy()
	}
	return &copied
}
