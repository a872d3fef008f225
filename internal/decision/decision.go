// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package decision is the operator's judgement: one VectorSidecar and a snapshot
// of its world in, what should be and why out. It reads no cluster and no clock,
// so that what a person previews is what the operator does.
package decision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/catalog"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorconfig"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Snapshot is the world as far as one VectorSidecar is concerned.
type Snapshot struct {
	Sidecar *v1alpha1.VectorSidecar
	// NamespaceLabels are those of the VectorSidecar's namespace.
	NamespaceLabels map[string]string
	// Workloads of the namespace: at least those that the selector matches
	// and those that carry something of this VectorSidecar.
	Workloads []*workloadcache.Record
	// ConfigMaps are those of the namespace that were looked for, by name: nil is one
	// that does not exist. One that is not among them was not looked for, and a
	// decision that depends on it says so in Unread, unless HasAllConfigMaps tells that
	// the namespace has no others.
	ConfigMaps       map[string]*corev1.ConfigMap
	HasAllConfigMaps bool
	// Taken is what the rollout under way was begun with; its zero value is nothing.
	Taken Taken
	// LeavesReference has the ConfigMap that the values refer to neither read nor
	// judged: whoever asks leaves that to another decision.
	LeavesReference bool
	// Others are the other VectorSidecars of the namespace, the oldest first.
	Others []v1alpha1.VectorSidecar
	// Verdict returns what Vector said of a configuration; nil when the
	// operator may not ask.
	Verdict func(key string) Verdict
	// Loops are the workloads from which somebody takes the sidecar again and
	// again, so that it is not to be written for now.
	Loops map[types.UID]Loop
	// Started returns the generation that the last write to a workload gave it,
	// 0 if none is remembered; nil when nobody remembers any.
	Started func(types.UID) int64
	// Now is when the snapshot was taken.
	Now time.Time
	// Faults are what keeps pods of workloads from running, none included, of the
	// workloads whose pods were looked at.
	Faults map[types.UID]workload.Fault

	// reads notes the ConfigMaps of tenants that are read; nil notes none.
	reads map[string]*corev1.ConfigMap
	// Companions are the objects made for this VectorSidecar. Their content may be
	// left out, and a digest be in its place.
	Companions []corev1.ConfigMap

	// Platform is what the platform team gives: template sets, values, policy.
	Platform *catalog.Platform
	// DefaultEnvironment is used when neither the VectorSidecar nor its
	// namespace names one. DefaultFrom is what names it, "" for the operator.
	DefaultEnvironment, DefaultFrom string
	// KubeVersion of the API server, such as "v1.36.0".
	KubeVersion string
	// WrittenBy is the installation of the operator, NAMESPACE/NAME, which marks what it
	// writes; "" for none.
	WrittenBy string
	// Version is that of the operator which writes, "" where that is not known.
	Version string
	// Budget is what large texts wait for before they are read; nil for nothing.
	Budget *bounded.Budget
	// Renderers is how many workloads are rendered for at once; less than two
	// is one after the other.
	Renderers int
	// Observer is told of the steps of the decision; nil tells nobody.
	Observer Observer

	// reservation is what the decision has of Budget, nil outside of one.
	reservation *reservation
}

// Loop is a loop of repairs that was broken off.
type Loop struct {
	// InjectedHash tells which sidecar is concerned; another one may be tried.
	InjectedHash string
	// Writes is how many writes were undone.
	Writes int
}

// Decision is what should be, and why.
type Decision struct {
	// Environment whose values were used, what named it, and the template set.
	Environment, EnvironmentFrom, TemplateSet string
	// ReferencedConfigMap is the name of the ConfigMap that the Vector
	// configuration is copied from, "" if it is rendered. It is known even when
	// the ConfigMap is not there.
	ReferencedConfigMap string
	// Invalid says why nothing may be injected, nil if it may.
	Invalid *Invalid
	// OfWorkloads tells that Invalid is what templates said after they had looked
	// at the workloads: of others they may say something else.
	OfWorkloads bool
	// Findings are what is wrong with the Vector configuration, errors first:
	// the errors too when sidecar.config.check lets them through.
	Findings []vectorconfig.Finding
	// Validations are the configurations that Vector has to be asked about
	// before anything waiting for them goes on.
	Validations []Validation
	// Outdated says what is wrong with something of the platform's, of which
	// the last good version was used; nil if nothing is.
	Outdated *Invalid
	// Plans has a plan for each workload of the snapshot that the
	// VectorSidecar matches or that carries its sidecar, by name.
	Plans []plan.Plan
	// Matched is how many of them the selector matches.
	Matched int
	// Limit is how many of the plans may be under way at once.
	Limit plan.Limit
	// Companions are all that its sidecars refer to. Those of them that are not
	// there, or are not the same, are Missing: they have to be written before
	// any plan is carried out. One that is there has its UID.
	Companions, Missing []corev1.ConfigMap
	// Obsolete are the names of companions that nothing wanted refers to. They
	// may go once no workload can be rolled back to them.
	Obsolete []string

	// Again is when to decide again though nothing happens until then; 0 for never.
	Again time.Duration
	// Taken is what a rollout is under way with, its zero value if none is.
	Taken Taken
	// Waiting are the ConfigMaps, by name, that have another content by now, which
	// waits for the end of that rollout.
	Waiting []string
	// Late tells that templates ran out of time. That may be a busy machine's
	// fault, so that it is worth another try.
	Late bool

	// Unread are the ConfigMaps, by name, that it depends on and that the snapshot does not
	// have. A decision with any is not to be acted on: it took them for missing.
	Unread []string

	// kept are the ConfigMaps of sidecars that are kept though another is rendered.
	kept map[string]bool
	// references are further ConfigMaps that were asked for.
	references []string
}

// Writes reports whether anything has to be written now, to workloads or companions.
func (d *Decision) Writes() bool {
	return len(d.Missing) > 0 || slices.ContainsFunc(d.Plans, func(p plan.Plan) bool { return p.Writes() })
}

// ConfigMaps are the names of those whose content or existence the decision
// depends on.
func (d *Decision) ConfigMaps() []string {
	names := slices.Concat(d.references, slices.Sorted(maps.Keys(d.kept)))
	if d.ReferencedConfigMap != "" {
		names = append(names, d.ReferencedConfigMap)
	}
	for i := range d.Companions {
		names = append(names, d.Companions[i].Name)
	}
	return names
}

// Invalid says why nothing may be injected. Workloads stay as they are.
type Invalid struct {
	// Reason is a word of package meta.
	Reason string
	// Message names object, path and what to do.
	Message string
}

// err is the message as an error, nil if nothing is invalid.
func (i *Invalid) err() error {
	if i == nil {
		return nil
	}
	return errors.New(i.Message)
}

// decideOn judges a snapshot with the ConfigMaps that it has.
func decideOn(ctx context.Context, snapshot *Snapshot, memo *Memo) (*Decision, error) {
	snapshot, reserved := snapshot.reserving(ctx)
	defer reserved.release()
	decision := &Decision{Plans: make([]plan.Plan, 0, len(snapshot.Workloads)), kept: map[string]bool{}}
	sidecar := snapshot.Sidecar
	selector, invalid := selectorOf(sidecar)
	if sidecar.DeletionTimestamp != nil {
		// What it injected goes, whatever else it says.
		selector, invalid = labels.Nothing(), nil
	}
	if invalid != nil || sidecar.Orphans() {
		decision.Invalid = invalid
		return decision, nil
	}
	byName := func(a, b *workloadcache.Record) int { return strings.Compare(a.Name, b.Name) }
	var matched []*workloadcache.Record
	recall := memo.recall(sidecar)
	for _, record := range slices.SortedFunc(slices.Values(snapshot.Workloads), byName) {
		if selector.Matches(record.Labels()) {
			decision.Matched++
			if sidecar.Spec.IsEnabled() {
				matched = append(matched, record)
				continue
			}
		}
		decision.remove(snapshot, &recall.removed, record)
	}
	if sidecar.DeletionTimestamp == nil {
		decision.Environment, decision.EnvironmentFrom = environmentOf(snapshot)
		if err := decision.inject(ctx, snapshot, memo, &recall.injected, matched); err != nil {
			return nil, err
		}
	}
	if reserved.err != nil {
		return nil, reserved.err
	}
	if len(recall.removed.now) > 0 { // Else they are in order.
		slices.SortFunc(decision.Plans, func(a, b plan.Plan) int { return strings.Compare(a.Target.Name, b.Target.Name) })
	}
	decision.Limit = limitOf(snapshot, decision.Matched)
	plan.Admit(decision.Plans, decision.Limit)
	decision.provide(snapshot)
	decision.collect(snapshot.Companions)
	if reserved.err != nil {
		return nil, reserved.err
	}
	decision.references = slices.Concat(decision.references, slices.Sorted(maps.Keys(reserved.asked)))
	if decision.Unread = reserved.unread(snapshot); len(decision.Unread) == 0 {
		memo.keep(nameOf(sidecar), recall)
	}
	return decision, nil
}

// remove plans a workload that should not carry the sidecar, if there is anything to
// do or under way.
func (d *Decision) remove(snapshot *Snapshot, recall *judgements, record *workloadcache.Record) {
	judged := recall.of(record, "", func() *judgement {
		view := record.View()
		return &judgement{plan: plan.ForRemoval(meta.Manager(snapshot.Sidecar.Name), &view)}
	})
	removal := judged.plan
	removal.State, removal.Cause = record.State, whyRemoved(snapshot.Sidecar)
	if d.pace(snapshot, &removal); removal.InFlight || removal.Action != plan.None {
		d.Plans = append(d.Plans, removal)
	}
}

// whyRemoved says why a workload should not carry the sidecar.
func whyRemoved(sidecar *v1alpha1.VectorSidecar) string {
	switch {
	case sidecar.DeletionTimestamp != nil:
		return fmt.Sprintf("VectorSidecar %s is deleted", sidecar.Name)
	case !sidecar.Spec.IsEnabled():
		return fmt.Sprintf("spec.enabled of VectorSidecar %s is false", sidecar.Name)
	}
	return fmt.Sprintf("VectorSidecar %s does not select the workload any more", sidecar.Name)
}

// provide compares the companions that are wanted with those that there are. One
// whose name is taken by an object of somebody else's is a conflict.
func (d *Decision) provide(snapshot *Snapshot) {
	for _, wanted := range d.Companions {
		there := snapshot.find(wanted.Name)
		switch {
		case there == nil:
			d.Missing = append(d.Missing, wanted)
		case !companion.IsLeftTo(there, snapshot.Sidecar):
			d.Invalid = &Invalid{meta.ReasonConflict, fmt.Sprintf(
				"ConfigMap %s/%s is not one of %s: delete it, or give this VectorSidecar another name", there.Namespace, there.Name, describe(snapshot.Sidecar))}
		case companion.KnownDigest(there) != companion.Digest(&wanted) || !companion.IsOf(there, snapshot.Sidecar):
			wanted.UID = there.UID
			d.Missing = append(d.Missing, wanted)
		}
	}
	if d.Invalid == nil {
		return
	}
	d.Missing = nil
	for i := range d.Plans {
		if p := &d.Plans[i]; p.Writes() && p.Action != plan.Remove && p.Action != plan.Note {
			p.Wait(d.Invalid.Reason, d.Invalid.Message)
		}
	}
}

// find returns the ConfigMap of a name, nil if there is none.
func (s *Snapshot) find(name string) *corev1.ConfigMap {
	for i := range s.Companions {
		if s.Companions[i].Name == name {
			return &s.Companions[i]
		}
	}
	return s.configMap(name)
}

// collect finds the companions that may go: not before everything that may refer
// to them is settled.
func (d *Decision) collect(companions []corev1.ConfigMap) {
	if d.Invalid != nil {
		return
	}
	for i := range d.Plans {
		p := &d.Plans[i]
		isSettled := p.Action == plan.None && p.Rollout == workload.RolloutComplete || !p.Carries && !p.InFlight
		if p.Writes() || !isSettled {
			return
		}
	}
	for i := range companions {
		name := companions[i].Name
		if !d.kept[name] && !slices.ContainsFunc(d.Companions, func(c corev1.ConfigMap) bool { return c.Name == name }) {
			d.Obsolete = append(d.Obsolete, name)
		}
	}
}

// selectorOf reads the selector. An empty one needs matchAll: an object from
// before the rule in the CRD may still lack it. One that is too large has none.
func selectorOf(sidecar *v1alpha1.VectorSidecar) (labels.Selector, *Invalid) {
	if invalid := tooLarge(sidecar); invalid != nil {
		return nil, invalid
	}
	selector, err := metav1.LabelSelectorAsSelector(&sidecar.Spec.Selector)
	if err != nil {
		return nil, &Invalid{meta.ReasonInvalidSelector, describe(sidecar) + ": spec.selector: " + err.Error()}
	}
	if selector.Empty() && !sidecar.Spec.MatchAll {
		return nil, &Invalid{meta.ReasonInvalidSelector, describe(sidecar) + ": spec.selector is empty and would match every " + workload.Singular() + " of the namespace: name a label, or set spec.matchAll: true"}
	}
	return selector, nil
}

// environmentOf returns the environment and what names it.
func environmentOf(snapshot *Snapshot) (name, from string) {
	if name := snapshot.Sidecar.Spec.Environment; name != "" {
		return name, "spec.environment of the VectorSidecar"
	}
	if name := snapshot.NamespaceLabels[meta.LabelEnvironment]; name != "" {
		return name, "the label of namespace " + snapshot.Sidecar.Namespace
	}
	return snapshot.DefaultEnvironment, cmp.Or(snapshot.DefaultFrom, "the operator's default")
}

func describe(sidecar *v1alpha1.VectorSidecar) string {
	return "VectorSidecar " + types.NamespacedName{Namespace: sidecar.Namespace, Name: sidecar.Name}.String()
}
