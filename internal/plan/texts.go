// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// mostTexts limits the size of the cache. A text has at most a kilobyte.
const mostTexts = 64

// Texts caches texts for workloads with the same current and desired state, which are nearly all workloads of a
// VectorSidecar. The cache does not change plans. A nil Texts caches nothing.
type Texts struct{ known map[string]string }

// of returns the text for a key. The key must include all inputs of the text.
func (t *Texts) of(key string, write func() string) string {
	if t == nil {
		return write()
	}
	text, isKnown := t.known[key]
	if isKnown {
		return text
	}
	if t.known == nil || len(t.known) >= mostTexts {
		t.known = map[string]string{} // Later calls write the dropped texts again.
	}
	text = write()
	t.known[key] = text
	return text
}
