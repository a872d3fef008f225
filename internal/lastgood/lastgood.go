// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package lastgood takes a VectorSidecar back to the last spec that its workloads were done with, when
// its owner has changed the spec and they fail. To go back to an earlier revision of the installation is
// up to package fleet. A ClusterVectorSidecar goes back as a whole: the functions take the VectorSidecar
// that it is in any of its namespaces. The package reads no cluster and no clock.
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
	// MostBytes is the largest spec that is kept, as JSON in the JSON of a status: the spec itself
	// may have three times as much, and an object of etcd six times.
	MostBytes = 256 << 10
	// digestLength is that of a digest in bytes.
	digestLength = 8
)

// part is what is rendered of a spec. All else of a spec always holds as it is.
type part struct {
	Environment    string                `json:"environment,omitempty"`
	TemplateSet    string                `json:"templateSet,omitempty"`
	Sidecar        *v1alpha1.SidecarSpec `json:"sidecar,omitempty"`
	InitContainers []corev1.Container    `json:"initContainers,omitempty"`
	Volumes        []corev1.Volume       `json:"volumes,omitempty"`
	Values         *apiextensionsv1.JSON `json:"values,omitempty"`
}

// textOf returns what is rendered of a spec, as JSON. A spec that is none has no text.
func textOf(spec *v1alpha1.VectorSidecarSpec) []byte {
	text, err := json.Marshal(part{spec.Environment, spec.TemplateSet, spec.Sidecar, spec.InitContainers, spec.Volumes, spec.Values})
	if err != nil {
		return nil // That is reported when its values are read.
	}
	return text
}

// Digest returns that of what is rendered of a spec.
func Digest(spec *v1alpha1.VectorSidecarSpec) string { return meta.Digest(textOf(spec), digestLength) }

// reverted returns the failed spec of a VectorSidecar that is reverted, nil if its spec is rendered as it
// is: it has not failed, has changed since, or a person wants it tried again.
func reverted(sidecar *v1alpha1.VectorSidecar) *v1alpha1.RevertedSpec {
	revertedSpec := sidecar.Status.Reverted
	if revertedSpec == nil || sidecar.Status.LastKnownGood == nil {
		return nil
	}
	if retry := fleet.RetryOf(sidecar.Annotations); retry != "" && retry != revertedSpec.LastHandledRetry {
		return nil
	}
	if Digest(&sidecar.Spec) != revertedSpec.Digest {
		return nil
	}
	return revertedSpec
}

// Rendered returns a VectorSidecar as it is to be rendered: itself, or, while its own spec is
// reverted, a copy with the last good one.
func Rendered(sidecar *v1alpha1.VectorSidecar) *v1alpha1.VectorSidecar {
	if reverted(sidecar) == nil {
		return sidecar
	}
	goodSpec, err := read(sidecar.Status.LastKnownGood)
	if err != nil {
		return sidecar // Somebody has written to the status.
	}
	clone := *sidecar
	spec := &clone.Spec
	spec.Environment, spec.TemplateSet, spec.Sidecar = goodSpec.Environment, goodSpec.TemplateSet, goodSpec.Sidecar
	spec.InitContainers, spec.Volumes, spec.Values = goodSpec.InitContainers, goodSpec.Volumes, goodSpec.Values
	return &clone
}

// IsBack reports whether a VectorSidecar, as it is rendered, has the last good spec in place of one
// that has failed.
func IsBack(rendered *v1alpha1.VectorSidecar) bool {
	status := &rendered.Status
	return status.Reverted != nil && status.LastKnownGood != nil && Digest(&rendered.Spec) == status.LastKnownGood.Digest
}

// AsGiven returns a VectorSidecar that is rendered as its spec says, whatever has failed: for whom the
// spec itself is to be judged.
func AsGiven(sidecar *v1alpha1.VectorSidecar) *v1alpha1.VectorSidecar {
	if sidecar.Status.Reverted == nil {
		return sidecar
	}
	clone := *sidecar
	clone.Status.Reverted = nil
	return &clone
}

func read(good *v1alpha1.LastKnownGoodSpec) (*part, error) {
	goodSpec := &part{}
	return goodSpec, bounded.Object().DecodeJSON([]byte(good.Spec), goodSpec)
}

// TextOf is the Text of a VectorSidecar as it is.
func TextOf(sidecar *v1alpha1.VectorSidecar) string {
	return Kept{LastGood: sidecar.Status.LastKnownGood, Reverted: reverted(sidecar)}.Text(sidecar.Name)
}

// Generation returns that of a VectorSidecar for the question whether its owner has changed what is
// rendered: another one while its own spec is reverted.
func Generation(sidecar *v1alpha1.VectorSidecar) int64 {
	if reverted(sidecar) != nil {
		return -sidecar.Generation
	}
	return sidecar.Generation
}

// Seen is what a pass has seen of the workloads of a VectorSidecar.
type Seen struct {
	fleet.Progress

	// OnFailure is what it does when they fail.
	OnFailure v1alpha1.OnFailure
	// IsOwners is true if what fails now is because of what its owner has changed, and not of the
	// installation's templates and values.
	IsOwners bool
	// IsEverywhere is true if a workload runs the sidecar, and none gets it later.
	IsEverywhere bool
	// Failing are the namespaces of a ClusterVectorSidecar where workloads have failed: these do not keep
	// it from being done, and Failed leaves them out.
	Failing []string
}

// GoBack returns what has failed of a VectorSidecar's spec, if it is to go back to the last good one;
// else nil. It goes back once: what fails then stays as it is. Of a ClusterVectorSidecar it is asked in
// each namespace, and those count that had not failed with the last good one, too.
func GoBack(sidecar *v1alpha1.VectorSidecar, observation *Seen, now time.Time) *v1alpha1.RevertedSpec {
	good := sidecar.Status.LastKnownGood
	switch {
	case observation.OnFailure != v1alpha1.OnFailureRevert || !observation.IsOwners || observation.Failed == 0 || good == nil:
		return nil
	case sidecar.DeletionTimestamp != nil || !sidecar.Spec.IsEnabled() || hadFailed(sidecar, sidecar.Namespace):
		return nil
	case reverted(sidecar) != nil:
		return nil
	}
	digest := Digest(&sidecar.Spec)
	if _, err := read(good); err != nil || digest == good.Digest {
		return nil
	}
	failed := &v1alpha1.RevertedSpec{
		Digest: digest, Generation: sidecar.Generation, FailedWorkloads: int32(observation.Failed), //nolint:gosec // No namespace has two billion.
		RevertTime: metav1.NewTime(now.Truncate(time.Second)), LastHandledRetry: fleet.RetryOf(sidecar.Annotations),
	}
	if sidecar.Cluster != nil {
		failed.Namespace = sidecar.Namespace
	}
	return failed
}

// Kept is what the status of a VectorSidecar says of its own spec.
type Kept struct {
	LastGood *v1alpha1.LastKnownGoodSpec
	Reverted *v1alpha1.RevertedSpec
	// IsTooLarge is true if the spec is too large to be kept, so that there is nothing to go back to.
	IsTooLarge bool
}

// Text says what a VectorSidecar has gone back from, and what ends that; "" if it has not.
func (k Kept) Text(name string) string {
	if k.Reverted == nil || k.LastGood == nil {
		return ""
	}
	location, argument := "", name
	if _, isCluster := meta.ParseClusterName(name); !isCluster {
		argument = "vectorsidecar/" + name
	} else if k.Reverted.Namespace != "" {
		location = " of namespace " + k.Reverted.Namespace
	}
	return fmt.Sprintf("the spec of generation %d (digest %s) failed in %d workloads%s, and they run the spec of generation %d instead (onFailure: Revert), until the spec changes or a user retries: kubectl vectorsidecar rollout retry %s",
		k.Reverted.Generation, k.Reverted.Digest, k.Reverted.FailedWorkloads, location, k.LastGood.Generation, argument)
}

// Keep returns what is to be in the status after a pass.
func Keep(sidecar *v1alpha1.VectorSidecar, observation *Seen) Kept {
	good := sidecar.Status.LastKnownGood
	if revertedSpec := reverted(sidecar); revertedSpec != nil {
		return Kept{LastGood: good, Reverted: revertedSpec}
	}
	if observation.OnFailure != v1alpha1.OnFailureRevert {
		return Kept{}
	}
	text := textOf(&sidecar.Spec)
	digest := meta.Digest(text, digestLength)
	isMost := len(observation.Failing) > mostFailing
	if good != nil && good.Digest == digest {
		if !isMost && !slices.Equal(good.Failing, observation.Failing) {
			good = good.DeepCopy()
			good.Failing = observation.Failing
		}
		return Kept{LastGood: good}
	}
	if !observation.IsDone || observation.IsPaused || observation.Failed > 0 || isMost || !observation.IsEverywhere || !sidecar.Spec.IsEnabled() {
		return Kept{LastGood: good}
	}
	if quoted, err := json.Marshal(string(text)); err != nil || len(quoted) > MostBytes {
		return Kept{IsTooLarge: true}
	}
	return Kept{LastGood: &v1alpha1.LastKnownGoodSpec{Digest: digest, Generation: sidecar.Generation, Failing: observation.Failing, Spec: string(text)}}
}
