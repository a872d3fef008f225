// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Asked is the user's input to a rendering. It includes nothing of the program: another
// release renders the same input differently, and that alone must not restart pods.
type Asked struct {
	// Digest covers everything but the workload.
	Digest string
	// Keys are the keys of the workload's values that the templates read.
	Keys []string
	// Inputs is Digest by name, for saying later what has changed. It does not decide
	// whether to write.
	Inputs Inputs
}

// of returns the value of the annotation input-hash for a workload. It includes the
// keys, because templates of another release may read others.
func (a *Asked) of(view *workload.View) string {
	if len(a.Keys) == 0 {
		return a.Digest
	}
	return a.Digest + "." + view.ValuesHash(a.Keys) + "." + strings.Join(a.Keys, ".")
}

// inputs returns everything that a workload's rendering was made from, including
// further keys of the workload's values.
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

// isIn reports whether a workload's annotation matches what would be written now. Only
// the workload values that were read when it was written are compared.
func (a *Asked) isIn(recorded string, view *workload.View) bool {
	digest, values, keys := readAsked(recorded)
	if recorded == "" || digest != a.Digest {
		return false
	}
	return values == "" || values == view.ValuesHash(keys)
}

// readAsked splits a workload's annotation into the digest, the digest of the
// workload's values that were read, and their keys.
func readAsked(recorded string) (digest, values string, keys []string) {
	digest, of, hasValues := strings.Cut(recorded, ".")
	if !hasValues {
		return digest, "", nil
	}
	values, names, _ := strings.Cut(of, ".")
	return digest, values, strings.Split(names, ".")
}
