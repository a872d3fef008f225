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
	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// argoRollout contains the fields of a Rollout that the operator reads. The Rollout itself is an unstructured
// object, so that printing it does not change it.
type argoRollout struct {
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   argoRolloutSpec   `json:"spec,omitempty"`
	Status argoRolloutStatus `json:"status,omitempty"`
}

// argoRolloutSpec contains the fields of a Rollout's spec that the operator reads.
type argoRolloutSpec struct {
	Replicas        *int32                 `json:"replicas,omitempty"`
	Selector        *metav1.LabelSelector  `json:"selector,omitempty"`
	Template        corev1.PodTemplateSpec `json:"template,omitempty"`
	WorkloadRef     *argoWorkloadRef       `json:"workloadRef,omitempty"`
	MinReadySeconds int32                  `json:"minReadySeconds,omitempty"`
	Paused          bool                   `json:"paused,omitempty"`
	Strategy        argoStrategy           `json:"strategy,omitempty"`

	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`
}

// argoWorkloadRef names the other workload that has the pod template of a Rollout.
type argoWorkloadRef struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Name       string `json:"name,omitempty"`
}

// argoStrategy describes how a Rollout replaces its pods.
type argoStrategy struct {
	BlueGreen *struct{}   `json:"blueGreen,omitempty"`
	Canary    *argoCanary `json:"canary,omitempty"`
}

// argoCanary is the part of an Argo Rollout's canary strategy that limits how many pods get the new template at once.
type argoCanary struct {
	MaxSurge       *intstr.IntOrString `json:"maxSurge,omitempty"`
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// argoRolloutStatus contains the fields of a Rollout's status that the operator reads. The controller writes
// the generations as strings.
type argoRolloutStatus struct {
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
	Conditions                 []argoCondition `json:"conditions,omitempty"`
}

// argoCondition is a condition of a Rollout.
type argoCondition struct {
	Type    string                 `json:"type"`
	Status  corev1.ConditionStatus `json:"status"`
	Reason  string                 `json:"reason,omitempty"`
	Message string                 `json:"message,omitempty"`
}

// decodeArgoRollout decodes the fields of a Rollout that the operator reads. Fields with a value of the wrong
// type are left out and reported in Unread, because the CustomResourceDefinition accepts almost any pod
// template. One Rollout that cannot be decoded must not fail the whole list.
func decodeArgoRollout(object Object) (*argoRollout, Unread) {
	fields := readableFields(object)
	rollout, unread := &argoRollout{}, Unread{}
	if CheckQuantities[argoRollout]("", fields) == nil && decodeTree(fields, rollout) == nil {
		return rollout, unread
	}
	rollout = &argoRollout{}
	for _, section := range []string{"metadata", "spec", "status"} {
		content, isMap := fields[section].(map[string]any)
		if fields[section] != nil && !isMap {
			unread.Other = describeMisfit(section, fields[section], func(value any) error { return decodeTree(map[string]any{section: value}, &argoRollout{}) })
		}
		for _, key := range slices.Sorted(maps.Keys(content)) {
			reason := rollout.decodeField(section, key, content[key])
			if section == "spec" && key == "template" {
				unread.Template = reason
			} else {
				unread.Other = cmp.Or(unread.Other, reason)
			}
		}
	}
	if rollout.Spec.WorkloadRef != nil {
		unread.Template = "" // The template of the other workload is used.
	}
	if unread.Template != "" {
		rollout.Spec.Template.Annotations = stringValues(tree.MapAt(fields, "spec", "template", "metadata", "annotations"))
	}
	return rollout, unread
}

// decodeField decodes one field of a section of the Rollout. If the value has the wrong type or contains an invalid
// quantity, decodeField returns the reason and does not set the field.
func (r *argoRollout) decodeField(section, key string, value any) string {
	decode := func(value any, into *argoRollout) error {
		return decodeTree(map[string]any{section: map[string]any{key: value}}, into)
	}
	try := func(value any) error { return decode(value, &argoRollout{}) }
	if err := CheckQuantities[argoRollout]("", map[string]any{section: map[string]any{key: value}}); err != nil {
		try = func(any) error { return err } // Decoding such a quantity takes seconds.
	}
	reason := describeMisfit(section+tree.JoinPath("", key), value, try)
	if reason == "" {
		_ = decode(value, r) // The value was decoded above.
	}
	return reason
}

// decodeTree sets the fields of a struct from a decoded JSON object. It does not change fields that are missing
// in the object.
func decodeTree(fields map[string]any, into any) error {
	text, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return utiljson.Unmarshal(text, into)
}
