// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// RequestedInput is the requested input of a rendering. It excludes the version of the operator: if a new release
// renders the same input differently, pods must not restart.
type RequestedInput struct {
	// Digest is a digest of the requested input. It does not cover the workload's values.
	Digest string
	// Keys are the keys of the workload's values that the templates have read during the rendering.
	Keys []string
	// Inputs contains digests of the parts of the input by name. Messages use them to name the changed parts. They do
	// not affect whether a workload is written.
	Inputs Inputs
}

// annotationFor returns the value of the annotation input-hash for a workload. The value contains Keys, because the
// templates of a later release may read other keys.
func (a *RequestedInput) annotationFor(view *workload.View) string {
	if len(a.Keys) == 0 {
		return a.Digest
	}
	return a.Digest + "." + view.ValuesHash(a.Keys) + "." + strings.Join(a.Keys, ".")
}

// inputs returns all inputs of the rendering for a workload, including digests of the workload's values for Keys and
// for the keys in further.
func (a *RequestedInput) inputs(view *workload.View, further ...string) Inputs {
	keys := slices.Concat(a.Keys, further)
	if len(keys) == 0 {
		return a.Inputs
	}
	read := make(map[string]any, len(keys))
	for _, key := range keys {
		read[key] = view.ValuesHash([]string{key})
	}
	return a.Inputs.WithDigests(InputTarget, Digests(read))
}

// isRecordedIn reports whether a recorded value of the annotation input-hash is current for this input and this
// workload. Of the workload's values, it compares those with the keys that the recorded value lists.
func (a *RequestedInput) isRecordedIn(recorded string, view *workload.View) bool {
	digest, values, keys := parseInputHash(recorded)
	if recorded == "" || digest != a.Digest {
		return false
	}
	return values == "" || values == view.ValuesHash(keys)
}

// parseInputHash splits a value of the annotation input-hash into the digest of the input, the digest of the workload's
// values that the templates have read, and the keys of these values. The last two are empty if the templates have read
// no values of the workload.
func parseInputHash(recorded string) (digest, values string, keys []string) {
	digest, remainder, hasValues := strings.Cut(recorded, ".")
	if !hasValues {
		return digest, "", nil
	}
	values, names, _ := strings.Cut(remainder, ".")
	return digest, values, strings.Split(names, ".")
}
