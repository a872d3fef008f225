// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorconfig"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Rendered is the result of one rendering: what to apply, or why not. Workloads that look
// the same to the templates share it. It must not be changed.
type Rendered struct {
	// Desired is what to apply, of Overlay; both are nil if it is Invalid.
	Desired *plan.Desired
	Overlay *workload.Overlay
	// Report is of the check of the Vector configuration, nil if there was none.
	Report *vectorconfig.Report
	// Companions are the ConfigMaps that were rendered, and Copied is what is given of a
	// referenced one, nil for nothing.
	Companions []corev1.ConfigMap
	Copied     *Copied
	// Validation is what Vector itself has to be asked, nil for nothing.
	Validation *Validation
	Invalid    *Invalid
	// Late tells that the templates ran out of time, which on another day they
	// might not.
	Late bool

	// rendered is the overlay as the templates give it, with the ConfigMap itself
	// where the overlay has a copy.
	rendered  *workload.Overlay
	container string
	collects  collection
	// shares tells that an earlier rendering has made these companions.
	shares bool
	// isReadUnseen tells that Vector reads configuration that is not ours to see.
	isReadUnseen bool
	// unseen are the ways round the policy for configurations that it has.
	unseen []string
	// readTarget is what was read of the target that it was made of: a workload that
	// has something else there may have another result.
	readTarget []tree.Read
	// shortened says what had to be cut for pods that end sooner, "" for nothing.
	shortened string
	// cuts are the same for such pods.
	cuts cuts
	// key is what it is remembered by, "" if it is not, and bytes about what it takes then.
	key   string
	bytes atomic.Int64
}

// cuts are what is desired of workloads whose pods have to end sooner than a sidecar
// drains, by the seconds that they have.
type cuts struct {
	mu   sync.Mutex
	made map[int64]*Rendered
}

// ReadsTarget reports whether templates have looked at the workload: for another one the
// result may be another.
func (r *Rendered) ReadsTarget() bool { return len(r.readTarget) > 0 }

// Bytes are about what it takes in a Cache, 0 if it is not in one.
func (r *Rendered) Bytes() int { return int(r.bytes.Load()) }

// readOf are the keys of a target that it was made of, for what is noted in workloads.
func (r *Rendered) readOf() []string {
	keys := workload.KeysOf(r.readTarget)
	if r.shortened == "" {
		return keys
	}
	return append(keys, workload.GraceKey)
}

// doubts say what is doubtful about the sidecar in one workload, "" if nothing.
func (r *Rendered) doubts(view *workload.View, checksOff bool) string {
	var all []string
	if idle := cmp.Or(r.Desired.Warning(), r.collects.idleness(view)); idle != "" {
		all = append(all, idle)
	}
	if r.shortened != "" {
		all = append(all, r.shortened)
	}
	if checksOff {
		return strings.Join(all, "; ")
	}
	for _, finding := range r.Report.In(podOf(view, r.Report)) {
		all = append(all, fmt.Sprintf("has a doubtful configuration: %s", finding))
	}
	return strings.Join(all, "; ")
}
