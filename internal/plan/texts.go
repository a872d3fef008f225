// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// mostTexts bounds what is remembered. One is a kilobyte at most.
const mostTexts = 64

// Texts remembers what was said of a workload, for others that carry the same and get
// the same: nearly all of a VectorSidecar's. It changes no plan. A nil one remembers
// nothing.
type Texts struct{ known map[string]string }

// of returns the text of a key, which is all that the text is made of.
func (t *Texts) of(key string, write func() string) string {
	if t == nil {
		return write()
	}
	text, isKnown := t.known[key]
	if isKnown {
		return text
	}
	if t.known == nil || len(t.known) >= mostTexts {
		t.known = map[string]string{} // What it had is written anew when needed.
	}
	text = write()
	t.known[key] = text
	return text
}
