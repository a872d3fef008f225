// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// pass evaluates the workloads of one VectorSidecar one after the other.
type pass struct {
	facts             decision.Facts
	manager           string
	reader            *desired.Reader
	wanted            *desired.Desired
	precedingSidecars []*precedingSidecar
	// bases caches the digests that basisFor returns, by Variant.Basis.
	bases map[string]string
}

// precedingSidecar is another VectorSidecar that selects some of the same workloads and takes precedence in them. It has
// the evaluation of these workloads for the other VectorSidecar.
type precedingSidecar struct {
	*pass

	selector workload.Selector
	// wishes caches the results of wish by the UID of the workload.
	wishes map[types.UID]*plan.Desired
}

func newPass(input *decision.Input, reader *desired.Reader) *pass {
	p := &pass{
		facts:   decision.Facts{Input: *input, Reader: reader},
		manager: meta.Manager(input.Sidecar.Name), reader: reader, bases: map[string]string{},
	}
	if input.OnNodes != nil {
		p.facts.OnNodes = sync.OnceValue(input.OnNodes)
	}
	if input.Verdict != nil { // A result may change while a decision is made.
		verdicts := map[string]decision.Verdict{}
		p.facts.Verdict = func(key string) decision.Verdict {
			if _, ok := verdicts[key]; !ok {
				verdicts[key] = input.Verdict(key)
			}
			return verdicts[key]
		}
	}
	return p
}

// setDesired sets the desired sidecars of the evaluation.
func (p *pass) setDesired(desiredState *desired.Desired) {
	p.wanted, p.facts.Desired = desiredState, desiredState.Common
}

// addPreceding adds the VectorSidecars that take precedence in some of the workloads, sorted by precedence.
func (p *pass) addPreceding(cache *desired.Cache, matched []*workloadcache.Record) {
	if p.wanted.Invalid != nil {
		return
	}
	for _, candidate := range decision.PrecedingSidecars(p.facts.Sidecar, p.facts.Others, matched) {
		precedingInput := p.facts.Input
		precedingInput.Sidecar = candidate.Sidecar
		desiredState := desired.New(&precedingInput.Inputs, p.reader, cache)
		if common := desiredState.CommonVariant(); common == nil || common.Container == "" {
			continue
		}
		preceding := &precedingSidecar{pass: newPass(&precedingInput, p.reader), selector: candidate.Selector, wishes: map[types.UID]*plan.Desired{}}
		preceding.setDesired(desiredState)
		preceding.precedingSidecars = slices.Clip(p.precedingSidecars)
		p.precedingSidecars = append(p.precedingSidecars, preceding)
	}
}

// inject evaluates the workloads that should have the sidecar.
func (p *pass) inject(ctx context.Context, records []*workloadcache.Record) ([]decision.Workload, error) {
	if p.wanted.Invalid != nil {
		return nil, nil
	}
	if len(records) == 0 {
		report, invalid := p.wanted.CheckAlone(ctx)
		p.facts.Desired.Invalid = invalid
		if !p.wanted.CommonVariant().Source.ChecksOff {
			p.facts.Findings = report.Findings
		}
		return nil, ctx.Err()
	}
	var previous recall
	if p.facts.Previous != nil {
		previous = p.facts.Previous.Injected
	}
	workloads := make([]decision.Workload, 0, len(records))
	for i, record := range records {
		if i%desired.PrefetchLimit == 0 {
			p.wanted.Prefetch(ctx, records[i:])
		}
		variant := p.wanted.Variant(record)
		evaluated := previous.find(record)
		if evaluated == nil || !p.isCurrent(evaluated, variant) {
			evaluated = p.evaluate(ctx, record, variant)
		}
		if err := p.reader.WaitForTurn(); err != nil {
			return nil, err
		}
		entry := decision.Workload{Record: record, Evaluated: evaluated, Source: variant.Source, Started: p.started(record)}
		if evaluated.Plan.Owner != nil && p.facts.Carried != nil {
			entry.LastWriter, entry.HadSidecar = p.facts.Carried(record.UID)
		}
		workloads = append(workloads, entry)
	}
	return workloads, nil
}

// evaluate evaluates one workload that should have the sidecar.
func (p *pass) evaluate(ctx context.Context, record *workloadcache.Record, variant *desired.Variant) *decision.Evaluated {
	view := record.View()
	evaluated := p.evaluateView(ctx, record, variant, &view)
	// A preceding VectorSidecar may have read the ServiceAccount.
	evaluated.Record, evaluated.Basis = record, withAccount(p.basisFor(variant), p.reader.FindAccount(view.ServiceAccount))
	return evaluated
}

// evaluateView evaluates the view of a workload that should have the sidecar.
func (p *pass) evaluateView(ctx context.Context, record *workloadcache.Record, variant *desired.Variant, view *workload.View) *decision.Evaluated {
	if view.Unread.Text() != "" { // Templates would report errors about the missing fields.
		return p.facts.EvaluateUnread(view)
	}
	desiredWorkload := variant.WorkloadFor(ctx, view)
	if desiredWorkload.LacksAccount {
		view.Account = p.reader.Account(view.ServiceAccount)
		desiredWorkload = variant.WorkloadFor(ctx, view)
	}
	if desiredWorkload.Invalid != nil {
		return p.facts.EvaluateInjection(desiredWorkload, variant.Container, nil, view)
	}
	var competitors []decision.Competitor
	for _, preceding := range p.precedingSidecars {
		isFirst := p.facts.Sidecar.Cluster != nil && preceding.facts.Sidecar.Cluster == nil && preceding.wanted.Invalid == nil
		if (isFirst || !view.Owned[p.manager].HasPlainAnnotations) && record.IsSelectedBy(preceding.selector) {
			competitors = append(competitors, decision.Competitor{
				Name: preceding.facts.Sidecar.Name, Container: preceding.wanted.CommonVariant().Container, Wants: preceding.wish(ctx, record, view), IsFirst: isFirst,
			})
		}
	}
	return p.facts.EvaluateInjection(desiredWorkload, variant.Container, competitors, view)
}

// wish returns the sidecar that a preceding VectorSidecar is about to inject into a workload. It returns nil if it
// does not inject one, or if the workload already has its sidecar.
func (e *precedingSidecar) wish(ctx context.Context, record *workloadcache.Record, view *workload.View) *plan.Desired {
	if owned, carries := view.Owned[e.manager]; carries && !owned.IsAdmissionInjected() {
		return nil
	}
	wish, ok := e.wishes[record.UID]
	if !ok {
		if p := e.evaluate(ctx, record, e.wanted.Variant(record)).Plan; p.HasChange(plan.Inject, plan.Adopt) {
			wish = p.Desired
		}
		e.wishes[record.UID] = wish
	}
	return wish
}

// basisFor returns a digest of all inputs of the evaluation of a workload, except the workload and its ServiceAccount.
func (p *pass) basisFor(variant *desired.Variant) string {
	if basis, ok := p.bases[variant.Basis]; ok {
		return basis
	}
	// The policy is in the basis of the variant.
	spec := &p.facts.Sidecar.Spec
	inputs := []any{
		spec.StrictOrder, spec.HostNetwork, spec.Owned(), spec.DriftPolicy, spec.RolloutMode(),
		p.facts.NamespaceLabels, p.facts.NamespaceUsers, p.facts.Unserved, p.facts.Manifests, []byte(variant.Basis),
	}
	for i := range p.facts.Companions { // An unchanged sidecar stays only while its companions exist.
		inputs = append(inputs, p.facts.Companions[i].Name+" "+p.facts.Companions[i].ResourceVersion)
	}
	for _, preceding := range p.precedingSidecars {
		common := preceding.wanted.CommonVariant()
		inputs = append(inputs, preceding.facts.Sidecar.Name, preceding.selector.String(), common.Container, []byte(preceding.basisFor(common)))
	}
	text, _ := json.Marshal(inputs) // Strings, booleans and maps of strings always marshal, with sorted keys.
	sum := sha256.Sum256(text)
	p.bases[variant.Basis] = string(sum[:])
	return p.bases[variant.Basis]
}

// withAccount adds a ServiceAccount that an evaluation read, or nil, to the digest of its inputs.
func withAccount(basis string, account *workload.Account) string {
	if account == nil {
		return basis
	}
	text, _ := json.Marshal(account) // Strings and booleans always marshal.
	sum := sha256.Sum256(text)
	return basis + string(sum[:])
}

// isCurrent reports whether an earlier evaluation of an unchanged workload had the same inputs. If it read the
// workload's ServiceAccount, isCurrent reads the ServiceAccount, too.
func (p *pass) isCurrent(evaluated *decision.Evaluated, variant *desired.Variant) bool {
	basis := p.basisFor(variant)
	if len(evaluated.Basis) == len(basis) {
		return evaluated.Basis == basis
	}
	view := evaluated.Record.View()
	return evaluated.Basis == withAccount(basis, p.reader.Account(view.ServiceAccount))
}

// remove evaluates the workloads that should not have the sidecar.
func (p *pass) remove(records []*workloadcache.Record) []decision.Workload {
	var previous recall
	if p.facts.Previous != nil {
		previous = p.facts.Previous.Removed
	}
	var workloads []decision.Workload
	for _, record := range records {
		evaluated := previous.find(record)
		if evaluated == nil {
			view := record.View()
			evaluated = p.facts.EvaluateRemoval(&view)
			evaluated.Record = record
		}
		workloads = append(workloads, decision.Workload{Record: record, Evaluated: evaluated, Started: p.started(record)})
	}
	return workloads
}

// offer sets the sidecars for workloads that do not exist yet, or the reason why there are none.
func (p *pass) offer(ctx context.Context, injected []decision.Workload) {
	if p.wanted.Invalid != nil {
		p.facts.OverlayBlocker = p.wanted.Invalid.Message
		return
	}
	var renderedWorkloads []desired.RenderedWorkload
	for i := range injected {
		if evaluated := injected[i].Evaluated; evaluated.Rendered != nil && injected[i].Source.IsCommon {
			view := injected[i].Record.View()
			renderedWorkloads = append(renderedWorkloads, desired.RenderedWorkload{Rendered: evaluated.Rendered, QoSClass: view.QoSClass})
		}
	}
	p.facts.Overlays, p.facts.OverlayBlocker = p.wanted.Offers(ctx, p.facts.Sidecar.Namespace, renderedWorkloads)
	for i := range p.facts.Overlays {
		p.setUndefinedFields(&p.facts.Overlays[i])
	}
}

// setUndefinedFields records, for each kind, a field of an offered sidecar that the definition of the kind does not have.
func (p *pass) setUndefinedFields(offer *desired.AdmissionOverlay) {
	if p.facts.FindUndefinedField == nil {
		return
	}
	for _, kind := range p.facts.Sidecar.Spec.Kinds() {
		workloadKind := workload.KindByName(string(kind))
		if workloadKind == nil {
			continue
		}
		if reason := p.facts.FindUndefinedField(workloadKind, tree.MapAt(offer.Rendered.Overlay.Body, "spec")); reason != "" {
			if p.facts.UndefinedFields == nil {
				p.facts.UndefinedFields = map[decision.OfferTo]string{}
			}
			p.facts.UndefinedFields[decision.OfferTo{Hash: offer.Rendered.Desired.InjectedHash(), Kind: workloadKind.Kind}] = reason
		}
	}
}

// started returns the generation after the last write to a workload, or 0 if it is not known.
func (p *pass) started(record *workloadcache.Record) int64 {
	if p.facts.Started == nil {
		return 0
	}
	return p.facts.Started(record.UID)
}
