// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package preflight judges a sidecar before it is written, by what the API server answers to dry
// runs: which workloads one answer holds for, what pod to try, and what an answer says. It asks
// nobody.
package preflight

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// Result is how a sidecar was judged in the pods of a workload.
type Result string

const (
	// Passed lets the sidecar be written.
	Passed Result = "passed"
	// Refused means that the pods would be refused, or would not start, because of the sidecar.
	Refused Result = "rejected"
	// RefusedAnyway means that the pods would be refused without the sidecar, too.
	RefusedAnyway Result = "rejected_without_sidecar"
	// NotJudged means that dry runs say nothing; the sidecar may be written.
	NotJudged Result = "inconclusive"
)

// Results are all of them.
func Results() []Result { return []Result{Passed, Refused, RefusedAnyway, NotJudged} }

// Key tells which workloads of a VectorSidecar one verdict holds for.
type Key struct {
	// Hash is the injected-hash of the sidecar, and Shape that of the workload's pods.
	Hash  string
	Shape uint64
	// Workload is the UID of the only workload that the verdict holds for, "" for all of that shape.
	Workload string
}

// KeyOf returns the key of all workloads like that of a plan.
func KeyOf(p *plan.Plan) Key { return Key{Hash: p.InjectedHash(), Shape: p.Shape} }

// Alone returns the key of the plan's workload alone.
func Alone(p *plan.Plan) Key {
	key := KeyOf(p)
	key.Workload = string(p.Target.UID)
	return key
}

// Verdict is what dry runs said of a sidecar.
type Verdict struct {
	Result Result
	// Message is what the API server said, "" if it passed.
	Message string
	// Until is when it has to be asked again, zero for never.
	Until time.Time
	// IsOfOne reports whether the verdict holds for one workload alone, whatever is like it.
	IsOfOne bool
}

// Holds reports whether nothing may be written because of the verdict.
func (v *Verdict) Holds() bool { return v.Result == Refused || v.Result == RefusedAnyway }

// Concerns reports whether a plan writes a sidecar that has to be judged before.
func Concerns(p *plan.Plan) bool {
	return p.Writes() && p.StartsPods() && p.Action != plan.Remove && p.Desired != nil
}

// Of returns the verdict that holds for a plan, false if there is none.
func Of(verdicts map[Key]Verdict, p *plan.Plan) (Verdict, bool) {
	if alone, isKnown := verdicts[Alone(p)]; isKnown {
		return alone, true
	}
	verdict, isKnown := verdicts[KeyOf(p)]
	return verdict, isKnown
}
