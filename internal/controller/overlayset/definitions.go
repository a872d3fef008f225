// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package overlayset

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/openapi"

	"kontroloop.ai/vector-sidecar-operator/internal/overlayset"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// definitionAge is the time after which a definition is read again, because an installed kind may be replaced by
// another release of the kind.
const definitionAge = time.Minute

// definitions checks objects against cached schemas of kinds that are not built into Kubernetes.
type definitions struct {
	documents openapi.ClientWithContext
	// isServed reports whether the API server serves a kind.
	isServed func(*workload.Kind) bool
	now      func() time.Time

	// reading is locked during requests to the API server, and mu only briefly, so that decisions do not wait for a
	// response.
	reading sync.Mutex
	// isNew is true from the replacement of a definition until haveChanged reports it.
	isNew bool

	mu     sync.Mutex
	cached map[string]*knownDefinition
}

// knownDefinition is the cached definition of a kind.
type knownDefinition struct {
	// address is the address of the document with the definition. It contains a digest of the document.
	address string
	// readTime is the time of the last read. It is guarded by definitions.reading.
	readTime   time.Time
	definition *overlayset.Definition
	// reason explains why the definition cannot be read, or is "" if it can.
	reason string
}

// findProblem explains why the API server must not inject a sidecar into the pods of a kind, or returns "" if it may.
// The API server would drop fields that the definition does not have. findProblem reads a definition that is too old.
func (d *definitions) findProblem(ctx context.Context, kind *workload.Kind, pod map[string]any) (string, error) {
	if err := d.refreshDefinition(ctx, kind); err != nil {
		return "", err
	}
	return d.findUnknownField(kind, pod), nil
}

// findUnknownField returns the same explanation as findProblem, from the cached definition only. It returns "" if no
// definition is cached.
func (d *definitions) findUnknownField(kind *workload.Kind, pod map[string]any) string {
	if !kind.Traits.OptionalAPI {
		return ""
	}
	if !d.isServed(kind) {
		return "the API server does not serve " + kind.Plural
	}
	cached := d.cachedDefinition(kind)
	switch {
	case cached == nil:
		return ""
	case cached.reason != "":
		return cached.reason
	}
	if field := cached.definition.UnknownField(pod); field != "" {
		return fmt.Sprintf("the definition of %s, possibly of an earlier version, does not have the field %s", kind.Plural, field)
	}
	return ""
}

// cachedDefinition returns the cached definition of a kind, or nil.
func (d *definitions) cachedDefinition(kind *workload.Kind) *knownDefinition {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cached[kind.Kind]
}

// refreshDefinition reads the definition of a kind, unless it has been read within definitionAge.
func (d *definitions) refreshDefinition(ctx context.Context, kind *workload.Kind) error {
	if !kind.Traits.OptionalAPI || !d.isServed(kind) {
		return nil
	}
	d.reading.Lock()
	defer d.reading.Unlock()
	if cached := d.cachedDefinition(kind); cached != nil && d.now().Sub(cached.readTime).Abs() < definitionAge {
		return nil
	}
	return d.readDefinition(ctx, kind)
}

// haveChanged reads the cached definitions again, because their replacement does not cause an event. It reports
// whether a definition has been replaced since the last call, even if a reconcile has read the new one in between.
func (d *definitions) haveChanged(ctx context.Context) (isNew bool) {
	d.reading.Lock()
	defer d.reading.Unlock()
	for _, name := range slices.Sorted(maps.Keys(d.cached)) {
		if kind := workload.KindByName(name); d.isServed(kind) {
			_ = d.readDefinition(ctx, kind) // The cached definition stays valid.
		}
	}
	isNew, d.isNew = d.isNew, false
	return isNew
}

// readDefinition reads the definition of a kind and stores it, unless the definition has not changed. The caller
// holds reading.
func (d *definitions) readDefinition(ctx context.Context, kind *workload.Kind) error {
	cached := d.cachedDefinition(kind)
	definition, err := d.fetchDefinition(ctx, kind, cached)
	switch {
	case apierrors.IsForbidden(err):
		definition = &knownDefinition{reason: err.Error()}
	case err != nil:
		return err
	}
	if cached != nil && cached.address == definition.address && cached.reason == definition.reason {
		cached.readTime = d.now()
		return nil
	}
	definition.readTime, d.isNew = d.now(), d.isNew || cached != nil
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cached[kind.Kind] = definition
	return nil
}

// fetchDefinition reads the definition of a kind from the API server. It returns the cached definition if the address
// of the document is the same.
func (d *definitions) fetchDefinition(ctx context.Context, kind *workload.Kind, cached *knownDefinition) (*knownDefinition, error) {
	paths, err := d.documents.PathsWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the OpenAPI documents of the API server: %w", err)
	}
	document, ok := paths["apis/"+kind.GroupVersion().String()]
	if !ok { // The document follows the API itself.
		return nil, fmt.Errorf("the API server has no OpenAPI document of %s yet", kind.GroupVersion())
	}
	address := document.ServerRelativeURL()
	if cached != nil && cached.address == address {
		return cached, nil
	}
	text, err := document.SchemaWithContext(ctx, runtime.ContentTypeJSON)
	if err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document of %s: %w", kind.GroupVersion(), err)
	}
	definition := &knownDefinition{address: address}
	if definition.definition, err = overlayset.ReadDefinition(text, kind.GroupVersionKind, kind.Template); err != nil {
		definition.reason = err.Error()
	}
	return definition, nil
}
