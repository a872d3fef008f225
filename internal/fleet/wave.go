// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// Wave is a group of VectorSidecars that get a revision of the installation's templates and values together. Empty
// selectors select all VectorSidecars.
type Wave struct {
	Name              string                `json:"name"`
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector"`
	Environments      []string              `json:"environments"`
	// Soak is the time for which the wave is watched after its last workload has finished.
	Soak metav1.Duration `json:"soak"`

	namespaces labels.Selector
}

// DefaultWave is the name of the last wave, which contains the VectorSidecars that other waves do not select.
const DefaultWave = "default"

// parse sets the parsed selector of the wave. A wave without a selector selects all namespaces.
func (w *Wave) parse() (err error) {
	w.namespaces = labels.Everything()
	if w.NamespaceSelector != nil {
		if w.namespaces, err = metav1.LabelSelectorAsSelector(w.NamespaceSelector); err != nil {
			return fmt.Errorf("namespaceSelector: %w", err)
		}
	}
	return nil
}

// selects reports whether the wave selects a namespace with labels and an environment.
func (w *Wave) selects(namespaceLabels map[string]string, environment string) bool {
	return w.namespaces.Matches(labels.Set(namespaceLabels)) && (len(w.Environments) == 0 || slices.Contains(w.Environments, environment))
}

// Halt is the limit of failures that halts a revision.
type Halt struct {
	// FailedWorkloads is the number of failed workloads that halts the revision.
	FailedWorkloads int `json:"failedWorkloads"`
	// SidecarRestarts is the number of restarts of a sidecar container in one pod after which the workload counts as
	// failed. 0 means that restarts do not count.
	SidecarRestarts int32 `json:"sidecarRestarts"`
	// Within is the time for which failures count after a VectorSidecar has finished, if the soak of its wave is
	// shorter.
	Within metav1.Duration `json:"within"`
}

// Defaults of Halt.
const (
	defaultFailedWorkloads = 1
	defaultWithin          = 10 * time.Minute
)

// loadWaves validates the waves and sets the defaults of the halt.
func (r *Rules) loadWaves() error {
	names := map[string]bool{}
	for i := range r.Waves {
		wave := &r.Waves[i]
		if wave.Name == DefaultWave {
			return fmt.Errorf("waves.%d.name: %q is the reserved name of the last wave: choose another", i, DefaultWave)
		}
		if names[wave.Name] {
			return fmt.Errorf("waves.%d.name: duplicate wave name %q; names must be unique", i, wave.Name)
		}
		names[wave.Name] = true
		if err := wave.parse(); err != nil {
			return fmt.Errorf("waves.%d.%w", i, err)
		}
	}
	if len(r.Waves) == 0 {
		r.Waves = nil
	}
	r.OnFailure = cmp.Or(r.OnFailure, v1alpha1.OnFailureHalt)
	if r.Halt == nil {
		if r.OnFailure == v1alpha1.OnFailureRevert {
			return errors.New("onFailure: Revert has no effect without halt: add halt: {failedWorkloads: 1}")
		}
		return nil
	}
	if r.Halt.FailedWorkloads == 0 {
		r.Halt.FailedWorkloads = defaultFailedWorkloads
	}
	if r.Halt.Within.Duration == 0 {
		r.Halt.Within.Duration = defaultWithin
	}
	return nil
}

// IsStaged reports whether changed templates and values are started in waves, or can be halted.
func (r *Rules) IsStaged() bool { return r != nil && (len(r.Waves) > 0 || r.Halt != nil) }

// CanHalt reports whether failures halt a revision.
func (r *Rules) CanHalt() bool { return r.Halt != nil }

// ResolveOnFailure returns the action of a VectorSidecar when its workloads fail. Its own spec takes precedence over the
// installation.
func (r *Rules) ResolveOnFailure(rollout *v1alpha1.RolloutSpec) v1alpha1.OnFailure {
	switch {
	case rollout != nil && rollout.OnFailure != "":
		return rollout.OnFailure
	case r.OnFailure != "":
		return r.OnFailure
	}
	return v1alpha1.OnFailureHalt
}

// SidecarRestarts returns Halt.SidecarRestarts, or 0 without a halt.
func (r *Rules) SidecarRestarts() int32 {
	if r.Halt == nil {
		return 0
	}
	return r.Halt.SidecarRestarts
}

// WaveFor returns the number of the wave that contains a VectorSidecar. Numbers start at 0.
func (r *Rules) WaveFor(namespaceLabels map[string]string, environment string) int {
	for i := range r.Waves {
		if r.Waves[i].selects(namespaceLabels, environment) {
			return i
		}
	}
	return len(r.Waves)
}

// IsOtherWave reports whether a change of a namespace's labels moves VectorSidecars of any environment to another wave.
func (r *Rules) IsOtherWave(before, after map[string]string) bool {
	environments := []string{""} // The empty environment represents environments that waves do not list.
	for i := range r.Waves {
		environments = append(environments, r.Waves[i].Environments...)
	}
	return slices.ContainsFunc(environments, func(environment string) bool { return r.WaveFor(before, environment) != r.WaveFor(after, environment) })
}

// WaveName returns the name of a wave.
func (r *Rules) WaveName(wave int) string {
	if wave < len(r.Waves) {
		return r.Waves[wave].Name
	}
	return DefaultWave
}

// waveIndex returns the number of the wave with a name, or the number of the last wave if the name is unknown.
func (r *Rules) waveIndex(name string) int {
	wave := slices.IndexFunc(r.Waves, func(wave Wave) bool { return wave.Name == name })
	if wave < 0 {
		return len(r.Waves)
	}
	return wave
}

// Soak returns the soak of the wave with a name, or 0 if the name is unknown.
func (r *Rules) Soak(name string) time.Duration {
	for i := range r.Waves {
		if r.Waves[i].Name == name {
			return r.Waves[i].Soak.Duration
		}
	}
	return 0
}

// soak returns the soak of a wave.
func (r *Rules) soak(wave int) time.Duration { return r.Soak(r.WaveName(wave)) }

// watchTime returns the time for which failures count after a VectorSidecar of a wave has finished.
func (r *Rules) watchTime(wave int) time.Duration {
	if r.Halt == nil {
		return r.soak(wave)
	}
	return max(r.soak(wave), r.Halt.Within.Duration)
}
