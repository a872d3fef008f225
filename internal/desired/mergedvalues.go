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

// layers are the layers of values by the object that sets them. The layer of the environment is not included.
type layers struct{ namespace, sidecar, workload []environment.Layer }

// list returns the layers in the order of the merge.
func (l *layers) list() []environment.Layer {
	return slices.Concat(l.namespace, l.sidecar, l.workload)
}

// mergedValues are the values for a sidecar, merged from all layers. They must not be changed, because the cache shares
// them.
type mergedValues struct {
	environment.Values

	// layers are all merged layers except the layer of the environment.
	layers layers
	// digest is the digest of the merged values.
	digest []byte
	// environments is the set of environments that provided the layer of the environment.
	environments *environment.Set
}

// isSetByOthers reports whether the namespace or a workload sets the value at a path, and not the VectorSidecar.
func (m *mergedValues) isSetByOthers(path ...string) bool {
	origin := m.Origin(path...)
	return slices.ContainsFunc(slices.Concat(m.layers.namespace, m.layers.workload), func(layer environment.Layer) bool {
		_, isSet := tree.Value(layer.Tree, path...)
		return isSet && layer.Position(path...) == origin
	})
}

// maxSharedSpecBytes is the maximum size in bytes of a spec for which merged values are cached. The values of a larger
// spec would fill most of the cache.
const maxSharedSpecBytes = 64 << 10

// digestValues returns a digest of merged values.
func digestValues(values environment.Values) []byte {
	text, _ := json.Marshal(values.Tree)
	sum := sha256.Sum256(text)
	return sum[:]
}
