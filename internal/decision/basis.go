// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"crypto/sha256"
	"encoding/json"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// basisFor returns a digest of all inputs of the evaluation of a workload, except the workload and its ServiceAccount.
func (e *evaluation) basisFor(variant *desired.Variant) string {
	if basis, ok := e.bases[variant.Basis]; ok {
		return basis
	}
	// The policy is in the basis of the variant.
	spec := &e.Sidecar.Spec
	inputs := []any{
		spec.StrictOrder, spec.HostNetwork, spec.Owned(), spec.DriftPolicy, spec.RolloutMode(),
		e.NamespaceLabels, e.NamespaceUsers, e.AdmissionBlocker, e.Manifests, []byte(variant.Basis),
	}
	for i := range e.Companions { // An unchanged sidecar stays only while its companions exist.
		inputs = append(inputs, e.Companions[i].Name+" "+e.Companions[i].ResourceVersion)
	}
	for _, preceding := range e.preceding {
		common := preceding.desired.CommonVariant()
		inputs = append(inputs, preceding.Sidecar.Name, preceding.selector.String(), common.Container, []byte(preceding.basisFor(common)))
	}
	text, _ := json.Marshal(inputs) // Strings, booleans and maps of strings always marshal, with sorted keys.
	sum := sha256.Sum256(text)
	e.bases[variant.Basis] = string(sum[:])
	return e.bases[variant.Basis]
}

// withAccount adds a ServiceAccount that an evaluation read, or nil, to the digest of its inputs.
func withAccount(basis string, account *workload.Account) string {
	if account == nil {
		return basis
	}
	text, _ := json.Marshal(account) // Strings and booleans always marshal.
	sum := sha256.Sum256(text)
	return basis + string(sum[:])
}

// isCurrent reports whether an evaluation of the last decision, of an unchanged workload, had the same inputs. If it read
// the workload's ServiceAccount, isCurrent reads the ServiceAccount, too.
func (e *evaluation) isCurrent(evaluated *Evaluated, variant *desired.Variant) bool {
	basis := e.basisFor(variant)
	if len(evaluated.Basis) == len(basis) {
		return evaluated.Basis == basis
	}
	view := evaluated.Record.View()
	return evaluated.Basis == withAccount(basis, e.reader.Account(view.ServiceAccount))
}
