// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/platform"
)

// askedFor is a digest of what people have a sidecar rendered from: every layer of
// values that is not built in, the environment's name, the platform's policy and its
// template set, the configuration that the values refer to, and the minor version of
// the API server. Workloads carry it, so that what counts, and how it is written down
// here, has to stay what it is from release to release.
func askedFor(s *Snapshot, set *platform.Set, name string, layers []environment.Layer, configDigest string) string {
	asked := struct {
		Environment, Policy, TemplateSet, Config, Kubernetes string
		Values                                               []map[string]any
	}{
		Environment: name, Policy: s.Platform.Policy.Given, Config: configDigest, Kubernetes: minorOf(s.KubeVersion),
		Values: []map[string]any{},
	}
	if set.Given != "" {
		asked.TemplateSet = set.Name + " " + set.Given
	}
	if given := set.Environments.Given(name); len(given) > 0 {
		asked.Values = append(asked.Values, given)
	}
	for i := range layers {
		if len(layers[i].Tree) > 0 {
			asked.Values = append(asked.Values, layers[i].Tree)
		}
	}
	text, _ := json.Marshal(asked) // Texts and JSON values always marshal, and in one order.
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// minorOf cuts a version after the minor one: v1.36.0 is v1.36.
func minorOf(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}
