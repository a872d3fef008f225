// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Asked is what a rendering was asked for with. Nothing of it comes from the program:
// another release renders the same request differently, and that alone is no reason to
// start new pods.
type Asked struct {
	// Digest covers all but the workload.
	Digest string
	// Keys are those of the workload's values that the templates read.
	Keys []string
	// Inputs are the same as Digest by name, by which a later write says what has
	// changed. They take no part in whether it is made.
	Inputs Inputs
}

// of is the annotation asked-hash for a workload. It names the keys: the templates of
// another release may read others.
func (a *Asked) of(view *workload.View) string {
	if len(a.Keys) == 0 {
		return a.Digest
	}
	return a.Digest + "." + view.ValuesHash(a.Keys) + "." + strings.Join(a.Keys, ".")
}

// inputs are all that a rendering for a workload was made of, with further keys of the
// workload's values.
func (a *Asked) inputs(view *workload.View, further ...string) Inputs {
	keys := slices.Concat(a.Keys, further)
	if len(keys) == 0 {
		return a.Inputs
	}
	read := make(map[string]any, len(keys))
	for _, key := range keys {
		read[key] = view.ValuesHash([]string{key})
	}
	return a.Inputs.With(PartTarget, Digests(read))
}

// isIn reports whether a workload's annotation says the same of it as would be noted
// now: of the workload's values, those count that were read when it was written.
func (a *Asked) isIn(recorded string, view *workload.View) bool {
	digest, values, keys := readAsked(recorded)
	if recorded == "" || digest != a.Digest {
		return false
	}
	return values == "" || values == view.ValuesHash(keys)
}

// readAsked takes a workload's annotation apart: the digest, and that of the values of
// the workload that were read, with their keys.
func readAsked(recorded string) (digest, values string, keys []string) {
	digest, of, hasValues := strings.Cut(recorded, ".")
	if !hasValues {
		return digest, "", nil
	}
	values, names, _ := strings.Cut(of, ".")
	return digest, values, strings.Split(names, ".")
}
