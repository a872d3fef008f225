// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
)

// DecodeBound returns the ResourceQuota, LimitRange or HorizontalPodAutoscaler in a document, or nil for other kinds.
// It ignores unknown fields.
func (d *Document) DecodeBound() (client.Object, error) {
	var head struct {
		APIVersion string `json:"apiVersion"`
	}
	if err := bounded.Object().DecodeYAML(d.Text, &head); err != nil {
		return nil, d.locateError(err)
	}
	var bound client.Object
	switch head.APIVersion + " " + d.Kind {
	case "v1 ResourceQuota":
		bound = &corev1.ResourceQuota{}
	case "v1 LimitRange":
		bound = &corev1.LimitRange{}
	case "autoscaling/v2 HorizontalPodAutoscaler":
		bound = &autoscalingv2.HorizontalPodAutoscaler{}
	case "autoscaling/v1 HorizontalPodAutoscaler":
		old := &autoscalingv1.HorizontalPodAutoscaler{}
		if err := bounded.Object().DecodeYAML(d.Text, old); err != nil {
			return nil, d.locateError(err)
		}
		return convertAutoscaler(old), nil
	default:
		return nil, nil //nolint:nilnil // Most documents are of other kinds.
	}
	if err := bounded.Object().DecodeYAML(d.Text, bound); err != nil {
		return nil, d.locateError(err)
	}
	return bound, nil
}

// locateError returns an error with the place and kind of the document.
func (d *Document) locateError(err error) error {
	return fmt.Errorf("%s: document %d: %s: %w", d.Source, d.Number, d.Kind, err)
}

// convertAutoscaler converts an autoscaler of version 1 to version 2. It converts the target and the CPU utilization,
// because version 1 has no other metrics.
func convertAutoscaler(old *autoscalingv1.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
	scaler := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: old.ObjectMeta}
	scaler.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference(old.Spec.ScaleTargetRef)
	if percentage := old.Spec.TargetCPUUtilizationPercentage; percentage != nil {
		target := autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: percentage}
		scaler.Spec.Metrics = []autoscalingv2.MetricSpec{{
			Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU, Target: target},
		}}
	}
	return scaler
}
