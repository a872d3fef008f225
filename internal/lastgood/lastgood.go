// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package lastgood reverts a VectorSidecar to the last known good spec when a user has changed the spec and its
// workloads fail. Inputs are the VectorSidecar and the observed progress; outputs are the spec to render and the
// status. A ClusterVectorSidecar is reverted in all namespaces together, so the functions accept its VectorSidecar of
// any namespace. The package does not read a cluster or a clock. Package fleet reverts revisions of the installation.
package lastgood

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

const (
	// MostBytes is the maximum size of a stored spec, in bytes of a JSON string in the status. The spec itself may
	// have three times this size, and an object in etcd six times.
	MostBytes = 256 << 10
	// digestLength is the number of bytes of a digest.
	digestLength = 8
)

// renderedSpec is the part of a spec that is rendered. The other fields of a spec always apply as they are and are never
// reverted.
type renderedSpec struct {
	Environment    string                `json:"environment,omitempty"`
	TemplateSet    string                `json:"templateSet,omitempty"`
	Sidecar        *v1alpha1.SidecarSpec `json:"sidecar,omitempty"`
	InitContainers []corev1.Container    `json:"initContainers,omitempty"`
	Volumes        []corev1.Volume       `json:"volumes,omitempty"`
	Values         *apiextensionsv1.JSON `json:"values,omitempty"`
}

// specText returns the rendered part of a spec as JSON. It returns nil if the spec cannot be encoded.
func specText(spec *v1alpha1.VectorSidecarSpec) []byte {
	text, err := json.Marshal(renderedSpec{spec.Environment, spec.TemplateSet, spec.Sidecar, spec.InitContainers, spec.Volumes, spec.Values})
	if err != nil {
		return nil // The error is reported when the values are read.
	}
	return text
}

// Digest returns a digest of the rendered part of a spec.
func Digest(spec *v1alpha1.VectorSidecarSpec) string {
	return meta.Digest(specText(spec), digestLength)
}

// activeRevert returns the failed spec of a reverted VectorSidecar. It returns nil if the current spec is rendered:
// it has not failed, has changed after the failure, or a user retries it.
func activeRevert(sidecar *v1alpha1.VectorSidecar) *v1alpha1.RevertedSpec {
	revertedSpec := sidecar.Status.Reverted
	if revertedSpec == nil || sidecar.Status.LastKnownGood == nil {
		return nil
	}
	if retry := fleet.RetryDigest(sidecar.Annotations); retry != "" && retry != revertedSpec.LastHandledRetry {
		return nil
	}
	if Digest(&sidecar.Spec) != revertedSpec.Digest {
		return nil
	}
	return revertedSpec
}

// EffectiveSidecar returns the VectorSidecar to render. If its own spec is reverted, the result is a copy with the last known
// good spec.
func EffectiveSidecar(sidecar *v1alpha1.VectorSidecar) *v1alpha1.VectorSidecar {
	if activeRevert(sidecar) == nil {
		return sidecar
	}
	goodSpec, err := decodeSpec(sidecar.Status.LastKnownGood)
	if err != nil {
		return sidecar // Another client has changed the status.
	}
	clone := *sidecar
	spec := &clone.Spec
	spec.Environment, spec.TemplateSet, spec.Sidecar = goodSpec.Environment, goodSpec.TemplateSet, goodSpec.Sidecar
	spec.InitContainers, spec.Volumes, spec.Values = goodSpec.InitContainers, goodSpec.Volumes, goodSpec.Values
	return &clone
}

// IsReverted reports whether the result of EffectiveSidecar has the last known good spec instead of a failed one.
func IsReverted(rendered *v1alpha1.VectorSidecar) bool {
	status := &rendered.Status
	return status.Reverted != nil && status.LastKnownGood != nil && Digest(&rendered.Spec) == status.LastKnownGood.Digest
}

// IgnoreRevert returns a VectorSidecar that is rendered with its own spec, even if that spec failed. It is for checks of the
// spec itself.
func IgnoreRevert(sidecar *v1alpha1.VectorSidecar) *v1alpha1.VectorSidecar {
	if sidecar.Status.Reverted == nil {
		return sidecar
	}
	clone := *sidecar
	clone.Status.Reverted = nil
	return &clone
}

// decodeSpec decodes the last known good spec from a status.
func decodeSpec(good *v1alpha1.LastKnownGoodSpec) (*renderedSpec, error) {
	goodSpec := &renderedSpec{}
	return goodSpec, bounded.Object().DecodeJSON([]byte(good.Spec), goodSpec)
}

// RevertMessage returns SpecStatus.Message for the status that a VectorSidecar has now.
func RevertMessage(sidecar *v1alpha1.VectorSidecar) string {
	return SpecStatus{LastGood: sidecar.Status.LastKnownGood, Reverted: activeRevert(sidecar)}.Message(sidecar.Name)
}

// Generation returns a number that changes when a user changes the rendered spec of a VectorSidecar. It is the
// generation, negated while the spec is reverted.
func Generation(sidecar *v1alpha1.VectorSidecar) int64 {
	if activeRevert(sidecar) != nil {
		return -sidecar.Generation
	}
	return sidecar.Generation
}

// Observation is the progress of a VectorSidecar's workloads, as observed in a reconcile.
type Observation struct {
	fleet.Progress

	// OnFailure is the action of the VectorSidecar when workloads fail.
	OnFailure v1alpha1.OnFailure
	// IsCausedBySpec is true if the current failures are caused by a change of the spec, and not by the
	// installation's templates and values.
	IsCausedBySpec bool
	// IsFullyRolledOut is true if some workload runs the sidecar, and no workload gets it later.
	IsFullyRolledOut bool
	// Failing are the namespaces of a ClusterVectorSidecar with failed workloads. The ClusterVectorSidecar can finish
	// despite them, and Failed does not include them.
	Failing []string
}

// Revert returns the failed spec of a VectorSidecar if the VectorSidecar has to revert to the last known good spec, and
// nil otherwise. It reverts once: workloads that fail after the revert stay unchanged. For a ClusterVectorSidecar, it
// is called for each namespace. Namespaces that had also failed with the last known good spec do not count.
func Revert(sidecar *v1alpha1.VectorSidecar, observation *Observation, now time.Time) *v1alpha1.RevertedSpec {
	good := sidecar.Status.LastKnownGood
	switch {
	case observation.OnFailure != v1alpha1.OnFailureRevert || !observation.IsCausedBySpec || observation.Failed == 0 || good == nil:
		return nil
	case sidecar.DeletionTimestamp != nil || !sidecar.Spec.IsEnabled() || hadFailedBefore(sidecar, sidecar.Namespace):
		return nil
	case activeRevert(sidecar) != nil:
		return nil
	}
	digest := Digest(&sidecar.Spec)
	if _, err := decodeSpec(good); err != nil || digest == good.Digest {
		return nil
	}
	return &v1alpha1.RevertedSpec{
		Digest: digest, Generation: sidecar.Generation, FailedWorkloads: int32(observation.Failed), //nolint:gosec // A namespace has fewer than two billion workloads.
		RevertTime: metav1.NewTime(now.Truncate(time.Second)), LastHandledRetry: fleet.RetryDigest(sidecar.Annotations),
	}
}

// SpecStatus is the part of a VectorSidecar's status that concerns its own spec.
type SpecStatus struct {
	LastGood *v1alpha1.LastKnownGoodSpec
	Reverted *v1alpha1.RevertedSpec
	// IsTooLarge is true if the spec is too large to be stored, so that a later spec cannot be reverted to it.
	IsTooLarge bool
}

// Message explains the revert of a VectorSidecar and how it ends. It returns "" if the VectorSidecar is not reverted.
func (k SpecStatus) Message(name string) string {
	if k.Reverted == nil || k.LastGood == nil {
		return ""
	}
	location := ""
	if k.Reverted.Namespace != "" { // The namespace of a ClusterVectorSidecar.
		location = " of namespace " + k.Reverted.Namespace
	}
	return fmt.Sprintf("the spec of generation %d (digest %s) failed in %d workloads%s; the workloads run the spec of generation %d (spec.rollout.onFailure is Revert) until the spec changes or a user runs kubectl vectorsidecar rollout retry %s",
		k.Reverted.Generation, k.Reverted.Digest, k.Reverted.FailedWorkloads, location, k.LastGood.Generation, meta.Argument(name))
}

// NextSpecStatus returns the SpecStatus to write after a reconcile.
func NextSpecStatus(sidecar *v1alpha1.VectorSidecar, observation *Observation) SpecStatus {
	good := sidecar.Status.LastKnownGood
	if revertedSpec := activeRevert(sidecar); revertedSpec != nil {
		return SpecStatus{LastGood: good, Reverted: revertedSpec}
	}
	if observation.OnFailure != v1alpha1.OnFailureRevert {
		return SpecStatus{}
	}
	text := specText(&sidecar.Spec)
	digest := meta.Digest(text, digestLength)
	isFailingInMany := len(observation.Failing) > mostFailing
	if good != nil && good.Digest == digest {
		if !isFailingInMany && !slices.Equal(good.Failing, observation.Failing) {
			good = good.DeepCopy()
			good.Failing = observation.Failing
		}
		return SpecStatus{LastGood: good}
	}
	if !observation.IsDone || observation.IsPaused || observation.Failed > 0 || isFailingInMany || !observation.IsFullyRolledOut || !sidecar.Spec.IsEnabled() {
		return SpecStatus{LastGood: good}
	}
	if quoted, err := json.Marshal(string(text)); err != nil || len(quoted) > MostBytes {
		return SpecStatus{IsTooLarge: true}
	}
	return SpecStatus{LastGood: &v1alpha1.LastKnownGoodSpec{Digest: digest, Generation: sidecar.Generation, Failing: observation.Failing, Spec: string(text)}}
}
