// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Content is what an installation gives out to its VectorSidecars as one revision. What
// only paces rollouts is not part of it.
type Content struct {
	// Values are the installation's, by file ENVIRONMENT.yaml, and its policy.
	Values Files
	// Sets are the template sets by name.
	Sets map[string]Files
	// Roll names the last change of the operator's own templates that is to reach workloads
	// with an upgrade, "" if there never was one.
	Roll string

	// BuiltIn are the operator's own templates, by path, as they are stored with the revision: those
	// that it was given out with last, empty before it is stored. They do not
	// name the revision: an upgrade of the operator alone makes none.
	BuiltIn Files
	// Samples are digests of what each set rendered then for a sample, nil before it is stored.
	Samples map[string]string
}

// Files are those of a ConfigMap.
type Files struct {
	Data       map[string]string `json:"data,omitempty"`
	BinaryData map[string][]byte `json:"binaryData,omitempty"`
}

// Text returns the content of all files by name.
func (f Files) Text() map[string]string {
	texts := maps.Clone(f.Data)
	if texts == nil {
		texts = map[string]string{}
	}
	for name, data := range f.BinaryData {
		texts[name] = string(data)
	}
	return texts
}

// digestLength is that of the digest of Files in bytes, revisionLength that of a revision.
const (
	digestLength   = 8
	revisionLength = 5
)

// digest names Files by their content.
func (f Files) digest() string {
	text, _ := json.Marshal(f) // Maps of strings and bytes always marshal, with sorted keys.
	return meta.Digest(text, digestLength)
}

// checksumLength is that of a checksum in bytes.
const checksumLength = 8

// Checksum returns the digest by which the installation's values list a template set. The installation chart computes
// the same (vector-sidecar-operator.templateSets): both change together.
func (f Files) Checksum() string {
	texts := f.Text()
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		lines.WriteString(meta.Digest([]byte(texts[name]), sha256.Size) + "  " + name + "\n")
	}
	return meta.Digest([]byte(lines.String()), checksumLength)
}

// IsEmpty reports whether there are none.
func (f Files) IsEmpty() bool { return len(f.Data)+len(f.BinaryData) == 0 }

// Equals reports whether others have the same names and content.
func (f Files) Equals(other Files) bool {
	return maps.Equal(f.Data, other.Data) && maps.EqualFunc(f.BinaryData, other.BinaryData, bytes.Equal)
}

// Revision returns the name of the content: a digest in hexadecimal.
func (c *Content) Revision() string { return c.parts().revision() }

// parts names the parts of a Content by their digests.
type parts struct {
	Values string            `json:"values"`
	Sets   map[string]string `json:"sets,omitempty"`
	Roll   string            `json:"roll,omitempty"`
}

func (c *Content) parts() *parts {
	digests := &parts{Values: c.Values.digest(), Roll: c.Roll}
	for name, files := range c.Sets {
		if digests.Sets == nil {
			digests.Sets = map[string]string{}
		}
		digests.Sets[name] = files.digest()
	}
	return digests
}

func (p *parts) revision() string {
	text, _ := json.Marshal(p) // As above.
	return meta.Digest(text, revisionLength)
}

// digests returns those of all parts, each once.
func (p *parts) digests() []string {
	digests := append(slices.Collect(maps.Values(p.Sets)), p.Values)
	slices.Sort(digests)
	return slices.Compact(digests)
}
