// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// mostTexts bounds the cache. A text is at most a kilobyte.
const mostTexts = 64

// Texts caches texts for workloads that carry the same and get the same, which are
// nearly all of a VectorSidecar's. It changes no plan. A nil Texts caches nothing.
type Texts struct{ known map[string]string }

// of returns the text for a key, which has to include all that the text depends on.
func (t *Texts) of(key string, write func() string) string {
	if t == nil {
		return write()
	}
	text, isKnown := t.known[key]
	if isKnown {
		return text
	}
	if t.known == nil || len(t.known) >= mostTexts {
		t.known = map[string]string{} // Texts that are needed again are written again.
	}
	text = write()
	t.known[key] = text
	return text
}
