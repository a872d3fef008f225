// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"slices"
	"strings"

	registrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// checkPreflight checks whether an operator that may create pods and Secrets is limited to dry runs. It returns nothing
// for an operator without these permissions.
func (d *Diagnosis) checkPreflight(ctx context.Context, installation *source.Installation) []Result {
	const check = "preflight"
	if !installation.Preflight {
		return nil
	}
	name := installation.Namespace + "." + installation.Name + ".preflight"
	var policy registrationv1.ValidatingAdmissionPolicy
	var binding registrationv1.ValidatingAdmissionPolicyBinding
	switch missing, err := d.missingObjects(ctx, client.ObjectKey{Name: name}, &policy, &binding); {
	case err != nil:
		return []Result{{check, Unknown, err.Error(), "ask someone with permission to get ValidatingAdmissionPolicies and their bindings"}}
	case len(missing) > 0:
		return []Result{{
			check, Failed, "the operator may create pods and is not limited to dry runs: " + strings.Join(missing, ", "),
			"upgrade the installation, or set preflight.enabled to false",
		}}
	}
	isFailing := policy.Spec.FailurePolicy == nil || *policy.Spec.FailurePolicy == registrationv1.Fail
	if !isFailing || !slices.Contains(binding.Spec.ValidationActions, registrationv1.Deny) {
		return []Result{{
			check, Failed, "the operator may create pods, but ValidatingAdmissionPolicy " + name + " does not limit it to dry runs",
			"set failurePolicy Fail, and action Deny in the binding: upgrade the installation",
		}}
	}
	return []Result{{check, OK, "dry runs check sidecars before they are written, and the operator is limited to dry runs", ""}}
}
