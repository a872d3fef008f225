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

// layers are the layers of values, by owner, except for the environment's.
type layers struct{ namespace, sidecar, workload []environment.Layer }

// list returns the layers in their order.
func (l *layers) list() []environment.Layer {
	return slices.Concat(l.namespace, l.sidecar, l.workload)
}

// mergedValues are the values from which a sidecar is rendered. They must not be changed.
type mergedValues struct {
	environment.Values

	// layers are all layers except the environment's.
	layers layers
	// digest is the digest of the values tree.
	digest []byte
	// environments is the set of environments of the values.
	environments *environment.Set
}

// isSetByOthers reports whether the namespace or a workload sets a value, and not the author of the
// VectorSidecar.
func (m *mergedValues) isSetByOthers(path ...string) bool {
	origin := m.Origin(path...)
	return slices.ContainsFunc(slices.Concat(m.layers.namespace, m.layers.workload), func(layer environment.Layer) bool {
		_, isSet := tree.Value(layer.Tree, path...)
		return isSet && layer.Position(path...) == origin
	})
}

// largestShared is the size in bytes up to which the values of a spec are cached. Values of larger
// specs would use most of the cache.
const largestShared = 64 << 10

// digestValues returns a digest of values. They are JSON, which always marshals with sorted keys.
func digestValues(values environment.Values) []byte {
	text, _ := json.Marshal(values.Tree)
	sum := sha256.Sum256(text)
	return sum[:]
}
