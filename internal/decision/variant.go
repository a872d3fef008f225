// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"crypto/sha256"
	"encoding/json"
	"maps"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// variant is what workloads of one VectorSidecar share that are given the same
// values: nearly always all of them.
type variant struct {
	batch  *batch
	config config
	// container is the name of the sidecar's, "" if the values are at fault.
	container string
	elders    []*elder
	// basis is a digest of all that a workload is judged by beside itself.
	basis string
	// checksOff keeps quiet about the Vector configuration.
	checksOff bool
	// invalid says why there is nothing to inject.
	invalid *Invalid
}

// variantOf returns the variant of a workload: the common one, unless its
// annotations override values.
func (d *injection) variantOf(record *workloadcache.Record) *variant {
	if !record.HasOverrides() {
		return d.variants[""]
	}
	view := record.View()
	// A map of texts always marshals, and in the order of its keys.
	key, _ := json.Marshal(view.Overrides)
	if known := d.variants[string(key)]; known != nil {
		return known
	}
	layers, err := d.snapshot.workloadLayers(&view)
	if err != nil {
		made := &variant{invalid: &Invalid{meta.ReasonInvalidValues, err.Error()}}
		made.basis = d.basisOf(made)
		d.keepVariant(string(key), made)
		return made
	}
	return d.variant(string(key), layers...)
}

// variant makes a variant and remembers it under a key.
func (d *injection) variant(key string, overrides ...environment.Layer) *variant {
	made := d.newVariant(key, overrides)
	made.basis = d.basisOf(made)
	d.keepVariant(key, made)
	return made
}

// mostVariants is how many bytes the overrides have of which variants are kept: where
// every workload has large ones of its own, keeping them all would hold all their trees.
const mostVariants = 256 << 10

// keepVariant remembers a variant, in place of all but the common one if they are too
// large: they are made anew when needed.
func (d *injection) keepVariant(key string, made *variant) {
	if d.overrides += len(key); d.overrides > mostVariants {
		maps.DeleteFunc(d.variants, func(key string, _ *variant) bool { return key != "" })
		d.overrides = len(key)
	}
	d.variants[key] = made
}

// basisOf is a digest of all that a workload is judged by beside itself.
func (d *injection) basisOf(of *variant) string {
	if d.memo == nil {
		return ""
	}
	spec := &d.snapshot.Sidecar.Spec
	parts := []any{spec.StrictOrder, spec.DriftPolicy, d.snapshot.NamespaceLabels, of.invalid}
	if of.batch != nil {
		parts = append(parts, of.batch.common)
	}
	for _, name := range d.snapshot.companionNames() { // A sidecar is kept while they are there.
		parts = append(parts, name)
	}
	for _, elder := range of.elders {
		parts = append(parts, elder.name, elder.selector.String(), elder.common.container, elder.common.basis)
	}
	text, _ := json.Marshal(parts) // Texts, flags and maps of texts always marshal, and in one order.
	sum := sha256.Sum256(text)
	return string(sum[:])
}

func (d *injection) newVariant(key string, overrides []environment.Layer) *variant {
	made := &variant{}
	d.references = append(d.references, meta.NamespaceDefaults)
	values, layers, invalid := d.snapshot.values(d.set, d.Environment, overrides...)
	if made.invalid = invalid; invalid != nil {
		return made
	}
	made.container = value(values, "sidecar", "name")
	made.config, made.invalid = referencedConfig(d.snapshot, values)
	if name := made.config.name; name != "" && key == "" {
		d.ReferencedConfigMap = name
	} else if name != "" {
		d.references = append(d.references, name)
	}
	if made.invalid != nil {
		return made
	}
	sidecar := d.snapshot.Sidecar
	made.elders = d.elders()
	made.checksOff = checkOf(values) == v1alpha1.CheckOff
	made.batch = d.memo.batch(render.Request{
		Chart: d.set.Chart, Values: values, KubeVersion: d.snapshot.KubeVersion,
		Sidecar: types.NamespacedName{Namespace: sidecar.Namespace, Name: sidecar.Name},
	}, made.config, d.snapshot, askedFor(d.snapshot, d.set, d.Environment, layers))
	return made
}
