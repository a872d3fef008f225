// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package desired computes what workloads should carry for one VectorSidecar: it merges
// the layers of values, renders, checks the result against the platform's policy,
// checks the Vector configuration, and caches all that in a Cache. A Catalog provides
// the platform team's part. What to do about the result is not its job. It uses no
// cluster and no clock.
package desired

import (
	"context"
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Common is the same for all workloads of a VectorSidecar.
type Common struct {
	// Environment is the one whose values are used, EnvironmentFrom what named it, and
	// TemplateSet the template set.
	Environment, EnvironmentFrom, TemplateSet string
	// ReferencedConfigMap is the name of the ConfigMap that the Vector configuration is
	// copied from, "" if it is rendered. It is set even if that ConfigMap does not
	// exist.
	ReferencedConfigMap string
	// Invalid says why nothing may be injected, nil if it may.
	Invalid *Invalid
	// Outdated says what is wrong with a template set or policy whose last good version
	// is used; nil if nothing is.
	Outdated *Invalid
}

// Desired is what workloads should carry for one VectorSidecar. Make one with For.
type Desired struct {
	Common

	sources  sources
	cache    *Cache
	set      *TemplateSet
	variants map[string]*Variant
	// overrides is the size of the variants' keys in bytes.
	overrides int
}

// For returns what workloads should carry for the VectorSidecar of the inputs; nothing
// is rendered until it is needed. cache may be nil. If the reader has an error
// afterwards, the result must not be used.
func For(inputs *Inputs, reader *Reader, cache *Cache) *Desired {
	d := &Desired{
		sources: sources{Inputs: inputs, reader: reader, read: map[string]*corev1.ConfigMap{}},
		cache:   cache, variants: map[string]*Variant{},
	}
	d.Environment, d.EnvironmentFrom = inputs.EnvironmentOf()
	set, invalid := inputs.templateSet(d.Environment)
	if set != nil {
		d.TemplateSet = set.Name
	}
	if d.Invalid = invalid; invalid != nil {
		return d
	}
	d.set, d.Outdated = set, inputs.outdated(set)
	d.Invalid = d.variant("").Invalid
	return d
}

// ValuesOf returns the values that a VectorSidecar's sidecar is rendered from, without
// overrides by workloads, or why there are none. The error is the context's.
func ValuesOf(ctx context.Context, inputs *Inputs) (environment.Values, *Invalid, error) {
	reader := NewReader(ctx, inputs)
	defer reader.Release()
	name, _ := inputs.EnvironmentOf()
	set, invalid := inputs.templateSet(name)
	if invalid != nil {
		return environment.Values{}, invalid, nil
	}
	from := sources{Inputs: inputs, reader: reader, read: map[string]*corev1.ConfigMap{}}
	found, invalid := from.values(nil, set, name)
	if err := reader.Err(); err != nil {
		return environment.Values{}, nil, err
	}
	return found.Values, invalid, nil
}

// Read returns the ConfigMaps whose content was used so far, by name.
func (d *Desired) Read() map[string]*corev1.ConfigMap { return d.sources.read }

// Variant returns the variant of a workload: the common one, unless its annotations
// override values. It is nil if the template set is invalid.
func (d *Desired) Variant(record *workloadcache.Record) *Variant {
	if !record.HasOverrides() {
		return d.variants[""]
	}
	view := record.View()
	// A map of strings always marshals, with sorted keys.
	key, _ := json.Marshal(view.Overrides)
	if known := d.variants[string(key)]; known != nil {
		return known
	}
	layers, err := d.sources.workloadLayers(&view)
	if err != nil {
		made := &Variant{Source: &Source{}, Invalid: &Invalid{meta.ReasonInvalidValues, err.Error()}}
		return d.keep(string(key), made)
	}
	return d.variant(string(key), layers...)
}

// CommonVariant returns the variant of workloads without overrides, nil if the template
// set is invalid.
func (d *Desired) CommonVariant() *Variant { return d.variants[""] }

// CheckAlone checks the user's configuration while no workload runs it. It says why it
// must not reach a pod, nil if it may.
func (d *Desired) CheckAlone(ctx context.Context) (*vectorconfig.Report, *Invalid) {
	return d.variants[""].renderer.checkAlone(ctx)
}

// mostVariants bounds the overrides in bytes whose variants are kept: if every workload
// has large ones of its own, keeping all would hold all their trees.
const mostVariants = 256 << 10

// keep caches a variant. If they get too large, all but the common one are dropped, and
// made again when needed.
func (d *Desired) keep(key string, made *Variant) *Variant {
	made.setBasis()
	if d.overrides += len(key); d.overrides > mostVariants {
		maps.DeleteFunc(d.variants, func(key string, _ *Variant) bool { return key != "" })
		d.overrides = len(key)
	}
	d.variants[key] = made
	return made
}

// variant makes a variant and caches it under a key.
func (d *Desired) variant(key string, overrides ...environment.Layer) *Variant {
	made := &Variant{Source: &Source{IsCommon: key == ""}}
	values, invalid := d.sources.values(d.cache, d.set, d.Environment, overrides...)
	if made.Invalid = invalid; invalid != nil {
		return d.keep(key, made)
	}
	made.Container = tree.Text(values.Tree, "sidecar", "name")
	referenced, invalid := referencedConfig(&d.sources, &values)
	if key == "" {
		d.ReferencedConfigMap = referenced.at
	}
	if made.Invalid = invalid; invalid != nil {
		return d.keep(key, made)
	}
	made.Source.ConfigMap, made.Source.ChecksOff = referenced.object, checkOf(values.Values) == v1alpha1.CheckOff
	sidecar := d.sources.Sidecar
	made.renderer = newRenderer(d.cache, render.Request{
		Chart: d.set.Chart, Values: values.Values, KubeVersion: d.sources.KubeVersion, Cluster: d.sources.cluster(),
		Sidecar: types.NamespacedName{Namespace: sidecar.Namespace, Name: sidecar.Name},
	}, values.digest, referenced, d.sources.Inputs, askedFor(d.sources.Inputs, d.set, d.Environment, values.given))
	return d.keep(key, made)
}
