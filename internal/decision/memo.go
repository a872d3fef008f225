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

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorconfig"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// memoLimit bounds a Memo. An entry is some ten kilobytes.
const memoLimit = 2048

// Memo remembers renderings and checks by everything that they depend on, so that
// a pass in which nothing changed renders nothing. It changes no decision. It may be
// used by several goroutines at once; a nil Memo remembers nothing.
type Memo struct {
	mu      sync.Mutex
	entries map[string]*wanted
	// read has for each request which keys of a target its renderings read: most
	// often the same for all, so that one look finds a result.
	read    map[string][][]string
	reports map[string]*vectorconfig.Report
	// recalls are the last passes of VectorSidecars.
	recalls map[types.NamespacedName]*recall
}

// NewMemo returns an empty Memo.
func NewMemo() *Memo {
	return &Memo{
		entries: map[string]*wanted{}, read: map[string][][]string{},
		reports: map[string]*vectorconfig.Report{}, recalls: map[types.NamespacedName]*recall{},
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
	// copied is what is given of a referenced ConfigMap, nil for nothing.
	copied *copied
	// isReadUnseen tells that Vector reads configuration that is not ours to see.
	isReadUnseen bool
	validation   *Validation
	invalid      *Invalid
	// readTarget are the keys of the target that it was made of: a workload with
	// other values there may have another result.
	readTarget []string
	// late tells that the templates ran out of time, which on another day they
	// might not.
	late bool
	// shortened says what had to be cut for pods that end sooner, "" for nothing.
	shortened string
	// cuts are the same for such pods.
	cuts cuts
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
}

func (m *Memo) batch(request render.Request, config config, snapshot *Snapshot, asked asked) *batch {
	policy := snapshot.Platform.Policy
	// Values are JSON, which always marshals, and in the order of its keys.
	text, _ := json.Marshal([]any{
		request.Chart.Digest, request.Values.Tree, request.Sidecar, request.KubeVersion, config.digest, policy.Digest,
		snapshot.WrittenBy, asked,
	})
	sum := sha256.Sum256(text)
	return &batch{
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
	for _, keys := range b.memo.readBy(b.common) {
		if found := remembered(b.memo, b.memo.entries, b.appendKey(space[:0], target, keys)); found != nil {
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
	b.memo.noteRead(b.common, fresh.readTarget)
	remember(b.memo, b.memo.entries, b.appendKey(nil, target, fresh.readTarget), fresh)
}

// appendKey is the key of the request together with what templates see of a target
// in some keys.
func (b *batch) appendKey(text []byte, target *workload.View, keys []string) []byte {
	return target.AppendValues(append(text, b.common...), keys)
}

// readBy is what renderings of a request have read.
func (m *Memo) readBy(common []byte) [][]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read[string(common)]
}

func (m *Memo) noteRead(common []byte, keys []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.read[string(common)]
	if slices.ContainsFunc(before, func(known []string) bool { return slices.Equal(known, keys) }) {
		return
	}
	if len(m.read) >= memoLimit {
		clear(m.read) // What it led to is rendered anew when needed.
	}
	// A new list: others may be going through the old one.
	m.read[string(common)] = append(slices.Clip(before), keys)
}

func remembered[V any](m *Memo, entries map[string]*V, key []byte) *V {
	m.mu.Lock()
	defer m.mu.Unlock()
	return entries[string(key)]
}

func remember[V any](m *Memo, entries map[string]*V, key []byte, fresh *V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(entries) >= memoLimit {
		for old := range entries {
			delete(entries, old) // Any one: it is made anew when needed.
			break
		}
	}
	entries[string(key)] = fresh
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
	fresh.companions = result.Companions
	end = b.observer.begin(ctx, Check)
	b.conclude(ctx, fresh, &result.Overlay)
	end(fresh.invalid.err())
	return fresh
}

// readOf are the keys of a target that it was made of, for what is noted in workloads.
func (w *wanted) readOf() []string {
	if w.shortened == "" {
		return w.readTarget
	}
	return append(slices.Clip(w.readTarget), workload.GraceKey)
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
	asked := plan.Asked{Digest: b.asked.digest(of.copied), Keys: of.readOf()}
	of.desired = plan.NewDesired(of.overlay, of.container, version, b.marks()).For(asked)
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
		if err = b.policy.Check(&result.Overlay.Template); err == nil {
			return nil
		}
		reason = meta.ReasonPolicyViolation
		err = fmt.Errorf("%s: the platform's policy refuses it: %w", result.Template, err)
	}
	return &Invalid{reason, fmt.Sprintf("rendering for environment %q: %s", b.request.Environment(), err)}
}
