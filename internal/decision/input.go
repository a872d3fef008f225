// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// WorkloadKinds describes the workload kinds that can have sidecars.
type WorkloadKinds struct {
	// Served are the kinds that the installation enables. If they are not known, it is nil, and all kinds count as
	// enabled.
	Served []string
	// MissingKinds are the kinds with an API that the cluster does not have.
	MissingKinds []string
	// Manifests is true if the workloads are manifests. The sidecar is applied together with a manifest, so the pod
	// template of every kind can be changed.
	Manifests bool
}

// Input is everything that a decision about one VectorSidecar depends on. The operator, the plugin, the webhook and the
// tests build the same Input. A decision does not change it.
type Input struct {
	// Inputs are the data that the sidecars are rendered from.
	desired.Inputs

	// Workloads are workloads of the namespace: at least the selected ones, and the ones with fields or marks of this
	// VectorSidecar.
	Workloads []*workloadcache.Record
	WorkloadKinds
	// Others are the other VectorSidecars of the namespace.
	Others []v1alpha1.VectorSidecar
	// Companions are the ConfigMaps that the operator created for the VectorSidecar. They may have a digest instead of
	// their content.
	Companions []corev1.ConfigMap
	// Now is the time of the snapshot.
	Now time.Time

	// Adopted is the content of the rollout in progress, or the zero value for none.
	Adopted Adopted
	// Previous is the result of the last decision, or nil for none. It saves work and does not change the decision.
	Previous *Previous
	// Verdict returns the result of Vector's own validation. It is nil if the operator may not run Vector.
	Verdict func(key string) Verdict
	// WrittenGeneration returns the generation that a workload had after the operator's last write, or 0 if it is not
	// known. It is nil if no generation is known.
	WrittenGeneration func(types.UID) int64
	// DryRuns are the valid dry-run results of the sidecar, or nil if there are none.
	DryRuns map[preflight.Key]preflight.DryRunResult
	// CorrectionLoops are the stopped correction loops, by workload. The operator does not write the same sidecar to
	// these workloads for now, because another client keeps removing it.
	CorrectionLoops map[types.UID]CorrectionLoop
	// RejectedWrites are the last writes to workloads that the API server rejected, by workload.
	RejectedWrites map[types.UID]RejectedWrite
	// OwnedSidecarWriter returns the client that had last written a workload with a controller owner, when the operator
	// last found the sidecar in the workload. It returns false if the operator never did. It is nil if this is not known
	// for any workload.
	OwnedSidecarWriter func(types.UID) (lastWriter string, ok bool)
	// OnNodes returns the workloads of all namespaces that run on every node. It is nil if only the workloads of the
	// Input are known.
	OnNodes func() []*workloadcache.Record
	// Faults are the reasons why pods do not run, by workload. A workload has no entry if its pods were not read. The zero
	// value means that no reason was found in the pods.
	Faults map[types.UID]workload.Fault
	// PodsNotRead explains why pods are not read, or is "" if they are read. BlindHalt explains why rollout.halt
	// cannot detect the causes of failures, or is "" if it can, or is not set.
	PodsNotRead, BlindHalt string
	// NeedsOverlays requests that the decision also determines Decision.Overlays.
	NeedsOverlays bool
	// AdmissionBlocker explains why the API server does not inject sidecars at admission. It is "" if the API server
	// injects them, or if that is not known.
	AdmissionBlocker string
	// FindUndefinedField returns the field of a pod that the definition of a kind does not have. The API server would
	// drop that field. It returns "" if the definition has all fields or is not known. It is nil if no definitions are
	// known.
	FindUndefinedField func(kind *workload.Kind, pod map[string]any) string
	// WriteHold blocks all writes except removals. It is nil if writes are allowed.
	WriteHold *plan.Block
	// MaxAgeHold blocks rollouts that have waited for spec.rollout.maxAge. It is nil if they may start.
	MaxAgeHold *plan.Block
}

// withFixedResults returns a copy of the Input with functions that return the same result in a whole decision, although
// the result of a validation may change.
func (input *Input) withFixedResults() *Input {
	fixed := *input
	if input.OnNodes != nil {
		fixed.OnNodes = sync.OnceValue(input.OnNodes)
	}
	if input.Verdict != nil {
		verdicts := map[string]Verdict{}
		fixed.Verdict = func(key string) Verdict {
			if _, ok := verdicts[key]; !ok {
				verdicts[key] = input.Verdict(key)
			}
			return verdicts[key]
		}
	}
	return &fixed
}

// manager returns the field manager of the VectorSidecar.
func (input *Input) manager() string { return meta.Manager(input.Sidecar.Name) }

// writtenGeneration returns the generation that a workload had after the last write, or 0 if it is not known.
func (input *Input) writtenGeneration(uid types.UID) int64 {
	if input.WrittenGeneration == nil {
		return 0
	}
	return input.WrittenGeneration(uid)
}

// ownedSidecar reports whether the workload of a plan has a controller owner and is known to have had the sidecar.
// lastWriter is the result of OwnedSidecarWriter.
func (input *Input) ownedSidecar(p *plan.Plan) (lastWriter string, hadSidecar bool) {
	if p.Owner == nil || input.OwnedSidecarWriter == nil {
		return "", false
	}
	return input.OwnedSidecarWriter(p.Target.UID)
}

// CorrectionLoop is a stopped correction loop.
type CorrectionLoop struct {
	// InjectedHash identifies the sidecar that another client removed. The operator may write a different sidecar.
	InjectedHash string
	// Writes is the number of reverted writes.
	Writes int
}

// RejectedWrite is the last write to a workload, which the API server rejected.
type RejectedWrite struct {
	plan.Rejection

	// Seen, Change, IsDeferred and Hash identify the plan of the rejected write, because another plan may be accepted. Seen
	// is the EquivalentVersion of the workload, and Hash the injected-hash of the sidecar.
	Seen       string
	Change     plan.Change
	IsDeferred bool
	Hash       string
}

// Verdict is the result of Vector's own validation of a configuration.
type Verdict struct {
	State   VerdictState
	Message string
}

// VerdictState is the state of a validation.
type VerdictState int

const (
	// VerdictPending means that the validation has not returned a result yet.
	VerdictPending VerdictState = iota
	// VerdictValid means that Vector accepted the configuration.
	VerdictValid
	// VerdictInvalid means that Vector rejected the configuration.
	VerdictInvalid
	// VerdictUnable means that Vector could not be run. It does not show whether the configuration is valid.
	VerdictUnable
)
