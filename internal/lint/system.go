// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// windowsFindings reports a workload in the files with windowsOptions if no other field restricts its pods to Windows
// nodes.
func (o *objects) windowsFindings(ref workload.Ref) []Finding {
	document := o.documentFor(ref)
	object, ok := workload.ToObject(document.Object)
	if !ok {
		return nil
	}
	view := workload.NewView(object)
	fields := workload.ReadSystemFields(&workload.PodTemplate(object).Spec, view.Owned)
	var message string
	switch {
	case fields.Options == "":
		return nil
	case fields.Windows == fields.Options:
		message = "windowsOptions alone does not schedule pods to Windows nodes, but the operator does not inject the sidecar into pods with it"
	case fields.Windows == "":
		message = "Linux nodes ignore windowsOptions, and " + fields.OtherSystem + " does not select Windows nodes, so the pods get the sidecar"
	default:
		return nil
	}
	path := slices.Concat(ref.Adapter().Template, splitPath(fields.Options))
	finding := newFinding(looseOptions, document.Source, ref.Kind+" "+ref.Namespace+"/"+ref.Name+": "+fields.Options+": "+message)
	return []Finding{finding.withPosition(newPositions(document.Text, document.Line).findKey(path...), "")}
}
