// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
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

// precedingSidecar is a preceding VectorSidecar that selects some of the workloads, with the evaluation of these
// workloads for it.
type precedingSidecar struct {
	*pass

	selector workload.Selector
	// wishes caches the results of wish by the UID of the workload.
	wishes map[types.UID]*plan.Desired
}

func newPass(input *decision.Input, reader *desired.Reader) *pass {
	p := &pass{
		facts:   decision.Facts{Input: *input, ExistingConfigMaps: map[string]*corev1.ConfigMap{}, WriteHold: writeHold(input)},
		manager: meta.Manager(input.Sidecar.Name), reader: reader, bases: map[string]string{},
	}
	if start, end, isClosed := input.Platform.Rollout.ClosedWindow(input.Now); isClosed {
		p.facts.ClosedWindow = &plan.ClosedWindow{ClosedAt: start, OpensAt: end}
	}
	isOnNodes := func(record *workloadcache.Record) bool { return workload.KindByName(record.Kind).Traits.OnEveryNode }
	if input.OnNodes != nil && slices.ContainsFunc(input.Workloads, isOnNodes) {
		p.facts.NodeWorkloads = input.OnNodes()
	}
	return p
}

// writeHold returns the reason why writes are on hold, or nil if they are allowed. A stop by a user takes precedence.
func writeHold(input *decision.Input) *plan.Block {
	switch {
	case input.Platform.Stop == desired.StoppedByValues:
		return plan.StopBlock("the value writes of the installation is Stopped, which stops all writes except removals")
	case input.Platform.Stop.IsActive():
		return plan.StopBlock("the annotation " + meta.AnnotationStopWrites + " of the installation's ConfigMap stops all writes except removals")
	case input.Platform.Unpublished != "":
		return &plan.Block{Kind: plan.BlockedByRevision, Reason: meta.ReasonRevisionIncomplete, Message: input.Platform.Unpublished}
	case input.Hold != nil:
		return input.Hold
	}
	return awaited(input.Platform, input.Sidecar)
}

// awaited returns the write hold of a VectorSidecar if its revision is not the platform's. Either the VectorSidecar
// still lacks a revision, or its revision cannot be rendered any more.
func awaited(platform *desired.Platform, sidecar *v1alpha1.VectorSidecar) *plan.Block {
	rolloutStatus := sidecar.Status.Rollout
	if rolloutStatus == nil || !platform.Target.Rules.IsStaged() || rolloutStatus.Revision == platform.Revision {
		return nil
	}
	message := fmt.Sprintf("waiting until the VectorSidecar may start revision %s of the installation's templates and values", platform.Target.Revision)
	if rolloutStatus.Revision != "" {
		message += "; the current revision is " + rolloutStatus.Revision
	}
	if platform.Missing != nil {
		message += fmt.Sprintf(", which cannot be rendered (%s)", platform.Missing)
	}
	return &plan.Block{Kind: plan.BlockedByWave, Reason: meta.ReasonWaitingForWave, Message: message}
}

// WriteHoldFor returns why writes are on hold according to a VectorSidecar's status, or nil if they are allowed.
func WriteHoldFor(platform *desired.Platform, sidecar *v1alpha1.VectorSidecar) *plan.Block {
	rolloutStatus, target := sidecar.Status.Rollout, &platform.Target
	if rolloutStatus == nil || !target.Rules.IsStaged() || !fleet.IsHeld(rolloutStatus, target, rolloutStatus.State == v1alpha1.RolloutHalted) {
		return nil
	}
	if rolloutStatus.State == v1alpha1.RolloutHalted {
		return &plan.Block{Kind: plan.BlockedByHalt, Reason: meta.ReasonRolloutHalted, Message: rolloutStatus.Message}
	}
	return &plan.Block{Kind: plan.BlockedByWave, Reason: meta.ReasonWaitingForWave, Message: rolloutStatus.Message}
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
	evaluated := p.facts.EvaluateInjection(desiredWorkload, variant.Container, competitors, view)
	if p.find(evaluated.KeptConfigMaps...) { // An unchanged sidecar stays only while its ConfigMaps exist.
		evaluated = p.facts.EvaluateInjection(desiredWorkload, variant.Container, competitors, view)
	}
	return evaluated
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

// readCompanions reads the companions that the workloads need, and Vector's validation results for their configurations.
func (p *pass) readCompanions(injected []decision.Workload) {
	if p.facts.Verdict != nil {
		p.facts.Verdicts = map[string]decision.Verdict{}
	}
	var lastRendered *desired.Rendered
	for i := range injected {
		evaluated := injected[i].Evaluated
		rendered := evaluated.Rendered
		if rendered == nil || rendered == lastRendered && evaluated.Plan.Existing.UnchangedHash == "" {
			continue
		}
		lastRendered = rendered
		for n := range evaluated.Companions {
			p.find(evaluated.Companions[n].Name)
		}
		if evaluated.Copied != nil {
			p.find(evaluated.Copied.Name)
		}
		if validation := rendered.Validation; validation != nil && p.facts.Verdict != nil {
			p.facts.Verdicts[validation.Key] = p.facts.Verdict(validation.Key)
		}
	}
	for _, offer := range p.facts.Overlays {
		p.setUndefinedFields(&offer)
		p.find(offer.ConfigMaps()...)
		if validation := offer.Rendered.Validation; validation != nil && p.facts.Verdict != nil {
			p.facts.Verdicts[validation.Key] = p.facts.Verdict(validation.Key)
		}
	}
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

// find reads ConfigMaps that are not among the companions. It reports whether any of them had not been read before.
func (p *pass) find(names ...string) (isNew bool) {
	for _, name := range names {
		if _, ok := p.facts.ExistingConfigMaps[name]; ok {
			continue
		}
		if !slices.ContainsFunc(p.facts.Companions, func(c corev1.ConfigMap) bool { return c.Name == name }) {
			p.facts.ExistingConfigMaps[name], isNew = p.reader.ConfigMap(name), true
		}
	}
	return isNew
}

// started returns the generation after the last write to a workload, or 0 if it is not known.
func (p *pass) started(record *workloadcache.Record) int64 {
	if p.facts.Started == nil {
		return 0
	}
	return p.facts.Started(record.UID)
}
