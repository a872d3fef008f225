// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// judgement is what is to be done to one workload, as far as that follows from the
// workload and its variant alone, whatever goes on elsewhere.
type judgement struct {
	// of is the workload judged, and basis what it was judged by.
	of    *workload.Record
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
func (j *judgements) of(record *workload.Record, basis string, judge func() *judgement) *judgement {
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
	m.mu.Lock()
	defer m.mu.Unlock()
	if last := m.recalls[nameOf(sidecar)]; last != nil {
		fresh.injected.before, fresh.removed.before = last.injected.now, last.removed.now
	}
	return fresh
}

// keep remembers a pass in place of the one before.
func (m *Memo) keep(name types.NamespacedName, pass *recall) {
	if m == nil {
		return
	}
	pass.injected.before, pass.removed.before = nil, nil
	m.mu.Lock()
	defer m.mu.Unlock()
	if last := m.recalls[name]; last != nil {
		last.forget.Stop()
	}
	m.recalls[name] = pass
	pass.forget = time.AfterFunc(recallFor, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.recalls[name] == pass {
			delete(m.recalls, name)
		}
	})
}

func nameOf(sidecar *v1alpha1.VectorSidecar) types.NamespacedName {
	return types.NamespacedName{Namespace: sidecar.Namespace, Name: sidecar.Name}
}
