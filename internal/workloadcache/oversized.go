// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"cmp"
	"fmt"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// largestPart is the maximum size in bytes of the metadata and of the pod template in a record. Typical workloads have
// less than 3 KiB of both, but the API server accepts 1.5 MiB, and a tenant may create many such workloads.
const largestPart = 32 << 10

// dropOversizedMetadata removes the annotations from the record if the metadata is larger than largestPart, and also the
// labels if they alone are larger. The workload is then not changed.
func (r *Record) dropOversizedMetadata() {
	object := r.object
	labels := textBytes(object.Labels)
	if size := labels + textBytes(object.Annotations) + textBytes(object.Overrides) + len(object.OptOut); size > largestPart {
		object.Unread.Other = cmp.Or(object.Unread.Other, oversizedText("metadata", size, largestPart))
		object.Annotations, object.Overrides = nil, nil
		object.OptOut = strings.Clone(object.OptOut[:min(len(object.OptOut), maxOptOut)])
		if labels > largestPart {
			object.Labels, object.Unread.LacksLabels = nil, true
		}
	}
}

// dropOversizedTemplate removes the pod template from the record if it is larger than largestPart. The workload is then
// not changed, and its sidecar not removed. This also applies if fields of the operator's managers were too large.
func (r *Record) dropOversizedTemplate() {
	object := r.object
	if size := bounded.Footprint(*r.pod); size > largestPart {
		object.Unread.Template = cmp.Or(object.Unread.Template, oversizedText("spec.template", size, largestPart))
		r.pod = &workload.PodView{}
	}
	if excess := r.ownership.excess; excess > 0 {
		object.Unread.Template = cmp.Or(object.Unread.Template, oversizedText("metadata.managedFields", excess, largestOwnership))
	}
}

// maxOptOut is the maximum length of OptOut in a record with oversized metadata.
const maxOptOut = 64

// oversizedText describes a part of a workload that is too large. size and limit are in bytes.
func oversizedText(path string, size, limit int) string {
	return fmt.Sprintf("%s is too large: the operator reads %d KiB of it, and at most %d KiB are allowed", path, size>>10, limit>>10)
}

// textBytes returns the number of bytes of all keys and values.
func textBytes(texts map[string]string) (total int) {
	for key, value := range texts {
		total += len(key) + len(value)
	}
	return total
}
