// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/vectorconfig"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// memoLimit bounds a Memo. An entry is some ten kilobytes.
const memoLimit = 2048

// Memo remembers renderings and checks by everything that they depend on, so that a pass in
// which nothing changed renders nothing. It changes no decision. It may be used
// by several goroutines at once; a nil Memo remembers nothing.
type Memo struct {
	mu      sync.Mutex
	entries map[[sha256.Size]byte]*wanted
	reports map[[sha256.Size]byte]*vectorconfig.Report
}

// NewMemo returns an empty Memo.
func NewMemo() *Memo {
	return &Memo{entries: map[[sha256.Size]byte]*wanted{}, reports: map[[sha256.Size]byte]*vectorconfig.Report{}}
}

// wanted is the result of one rendering: what to apply, or why not.
type wanted struct {
	desired    *plan.Desired
	container  string
	report     *vectorconfig.Report
	companions []corev1.ConfigMap
	validation *Validation
	invalid    *Invalid
}

// batch renders one request for several targets.
type batch struct {
	memo     *Memo
	request  render.Request
	config   config
	prefix   []byte
	observer Observer
}

func (m *Memo) batch(request render.Request, config config, observer Observer) *batch {
	// Values are JSON, which always marshals, and in the order of its keys.
	text, _ := json.Marshal([]any{
		request.Chart.Digest, request.Values.Tree, request.Sidecar, request.KubeVersion, request.ConfigDigest,
	})
	return &batch{memo: m, request: request, config: config, prefix: text, observer: observer}
}

// want renders for one target; nil for all of them.
func (b *batch) want(ctx context.Context, target *workload.View) *wanted {
	request := b.request
	request.Target = target
	if b.memo == nil {
		return b.evaluate(ctx, request)
	}
	sum := sha256.New()
	sum.Write(b.prefix)
	if target != nil {
		text, _ := json.Marshal(target.Values())
		sum.Write(text)
	}
	key := [sha256.Size]byte(sum.Sum(nil))
	if found := remembered(b.memo, b.memo.entries, key); found != nil {
		return found
	}
	fresh := b.evaluate(ctx, request)
	if ctx.Err() == nil {
		remember(b.memo, b.memo.entries, key, fresh)
	}
	return fresh
}

func remembered[V any](m *Memo, entries map[[sha256.Size]byte]*V, key [sha256.Size]byte) *V {
	m.mu.Lock()
	defer m.mu.Unlock()
	return entries[key]
}

func remember[V any](m *Memo, entries map[[sha256.Size]byte]*V, key [sha256.Size]byte, fresh *V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(entries) >= memoLimit {
		for old := range entries {
			delete(entries, old) // Any one: it is made anew when needed.
			break
		}
	}
	entries[key] = fresh
}

// evaluate renders and checks.
func (b *batch) evaluate(ctx context.Context, request render.Request) *wanted {
	end := b.observer.begin(ctx, Render)
	result, err := render.Render(ctx, request)
	end(err)
	var sidecar *render.SidecarError
	switch {
	case errors.As(err, &sidecar):
		return &wanted{invalid: &Invalid{meta.ReasonInvalidSidecar, fmt.Sprintf("rendering for environment %q: %s", request.Environment(), err)}}
	case err != nil:
		return &wanted{invalid: &Invalid{meta.ReasonInvalidTemplate, fmt.Sprintf("rendering for environment %q: %s", request.Environment(), err)}}
	}
	version := request.ConfigDigest
	if version == "" && len(result.Companions) > 0 {
		version = digest(&result.Companions[0])
	}
	name := value(request.Values, "sidecar", "name")
	fresh := &wanted{desired: plan.NewDesired(&result.Overlay, name, version), container: name, companions: result.Companions}
	end = b.observer.begin(ctx, Check)
	b.check(&request, &result.Overlay.Template.Spec, fresh)
	fresh.invalid = refused(fresh.report, request.Values)
	end(fresh.invalid.err())
	return fresh
}
