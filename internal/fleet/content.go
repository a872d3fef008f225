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

// Content is the content of one revision of an installation: templates, values and policy. It excludes settings that
// only limit the pace of rollouts.
type Content struct {
	// Values are the installation's values, by file ENVIRONMENT.yaml, and its policy.
	Values Files
	// Sets are the template sets by name.
	Sets map[string]Files
	// Roll names the last change of the built-in templates that an upgrade rolls out to workloads, or is "" for none.
	Roll string

	// BuiltIn are the built-in templates by path, as of the last publication of the revision. They are empty before
	// the revision is stored. Revision does not include them, so an upgrade of only the operator does not create a
	// revision.
	BuiltIn Files
	// Samples are digests, by template set, of a sample sidecar as it was rendered when the revision was published.
	// They are nil before the revision is stored.
	Samples map[string]string
}

// Files are the files of a ConfigMap.
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

// digestLength is the number of bytes of a digest of Files. revisionLength is the number of bytes of a revision.
const (
	digestLength   = 8
	revisionLength = 5
)

// textDigest returns a digest of the content of Files.
func (f Files) textDigest() string {
	text, _ := json.Marshal(f) // Maps of strings and bytes always marshal, with sorted keys.
	return meta.Digest(text, digestLength)
}

// checksumLength is the number of bytes of a checksum.
const checksumLength = 8

// Checksum returns the digest of a template set in the installation's values. The installation chart computes the same
// digest (vector-sidecar-operator.templateSets), so both must be changed together.
func (f Files) Checksum() string {
	texts := f.Text()
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		lines.WriteString(meta.Digest([]byte(texts[name]), sha256.Size) + "  " + name + "\n")
	}
	return meta.Digest([]byte(lines.String()), checksumLength)
}

// IsEmpty reports whether the ConfigMap is empty.
func (f Files) IsEmpty() bool { return len(f.Data)+len(f.BinaryData) == 0 }

// Equals reports whether two Files have the same names and content.
func (f Files) Equals(other Files) bool {
	return maps.Equal(f.Data, other.Data) && maps.EqualFunc(f.BinaryData, other.BinaryData, bytes.Equal)
}

// Revision returns the name of the revision with this content: a digest in hexadecimal.
func (c *Content) Revision() string { return c.contentDigests().revision() }

// contentDigests identifies the parts of a Content by their digests.
type contentDigests struct {
	Values string            `json:"values"`
	Sets   map[string]string `json:"sets,omitempty"`
	Roll   string            `json:"roll,omitempty"`
}

// contentDigests returns the digests of all parts of the content.
func (c *Content) contentDigests() *contentDigests {
	digests := &contentDigests{Values: c.Values.textDigest(), Roll: c.Roll}
	for name, files := range c.Sets {
		if digests.Sets == nil {
			digests.Sets = map[string]string{}
		}
		digests.Sets[name] = files.textDigest()
	}
	return digests
}

// revision returns the name of the revision with these digests.
func (p *contentDigests) revision() string {
	text, _ := json.Marshal(p) // Maps of strings always marshal, with sorted keys.
	return meta.Digest(text, revisionLength)
}

// digests returns the digests of all parts, without duplicates.
func (p *contentDigests) digests() []string {
	digests := append(slices.Collect(maps.Values(p.Sets)), p.Values)
	slices.Sort(digests)
	return slices.Compact(digests)
}
