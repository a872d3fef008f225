// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"io"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// field is a field of a workload that a field manager of the operator owns. It lists the other owners.
type field struct {
	Path        string   `json:"path"`
	OtherOwners []string `json:"others,omitempty"`
}

// ownedFields returns the fields of a workload that a field manager owns.
func ownedFields(object workload.Object, manager string) []field {
	ownSet := fieldpath.NewSet()
	otherSets := map[string]*fieldpath.Set{}
	entries := object.GetManagedFields()
	for i := range entries {
		entry := &entries[i]
		set := fieldSet(entry)
		switch {
		case set == nil:
		case entry.Manager == manager:
			ownSet = ownSet.Union(set)
		default:
			name := entry.Manager
			if existing := otherSets[name]; existing != nil {
				set = set.Union(existing)
			}
			otherSets[name] = set
		}
	}
	var fields []field
	ownSet.Leaves().Iterate(func(path fieldpath.Path) {
		ownedField := field{Path: path.String()}
		for name, set := range otherSets {
			if set.Has(path) {
				ownedField.OtherOwners = append(ownedField.OtherOwners, name)
			}
		}
		slices.Sort(ownedField.OtherOwners)
		fields = append(fields, ownedField)
	})
	return fields
}

// fieldSet returns the fields of a managedFields entry, nil for one of a subresource.
func fieldSet(entry *metav1.ManagedFieldsEntry) *fieldpath.Set {
	if entry.Subresource != "" || entry.FieldsV1 == nil {
		return nil
	}
	set := fieldpath.NewSet()
	if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
		return nil // The API server wrote the entry; an unreadable entry owns nothing.
	}
	return set
}

// summarizeFields returns a text with the number of fields and with their other owners.
func summarizeFields(fields []field) string {
	if len(fields) == 0 {
		return ""
	}
	shared := slices.ContainsFunc(fields, func(f field) bool { return len(f.OtherOwners) > 0 })
	if !shared {
		return countNoun(len(fields), "field") + ", not shared with other field managers"
	}
	return countNoun(len(fields), "field") + ", some shared with other field managers:"
}

// printFields prints shared fields, or all of them.
func printFields(w io.Writer, fields []field, showAll bool) error {
	for _, field := range fields {
		owners := "not shared"
		if len(field.OtherOwners) > 0 {
			owners = "shared with " + strings.Join(field.OtherOwners, ", ")
		} else if !showAll {
			continue
		}
		if err := humanize.Fprintf(w, "    %s  %s\n", field.Path, owners); err != nil {
			return err
		}
	}
	return nil
}
