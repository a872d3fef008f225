// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"unicode/utf8"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// skippedValue is a JSON value of which the content is not decoded.
type skippedValue struct{}

// UnmarshalJSON ignores the value.
func (*skippedValue) UnmarshalJSON([]byte) error { return nil }

// shape has the parts of a VectorSidecar or ClusterVectorSidecar that the CustomResourceDefinition limits in size.
// Only their sizes are decoded, because three bytes of JSON may otherwise decode into a struct of a thousand bytes.
type shape struct {
	Spec struct {
		TakesPrecedenceOver []skippedValue `json:"takesPrecedenceOver"` // Of a ClusterVectorSidecar.
		InitContainers      []skippedValue `json:"initContainers"`
		Volumes             []skippedValue `json:"volumes"`
		Sidecar             struct {
			Args         []skippedValue          `json:"args"`
			Env          []skippedValue          `json:"env"`
			EnvFrom      []skippedValue          `json:"envFrom"`
			PullSecrets  []skippedValue          `json:"imagePullSecrets"`
			VolumeMounts []skippedValue          `json:"volumeMounts"`
			Secrets      map[string]skippedValue `json:"secrets"`
			Annotations  map[string]skippedValue `json:"podAnnotations"`
			Labels       map[string]skippedValue `json:"podLabels"`
			Config       struct {
				Inline string `json:"inline"`
			} `json:"config"`
			Logs struct {
				Include    []skippedValue `json:"include"`
				Containers []skippedValue `json:"containers"`
				Cleanup    struct {
					Rotated []skippedValue `json:"rotated"`
				} `json:"cleanup"`
			} `json:"logs"`
			Socket struct {
				Containers []skippedValue `json:"containers"`
			} `json:"socket"`
			ApplicationEnv struct {
				Containers []skippedValue `json:"containers"`
			} `json:"applicationEnv"`
		} `json:"sidecar"`
	} `json:"spec"`
}

// limit is a size limit in the CustomResourceDefinition, and the actual size.
type limit struct {
	path            string
	actual, maximum int
	unit            string
}

// sizeLimits returns the size limits of the CustomResourceDefinition, each with the actual size of the field.
func (s *shape) sizeLimits() []limit {
	spec, sidecar := &s.Spec, &s.Spec.Sidecar
	return []limit{
		{"spec.takesPrecedenceOver", len(spec.TakesPrecedenceOver), 64, "items"},
		{"spec.initContainers", len(spec.InitContainers), 16, "items"},
		{"spec.volumes", len(spec.Volumes), 64, "items"},
		{"spec.sidecar.args", len(sidecar.Args), 64, "items"},
		{"spec.sidecar.env", len(sidecar.Env), 128, "items"},
		{"spec.sidecar.envFrom", len(sidecar.EnvFrom), 32, "items"},
		{"spec.sidecar.imagePullSecrets", len(sidecar.PullSecrets), 8, "items"},
		{"spec.sidecar.volumeMounts", len(sidecar.VolumeMounts), 64, "items"},
		{"spec.sidecar.secrets", len(sidecar.Secrets), 16, "items"},
		{"spec.sidecar.podAnnotations", len(sidecar.Annotations), 32, "items"},
		{"spec.sidecar.podLabels", len(sidecar.Labels), 32, "items"},
		{"spec.sidecar.config.inline", utf8.RuneCountInString(sidecar.Config.Inline), 512 << 10, "characters"},
		{"spec.sidecar.logs.include", len(sidecar.Logs.Include), 32, "items"},
		{"spec.sidecar.logs.containers", len(sidecar.Logs.Containers), 32, "items"},
		{"spec.sidecar.logs.cleanup.rotated", len(sidecar.Logs.Cleanup.Rotated), 32, "items"},
		{"spec.sidecar.socket.containers", len(sidecar.Socket.Containers), 32, "items"},
		{"spec.sidecar.applicationEnv.containers", len(sidecar.ApplicationEnv.Containers), 32, "items"},
	}
}

// decodeStrictly decodes a VectorSidecar or ClusterVectorSidecar. It enforces the size limits of the
// CustomResourceDefinition. The API server has already enforced them, but other clients may also reach the
// webhook.
func decodeStrictly[T any](text []byte, into *T) error {
	var sizes shape
	if err := bounded.Object().DecodeJSON(text, &sizes); err != nil {
		return err
	}
	for _, limit := range sizes.sizeLimits() {
		if limit.actual > limit.maximum {
			return fmt.Errorf("field %s has %d %s; at most %d are allowed", limit.path, limit.actual, limit.unit, limit.maximum)
		}
	}
	var content map[string]any
	if err := bounded.Object().DecodeJSON(text, &content); err != nil {
		return err
	}
	if err := workload.CheckQuantities[T]("", content); err != nil {
		return err
	}
	return bounded.Object().DecodeJSON(text, into)
}
