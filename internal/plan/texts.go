// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// maxCachedTexts is the maximum number of cached texts. A text has at most a kilobyte.
const maxCachedTexts = 64

// Texts caches the texts of plans for workloads with the same current and desired state, as nearly all workloads of a
// VectorSidecar have. The cache does not affect plans. A nil Texts does not cache anything.
type Texts struct{ cached map[string]string }

// get returns the cached text for a key. If none is cached, it calls write and caches the result. The key must contain
// all inputs of the text.
func (t *Texts) get(key string, write func() string) string {
	if t == nil {
		return write()
	}
	text, ok := t.cached[key]
	if ok {
		return text
	}
	if t.cached == nil || len(t.cached) >= maxCachedTexts {
		t.cached = map[string]string{} // Later calls write the dropped texts again.
	}
	text = write()
	t.cached[key] = text
	return text
}
