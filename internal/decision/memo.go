// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/store"
	"kontroloop.ai/vector-sidecar-operator/internal/template"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorconfig"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// What a Memo may take, in bytes: renderings, of which each is some ten kilobytes and may be
// a megabyte, what is told of configurations, and the last passes. It is for a container
// with the memory that the chart gives it.
const (
	mostRendered = 24 << 20
	mostRead     = 1 << 20
	mostReported = 8 << 20
	mostRecalled = 16 << 20
)

// Memo remembers renderings and checks by everything that they depend on, so that
// a pass in which nothing changed renders nothing. It changes no decision, and is bounded
// in bytes. It may be used by several goroutines at once; a nil Memo remembers nothing.
type Memo struct {
	mu       sync.Mutex
	rendered *store.Store[*wanted]
	// read has for each request what its renderings read of their targets: most
	// often the same of all, so that one look finds a result.
	read    *store.Store[[][]template.Read]
	reports *store.Store[*vectorconfig.Report]
	// recalls are the last passes of VectorSidecars, by name.
	recalls *store.Store[*recall]
}

// NewMemo returns an empty Memo.
func NewMemo() *Memo {
	return &Memo{
		rendered: store.New[*wanted](mostRendered), read: store.New[[][]template.Read](mostRead),
		reports: store.New[*vectorconfig.Report](mostReported), recalls: store.New[*recall](mostRecalled),
	}
}

// wanted is the result of one rendering: what to apply, or why not.
type wanted struct {
	desired *plan.Desired
	overlay *render.Overlay
	// rendered is the overlay as the templates give it, with the ConfigMap itself
	// where the overlay has a copy.
	rendered   *render.Overlay
	container  string
	report     *vectorconfig.Report
	collects   collection
	companions []corev1.ConfigMap
	// shares tells that an earlier rendering has made these companions.
	shares bool
	// copied is what is given of a referenced ConfigMap, nil for nothing.
	copied *copied
	// isReadUnseen tells that Vector reads configuration that is not ours to see.
	isReadUnseen bool
	validation   *Validation
	invalid      *Invalid
	// readTarget is what was read of the target that it was made of: a workload that
	// has something else there may have another result.
	readTarget []template.Read
	// late tells that the templates ran out of time, which on another day they
	// might not.
	late bool
	// shortened says what had to be cut for pods that end sooner, "" for nothing.
	shortened string
	// cuts are the same for such pods.
	cuts cuts
	// key is what it is remembered by, "" if it is not, and bytes about what it takes then.
	key   string
	bytes atomic.Int64
}

// batch renders one request for several targets.
type batch struct {
	memo     *Memo
	request  render.Request
	config   config
	policy   *policy.Policy
	observer Observer
	// asked is what the request was made of.
	asked asked
	// writtenBy is the snapshot's.
	writtenBy string
	// common is the key of everything but the target.
	common []byte

	// made are the companions that the renderings share.
	made *madeCompanions
}

// madeCompanions are companions of renderings by a digest: often they differ in nothing, and are
// what is large of a rendering.
type madeCompanions struct {
	mu       sync.Mutex
	byDigest map[string][]corev1.ConfigMap
}

func (m *Memo) batch(request render.Request, config config, snapshot *Snapshot, asked asked) *batch {
	policy := snapshot.Platform.Policy
	// Values are JSON, which always marshals, and in the order of its keys.
	text, _ := json.Marshal([]any{
		request.Chart.Digest, request.Values.Tree, request.Sidecar, request.KubeVersion, config.digest, policy.Digest,
		snapshot.WrittenBy, snapshot.Version, asked,
	})
	sum := sha256.Sum256(text)
	return &batch{
		made: &madeCompanions{byDigest: map[string][]corev1.ConfigMap{}},
		memo: m, request: request, config: config, policy: policy, observer: snapshot.Observer,
		asked: asked, writtenBy: snapshot.WrittenBy, common: sum[:],
	}
}

// marks are those of what is written for the VectorSidecar.
func (b *batch) marks() map[string]string {
	if b.writtenBy == "" {
		return nil
	}
	return map[string]string{meta.AnnotationWrittenBy(meta.Manager(b.request.Sidecar.Name)): b.writtenBy}
}

// want returns what is wanted of one target.
func (b *batch) want(ctx context.Context, target *workload.View) *wanted {
	return b.within(ctx, b.rendered(ctx, target), target.GraceSeconds)
}

// rendered renders for one target. The result is remembered for all targets that look
// the same to what the templates have read.
func (b *batch) rendered(ctx context.Context, target *workload.View) *wanted {
	if b.memo == nil {
		return b.evaluate(ctx, target)
	}
	var space [1024]byte // Enough for most, without an allocation.
	for _, reads := range b.memo.readBy(b.common) {
		if found := remembered(b.memo, b.memo.rendered, b.appendKey(space[:0], target, reads)); found != nil {
			return found
		}
	}
	fresh := b.evaluate(ctx, target)
	if ctx.Err() == nil {
		b.keep(target, fresh)
	}
	return fresh
}

// keep remembers a result. No late one, which may have shared the processor with too
// many others.
func (b *batch) keep(target *workload.View, fresh *wanted) {
	if fresh.late {
		return
	}
	reads := b.memo.noteRead(b.common, fresh.readTarget)
	fresh.key = string(b.appendKey(nil, target, reads))
	bytes := store.Footprint(fresh)
	if fresh.shares {
		bytes -= store.Footprint(fresh.companions) // They count where they were made.
	}
	b.memo.grow(fresh, bytes)
}

// appendKey is the key of the request together with what templates find in a target
// where they read it.
func (b *batch) appendKey(text []byte, target *workload.View, reads []template.Read) []byte {
	return target.AppendReads(append(text, b.common...), reads)
}

// readBy is what renderings of a request have read.
func (m *Memo) readBy(common []byte) [][]template.Read { return remembered(m, m.read, common) }

// mostReads is how many kinds of what is read of a target are told apart for one request:
// each is a look for every workload. Templates that look up a label by the name of the
// workload would have as many as there are workloads.
const mostReads = 16

// noteRead notes what a rendering of a request has read, and returns by what of that it is
// to be remembered: when there are many kinds, by the keys of the target as a whole.
func (m *Memo) noteRead(common []byte, reads []template.Read) []template.Read {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.read.Get(common)
	isKnown := func() bool {
		return slices.ContainsFunc(before, func(known []template.Read) bool { return slices.EqualFunc(known, reads, template.Read.Equal) })
	}
	if len(before) >= mostReads && !isKnown() {
		reads = workload.WholeKeys(workload.KeysOf(reads))
	}
	if isKnown() {
		return reads
	}
	// A new list: others may be going through the old one.
	now := append(slices.Clip(before), reads)
	m.read.Put(string(common), now, store.Footprint(now))
	return reads
}

// Adopt remembers all that another Memo does, in place of what is remembered of the same.
// The other one must not be used any more.
func (m *Memo) Adopt(other *Memo) {
	for key, lists := range other.read.All() {
		for _, reads := range lists {
			m.noteRead([]byte(key), reads)
		}
	}
	for name, pass := range other.recalls.All() {
		pass.forget.Stop()
		m.keep(name, pass)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rendered.Adopt(other.rendered)
	m.reports.Adopt(other.reports)
}

// grow remembers a rendering that takes so many bytes more than it did.
func (m *Memo) grow(of *wanted, bytes int) {
	total := of.bytes.Add(int64(bytes))
	if m == nil || of.key == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rendered.Put(of.key, of, int(total))
}

func remembered[V any](m *Memo, from *store.Store[V], key []byte) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	return from.Get(key)
}

func remember[V any](m *Memo, in *store.Store[V], key []byte, fresh V, bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	in.Put(string(key), fresh, bytes)
}

// evaluate renders and checks.
func (b *batch) evaluate(ctx context.Context, target *workload.View) *wanted {
	request := b.request
	request.Target = target
	end := b.observer.begin(ctx, Render)
	result, err := render.Render(ctx, request)
	end(err)
	fresh := &wanted{
		readTarget: result.ReadTarget, late: errors.Is(err, context.DeadlineExceeded),
		container: value(request.Values, "sidecar", "name"),
	}
	if fresh.invalid = b.judge(result, err); fresh.invalid != nil {
		return fresh
	}
	fresh.companions, fresh.shares = b.share(result.Companions)
	end = b.observer.begin(ctx, Check)
	b.conclude(ctx, fresh, &result.Overlay)
	end(fresh.invalid.err())
	return fresh
}

// share returns companions, or equal ones that an earlier rendering has made.
func (b *batch) share(fresh []corev1.ConfigMap) (companions []corev1.ConfigMap, isShared bool) {
	text, _ := json.Marshal(fresh) // Objects of this type always marshal, and in one order.
	sum := sha256.Sum256(text)
	b.made.mu.Lock()
	defer b.made.mu.Unlock()
	if before, isMade := b.made.byDigest[string(sum[:])]; isMade {
		return before, true
	}
	b.made.byDigest[string(sum[:])] = fresh
	return fresh, false
}

// readOf are the keys of a target that it was made of, for what is noted in workloads.
func (w *wanted) readOf() []string {
	keys := workload.KeysOf(w.readTarget)
	if w.shortened == "" {
		return keys
	}
	return append(keys, workload.GraceKey)
}

// conclude checks the configuration of an overlay, and fills in what to apply if it
// passes.
func (b *batch) conclude(ctx context.Context, of *wanted, rendered *render.Overlay) {
	b.check(ctx, rendered, of)
	if of.invalid = refused(of.report, b.request.Values); of.invalid != nil {
		return
	}
	of.rendered, of.overlay = rendered, rendered
	version := ""
	if len(of.companions) > 0 {
		version = companion.Digest(&of.companions[0])
	}
	if b.config.object != nil {
		if of.copied, of.overlay, of.invalid = b.copyOf(rendered, of); of.invalid != nil {
			return
		}
	}
	if of.copied != nil {
		version = of.copied.digest
	}
	asked := plan.Asked{Digest: b.asked.digest(of.copied), Keys: of.readOf(), Inputs: b.asked.inputs(of.copied)}
	of.desired = plan.NewDesired(of.overlay, b.request.Sidecar.Name, of.container, version, b.marks()).For(asked)
	of.collects = collectionOf(of.report, of.overlay.Container(of.container), of.desired)
}

// judge says what is wrong with a rendering, nil for nothing.
func (b *batch) judge(result *render.Result, err error) *Invalid {
	reason := meta.ReasonInvalidTemplate
	var sidecar *render.SidecarError
	switch {
	case errors.As(err, &sidecar):
		reason = meta.ReasonInvalidSidecar
	case err != nil:
		err = fmt.Errorf("%w%s", err, origins(err, b.request.Values))
	default:
		if err = b.policy.Check(&result.Overlay.Template, result.Overlay.Mounts); err == nil {
			return nil
		}
		reason = meta.ReasonPolicyViolation
		err = fmt.Errorf("%s: the platform's policy refuses it: %w", result.Template, err)
	}
	return &Invalid{reason, fmt.Sprintf("rendering for environment %q: %s", b.request.Environment(), err)}
}
