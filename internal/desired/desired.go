// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package desired renders the sidecars of one VectorSidecar for its workloads. It merges the layers of values,
// renders the templates, and checks the result against the policy and the rules for Vector configuration. A
// Catalog provides the templates, values and policy of the platform team, and a Cache keeps results. The
// package does not decide which objects to write, and does not read the clock. It reads ConfigMaps and ServiceAccounts
// only through interfaces.
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

// Common contains the results that are the same for all workloads of a VectorSidecar.
type Common struct {
	// Environment is the name of the environment that provides the values. EnvironmentFrom names the setting that
	// selects it. TemplateSet is the name of the template set.
	Environment, EnvironmentFrom, TemplateSet string
	// ReferencedConfigMap is the lookup key of the ConfigMap with the Vector configuration, or "" if the templates
	// render the configuration. It is also set if the ConfigMap does not exist.
	ReferencedConfigMap string
	// Invalid explains why the operator must not inject sidecars, or is nil if it may.
	Invalid *Invalid
	// Outdated explains why an earlier version of a template set, of the policy or of the rollout rules is used. It is
	// nil if the current versions are used.
	Outdated *Invalid
}

// Desired contains the desired sidecars of one VectorSidecar. New creates it.
type Desired struct {
	Common

	sources  sources
	cache    *Cache
	set      *TemplateSet
	variants map[string]*Variant
	// overrideBytes is the total size of the overrides for which variants are cached. The keys of variants are the
	// texts of these overrides.
	overrideBytes int
}

// New returns the desired sidecars of a VectorSidecar. It renders a sidecar only when its variant is requested. The
// cache may be nil. If the reader reports an error later, callers must not use the result.
func New(inputs *Inputs, reader *Reader, cache *Cache) *Desired {
	d := &Desired{
		sources: sources{Inputs: inputs, reader: reader, read: map[string]*corev1.ConfigMap{}},
		cache:   cache, variants: map[string]*Variant{},
	}
	d.Environment, d.EnvironmentFrom = inputs.ResolveEnvironment(inputs.Sidecar, inputs.NamespaceLabels)
	set, invalid := inputs.templateSet(d.Environment)
	if set != nil {
		d.TemplateSet = set.Name
	}
	if d.Invalid = invalid; invalid != nil {
		return d
	}
	d.set, d.Outdated = set, inputs.findOutdated(set)
	d.Invalid = d.variant("").Invalid
	return d
}

// MergeValues returns the merged values for the sidecar of a VectorSidecar, without values from annotations of
// workloads. If the values cannot be merged, it returns the reason as Invalid. The error is the context's error.
func MergeValues(ctx context.Context, inputs *Inputs) (environment.Values, *Invalid, error) {
	reader := NewReader(ctx, inputs)
	defer reader.Release()
	name, _ := inputs.ResolveEnvironment(inputs.Sidecar, inputs.NamespaceLabels)
	set, invalid := inputs.templateSet(name)
	if invalid != nil {
		return environment.Values{}, invalid, nil
	}
	valueSources := sources{Inputs: inputs, reader: reader, read: map[string]*corev1.ConfigMap{}}
	values, invalid := valueSources.values(nil, set, name)
	if err := reader.Err(); err != nil {
		return environment.Values{}, nil, err
	}
	return values.Values, invalid, nil
}

// Read returns the ConfigMaps that the renderings so far depend on, by their lookup keys.
func (d *Desired) Read() map[string]*corev1.ConfigMap { return d.sources.read }

// Variant returns the variant for a workload: the common variant, or a separate one if the workload's annotations
// override values. It returns nil if the template set is invalid.
func (d *Desired) Variant(record *workloadcache.Record) *Variant {
	if !record.HasOverrides() {
		return d.variants[""]
	}
	view := record.View()
	// A map of strings always marshals, with sorted keys.
	key, _ := json.Marshal(view.Overrides)
	if cached := d.variants[string(key)]; cached != nil {
		return cached
	}
	layers, err := d.sources.workloadLayers(&view)
	if err != nil {
		variant := &Variant{Source: &Source{}, Invalid: &Invalid{meta.ReasonInvalidValues, err.Error()}}
		return d.cacheVariant(string(key), variant)
	}
	return d.variant(string(key), layers...)
}

// CommonVariant returns the variant for workloads without overrides, or nil if the template set is invalid.
func (d *Desired) CommonVariant() *Variant { return d.variants[""] }

// CheckAlone checks the user's configuration before any workload runs it. It returns the reason why the configuration
// must not reach a pod, or nil if it may.
func (d *Desired) CheckAlone(ctx context.Context) (*vectorconfig.Report, *Invalid) {
	return d.variants[""].renderer.checkAlone(ctx)
}

// maxOverrideBytes is the maximum total size of the overrides with a cached variant, in bytes. Without this limit, the
// merged values of each workload would stay in memory if all workloads had large overrides.
const maxOverrideBytes = 256 << 10

// cacheVariant caches a variant under a key. If the cached overrides become too large, it drops all variants except the
// common one. Dropped variants are created again when they are requested.
func (d *Desired) cacheVariant(key string, variant *Variant) *Variant {
	variant.setBasis()
	if d.overrideBytes += len(key); d.overrideBytes > maxOverrideBytes {
		maps.DeleteFunc(d.variants, func(key string, _ *Variant) bool { return key != "" })
		d.overrideBytes = len(key)
	}
	d.variants[key] = variant
	return variant
}

// variant creates the variant for the overrides of a workload, and caches it under a key.
func (d *Desired) variant(key string, overrides ...environment.Layer) *Variant {
	variant := &Variant{Source: &Source{IsCommon: key == ""}}
	values, invalid := d.sources.values(d.cache, d.set, d.Environment, overrides...)
	if variant.Invalid = invalid; invalid != nil {
		return d.cacheVariant(key, variant)
	}
	variant.Container = tree.Text(values.Tree, "sidecar", "name")
	referenced, invalid := referencedConfig(&d.sources, &values)
	if key == "" {
		d.ReferencedConfigMap = referenced.lookupKey
	}
	if variant.Invalid = invalid; invalid != nil {
		return d.cacheVariant(key, variant)
	}
	variant.Source.ConfigMap, variant.Source.ChecksOff = referenced.object, checkMode(values.Values) == v1alpha1.CheckOff
	sidecar := d.sources.Sidecar
	variant.renderer = newRenderer(d.cache, render.Request{
		Chart: d.set.Chart, Values: values.Values, KubeVersion: d.sources.KubeVersion, Cluster: d.sources.cluster(),
		Sidecar: types.NamespacedName{Namespace: sidecar.Namespace, Name: sidecar.Name},
	}, values.digest, referenced, d.sources.Inputs, newRequestedInputs(d.sources.Inputs, d.set, d.Environment, values.layers))
	return d.cacheVariant(key, variant)
}
