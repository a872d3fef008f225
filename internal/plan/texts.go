// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// mostTexts limits the size of the cache. A text has at most a kilobyte.
const mostTexts = 64

// Texts caches texts for workloads with the same current and desired state, which are nearly all workloads of a
// VectorSidecar. The cache does not change plans. A nil Texts caches nothing.
type Texts struct{ cached map[string]string }

// get returns the text for a key. The key must include all inputs of the text.
func (t *Texts) get(key string, write func() string) string {
	if t == nil {
		return write()
	}
	text, ok := t.cached[key]
	if ok {
		return text
	}
	if t.cached == nil || len(t.cached) >= mostTexts {
		t.cached = map[string]string{} // Later calls write the dropped texts again.
	}
	text = write()
	t.cached[key] = text
	return text
}
