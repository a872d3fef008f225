// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"crypto/sha256"
	"encoding/json"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// layers are the layers of values by the object that sets them, without the layer of the environment.
type layers struct{ namespace, sidecar, workload []environment.Layer }

// list returns the layers in the order in which they are merged.
func (l *layers) list() []environment.Layer {
	return slices.Concat(l.namespace, l.sidecar, l.workload)
}

// mergedValues are the merged values for a sidecar. They must not be changed.
type mergedValues struct {
	environment.Values

	// layers are all merged layers except the layer of the environment.
	layers layers
	// digest is the digest of the merged values.
	digest []byte
	// environments is the set of environments that the values are merged from.
	environments *environment.Set
}

// isSetByOthers reports whether a value is set by the namespace or a workload, and not by the VectorSidecar.
func (m *mergedValues) isSetByOthers(path ...string) bool {
	origin := m.Origin(path...)
	return slices.ContainsFunc(slices.Concat(m.layers.namespace, m.layers.workload), func(layer environment.Layer) bool {
		_, isSet := tree.Value(layer.Tree, path...)
		return isSet && layer.Position(path...) == origin
	})
}

// maxSharedSpecBytes is the maximum size in bytes of a spec with merged values that are cached. Larger specs would use most
// of the cache.
const maxSharedSpecBytes = 64 << 10

// digestValues returns a digest of merged values.
func digestValues(values environment.Values) []byte {
	text, _ := json.Marshal(values.Tree)
	sum := sha256.Sum256(text)
	return sum[:]
}
