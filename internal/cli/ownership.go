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

// field is a field that a field manager of the operator owns, with the other field managers that own it.
type field struct {
	Path   string   `json:"path"`
	Others []string `json:"others,omitempty"`
}

// fieldsOf returns the fields of a workload that a field manager owns.
func fieldsOf(object workload.Object, manager string) []field {
	ours := fieldpath.NewSet()
	others := map[string]*fieldpath.Set{}
	entries := object.GetManagedFields()
	for i := range entries {
		entry := &entries[i]
		set := setOf(entry)
		switch {
		case set == nil:
		case entry.Manager == manager:
			ours = ours.Union(set)
		default:
			name := entry.Manager
			if known := others[name]; known != nil {
				set = set.Union(known)
			}
			others[name] = set
		}
	}
	var fields []field
	ours.Leaves().Iterate(func(path fieldpath.Path) {
		one := field{Path: path.String()}
		for name, set := range others {
			if set.Has(path) {
				one.Others = append(one.Others, name)
			}
		}
		slices.Sort(one.Others)
		fields = append(fields, one)
	})
	return fields
}

// setOf returns the fields of a managedFields entry, nil for one of a subresource.
func setOf(entry *metav1.ManagedFieldsEntry) *fieldpath.Set {
	if entry.Subresource != "" || entry.FieldsV1 == nil {
		return nil
	}
	set := fieldpath.NewSet()
	if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
		return nil // The API server wrote the entry; an unreadable entry owns nothing.
	}
	return set
}

// summary returns the number of fields and the field managers that share them.
func summary(fields []field) string {
	if len(fields) == 0 {
		return ""
	}
	shared := slices.ContainsFunc(fields, func(f field) bool { return len(f.Others) > 0 })
	if !shared {
		return count(len(fields), "field") + ", all its own"
	}
	return count(len(fields), "field") + ", some of them shared:"
}

// printFields prints shared fields, or all of them.
func printFields(to io.Writer, fields []field, all bool) error {
	for _, one := range fields {
		owners := "its own"
		if len(one.Others) > 0 {
			owners = "also of " + strings.Join(one.Others, ", ")
		} else if !all {
			continue
		}
		if err := humanize.Fprintf(to, "    %s  %s\n", one.Path, owners); err != nil {
			return err
		}
	}
	return nil
}
