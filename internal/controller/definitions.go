// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

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

// definitionAge is how old what is known of a definition may be: whoever brings a kind may bring
// another release of it.
const definitionAge = time.Minute

// definitions know which fields the definitions have of kinds that are not Kubernetes' own. A nil one
// knows none, and has nothing against any.
type definitions struct {
	documents openapi.ClientWithContext
	// isServed reports whether the API server serves a kind.
	isServed func(*workload.Kind) bool
	now      func() time.Time

	// reading is held while the API server is asked, and mu for a moment: no decision waits for an answer.
	reading sync.Mutex
	// isNew is true once a definition has taken the place of another one, until that is told.
	isNew bool

	mu    sync.Mutex
	known map[string]*knownDefinition
}

// knownDefinition is what was read of a kind.
type knownDefinition struct {
	// address is where it was read, which has a digest of it.
	address string
	// at is when it was read last, as far as who reads is concerned.
	at time.Time
	is *overlayset.Definition
	// why is why it cannot be read, "" if it can.
	why string
}

// objection says why the API server must not put a sidecar into the pods of a kind, "" if it may: it
// would drop what the definition does not have.
func (d *definitions) objection(ctx context.Context, kind *workload.Kind, pod map[string]any) (string, error) {
	if err := d.learn(ctx, kind); err != nil {
		return "", err
	}
	return d.undefined(kind, pod), nil
}

// undefined is objection by what is known of the definition, "" if nothing is.
func (d *definitions) undefined(kind *workload.Kind, pod map[string]any) string {
	if d == nil || !kind.Traits.OptionalAPI {
		return ""
	}
	if !d.isServed(kind) {
		return "the API server does not serve " + kind.Plural
	}
	cached := d.of(kind)
	switch {
	case cached == nil:
		return ""
	case cached.why != "":
		return cached.why
	}
	if field := cached.is.Unknown(pod); field != "" {
		return fmt.Sprintf("the definition of %s, perhaps of an earlier version, does not have %s", kind.Plural, field)
	}
	return ""
}

func (d *definitions) of(kind *workload.Kind) *knownDefinition {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known[kind.Kind]
}

// learn reads the definition of a kind, unless that was done just now.
func (d *definitions) learn(ctx context.Context, kind *workload.Kind) error {
	if d == nil || !kind.Traits.OptionalAPI || !d.isServed(kind) {
		return nil
	}
	d.reading.Lock()
	defer d.reading.Unlock()
	if cached := d.of(kind); cached != nil && d.now().Sub(cached.at).Abs() < definitionAge {
		return nil
	}
	return d.read(ctx, kind)
}

// haveChanged reads again what was asked for, and reports whether a definition has become another one since the last
// call, also if a pass has read that meanwhile: whoever replaces one causes no event.
func (d *definitions) haveChanged(ctx context.Context) (isNew bool) {
	d.reading.Lock()
	defer d.reading.Unlock()
	for _, name := range slices.Sorted(maps.Keys(d.known)) {
		if kind := workload.KindByName(name); d.isServed(kind) {
			_ = d.read(ctx, kind) // What is known holds.
		}
	}
	isNew, d.isNew = d.isNew, false
	return isNew
}

// read reads the definition of a kind, and keeps the one that is known if it is still the same.
func (d *definitions) read(ctx context.Context, kind *workload.Kind) error {
	cached := d.of(kind)
	definition, err := d.fetch(ctx, kind, cached)
	switch {
	case apierrors.IsForbidden(err):
		definition = &knownDefinition{why: err.Error()}
	case err != nil:
		return err
	}
	if cached != nil && cached.address == definition.address && cached.why == definition.why {
		cached.at = d.now()
		return nil
	}
	definition.at, d.isNew = d.now(), d.isNew || cached != nil
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known[kind.Kind] = definition
	return nil
}

// fetch reads the definition of a kind from the API server, if it is not the one that is known.
func (d *definitions) fetch(ctx context.Context, kind *workload.Kind, cached *knownDefinition) (*knownDefinition, error) {
	paths, err := d.documents.PathsWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the OpenAPI documents of the API server: %w", err)
	}
	document, ok := paths["apis/"+kind.GroupVersion().String()]
	if !ok { // It follows the API itself.
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
	if definition.is, err = overlayset.ReadDefinition(text, kind.GroupVersionKind, kind.Template); err != nil {
		definition.why = err.Error()
	}
	return definition, nil
}
