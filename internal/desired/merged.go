// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// merged are the values that a sidecar is rendered from. It must not be changed.
type merged struct {
	environment.Values

	// given are all layers but the environment's.
	given layers
	// digest is that of the tree.
	digest []byte
	// from is the environment that they are of.
	from *environment.Set
}

// largestShared is the largest part of a spec in bytes whose values are kept: those of larger ones would
// take most of the room.
const largestShared = 64 << 10

// values merges the layers of the environment, the namespace, the VectorSidecar and the
// overrides. Those of a ClusterVectorSidecar are merged once for all namespaces that have no defaults of their
// own, as long as spec and environment are the same.
func (s *sources) values(cache *Cache, set *TemplateSet, name string, overrides ...environment.Layer) (merged, *Invalid) {
	namespace, err := s.namespaceLayers()
	if err != nil {
		return merged{}, &Invalid{meta.ReasonInvalidValues, err.Error()}
	}
	text, err := specText(s.Sidecar)
	if err != nil {
		return merged{}, &Invalid{meta.ReasonInvalidValues, err.Error()}
	}
	isRead := s.reader.take(len(text)) // If not, what is made of this is not used.
	isShared := cache != nil && isRead && s.Sidecar.Cluster != nil && len(namespace)+len(overrides) == 0 && len(text) <= largestShared
	key := fmt.Appendf(nil, "%q %q %s", name, specOf(s.Sidecar), text)
	if isShared {
		if found := remembered(cache, cache.merged, key); found.from != nil && found.from == set.Environments {
			return found, nil
		}
	}
	own := environment.Layer{}
	if isRead {
		if own, err = layerOf(s.Sidecar, text); err != nil {
			return merged{}, &Invalid{meta.ReasonInvalidValues, err.Error()}
		}
	}
	made := merged{given: layers{namespace: namespace, sidecar: []environment.Layer{own}, workload: overrides}, from: set.Environments}
	made.Values, err = set.Environments.Values(name, made.given.all()...)
	var unknown *environment.UnknownError
	switch {
	case errors.As(err, &unknown):
		return made, &Invalid{meta.ReasonUnknownEnvironment, fmt.Sprintf("%s: %s", Describe(s.Sidecar), err)}
	case err != nil:
		return made, &Invalid{meta.ReasonInvalidValues, fmt.Sprintf("values for environment %q: %s", name, err)}
	}
	made.digest = digestOf(made.Values)
	if isShared {
		remember(cache, cache.merged, key, made, bounded.Footprint(made.Tree)+bounded.Footprint(own))
	}
	return made, nil
}

// digestOf returns a digest of values. They are JSON, which always marshals with sorted keys.
func digestOf(values environment.Values) []byte {
	text, _ := json.Marshal(values.Tree)
	sum := sha256.Sum256(text)
	return sum[:]
}
