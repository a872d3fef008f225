// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// judgement is what is to be done to one workload, as far as that follows from the
// workload and its variant alone, whatever goes on elsewhere.
type judgement struct {
	// of is the workload judged, and basis what it was judged by.
	of    *workloadcache.Record
	basis string
	plan  plan.Plan
	// wanted is what the plan was made of; nil if there was nothing to inject.
	wanted *wanted
	// companions and copied are those of wanted that the workload needs, and kept the
	// ConfigMaps of a sidecar that it keeps.
	companions []corev1.ConfigMap
	copied     *copied
	kept       []string
}

// judgements finds those of the pass before again. Workloads are asked for in the
// order of their names.
type judgements struct {
	before, now []*judgement
}

// of returns the judgement of a workload: the one of the pass before if it was judged
// by the same and has changed in its state alone, else a fresh one.
func (j *judgements) of(record *workloadcache.Record, basis string, judge func() *judgement) *judgement {
	for len(j.before) > 0 && j.before[0].of.Name < record.Name {
		j.before = j.before[1:]
	}
	if len(j.before) > 0 && j.before[0].basis == basis && j.before[0].of.IsAs(record) {
		j.now = append(j.now, j.before[0])
		return j.before[0]
	}
	fresh := judge()
	fresh.of, fresh.basis = record, basis
	if fresh.wanted == nil || !fresh.wanted.late {
		j.now = append(j.now, fresh)
	}
	return fresh
}

// recall is what is remembered of one pass for a VectorSidecar until the next.
type recall struct {
	injected, removed judgements
	// forget lets go of it when no other pass has come.
	forget *time.Timer
}

// recallFor is how long a pass is remembered. While passes come one soon after the
// other, each has to look at what has changed alone; afterwards the memory is worth
// more.
const recallFor = time.Minute

// recall returns what is remembered of the last pass for a VectorSidecar, for the next
// one to use.
func (m *Memo) recall(sidecar *v1alpha1.VectorSidecar) *recall {
	fresh := &recall{}
	if m == nil {
		return fresh
	}
	if last := remembered(m, m.recalls, []byte(nameOf(sidecar))); last != nil {
		fresh.injected.before, fresh.removed.before = last.injected.now, last.removed.now
	}
	return fresh
}

// keep remembers a pass for the VectorSidecar of a name, in place of the one before, unless
// it takes more than all may.
func (m *Memo) keep(name string, pass *recall) {
	if m == nil {
		return
	}
	bytes := pass.bytes()
	pass.injected.before, pass.removed.before = nil, nil
	m.mu.Lock()
	defer m.mu.Unlock()
	if last := m.recalls.Get([]byte(name)); last != nil {
		last.forget.Stop()
		m.recalls.Drop(name)
	}
	if bytes > mostRecalled {
		return
	}
	var forget *time.Timer
	forget = time.AfterFunc(recallFor, func() { // It must not hold on to a pass that is dropped before.
		m.mu.Lock()
		defer m.mu.Unlock()
		if held := m.recalls.Get([]byte(name)); held != nil && held.forget == forget {
			m.recalls.Drop(name)
		}
	})
	pass.forget = forget
	m.recalls.Put(name, pass, bytes)
}

// bytes are about what it takes to remember a pass. What judgements have in common with
// renderings that are remembered anyway counts here, too: these may be gone before.
func (r *recall) bytes() int {
	total := 0
	seen := map[*wanted]bool{}
	for _, judged := range slices.Concat(r.injected.now, r.removed.now) {
		total += perJudgement + len(judged.plan.Message) + len(judged.plan.Warning) + len(judged.basis)
		if judged.wanted != nil && !seen[judged.wanted] {
			seen[judged.wanted] = true
			total += int(judged.wanted.bytes.Load())
		}
	}
	return total
}

// perJudgement is about what one takes with its plan, but for texts.
const perJudgement = 512

func nameOf(sidecar *v1alpha1.VectorSidecar) string { return sidecar.Namespace + "/" + sidecar.Name }
