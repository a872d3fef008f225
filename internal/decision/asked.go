// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/catalog"
)

// asked is what people have a sidecar rendered from: every layer of values that is not
// built in, the environment's name, the platform's policy and its template set, what
// the sidecar is given of the configuration that the values refer to, and the minor
// version of the API server. Workloads carry a digest of it, so that what counts, and
// how it is written down here, has to stay what it is from release to release.
type asked struct {
	Environment, Policy, TemplateSet, Config, Kubernetes string
	Values                                               []map[string]any

	// by is the same by name; the digest does not cover it.
	by inputs
}

// askedFor is all of it that is known before anything is rendered: all but Config.
func askedFor(s *Snapshot, set *catalog.Set, name string, layers layers) asked {
	found := asked{
		Environment: name, Policy: s.Platform.Policy.Given, Kubernetes: minorOf(s.KubeVersion),
		Values: []map[string]any{}, by: inputs{set: set, policy: s.Platform.Policy, layers: layers, version: s.Version},
	}
	if set.Given != "" {
		found.TemplateSet = set.Name + " " + set.Given
	}
	if given := set.Environments.Given(name); len(given) > 0 {
		found.Values = append(found.Values, given)
	}
	for _, layer := range layers.all() {
		if len(layer.Tree) > 0 {
			found.Values = append(found.Values, layer.Tree)
		}
	}
	return found
}

// digest is the digest of it with what is copied of a referenced ConfigMap, nil for
// nothing: what the sidecar does not need of that ConfigMap does not count.
func (a asked) digest(given *copied) string {
	if given != nil {
		a.Config = given.digest
	}
	text, _ := json.Marshal(a) // Texts and JSON values always marshal, and in one order.
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// minorOf cuts a version after the minor one: v1.36.0 is v1.36.
func minorOf(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}
