// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// accountKey is the key in a workload's values with the pull secrets of the workload's ServiceAccount.
const accountKey = "accountPullSecrets"

// readsAccountSecrets reports whether the templates have read the pull secrets of the workload's ServiceAccount.
func readsAccountSecrets(reads []tree.Read) bool {
	return slices.Contains(workload.ValueKeysFor(reads), accountKey)
}

// checkedTemplate returns the part of an overlay's template that the policy must allow. If the templates have read the
// pull secrets of the workload's ServiceAccount, these secrets are left out, because the pods have them also without
// the overlay.
func checkedTemplate(template *corev1.PodTemplateSpec, target *workload.View, reads []tree.Read) *corev1.PodTemplateSpec {
	if target == nil || !readsAccountSecrets(reads) {
		return template
	}
	reduced, accountSecrets := *template, target.AccountPullSecrets()
	reduced.Spec.ImagePullSecrets = slices.DeleteFunc(slices.Clone(template.Spec.ImagePullSecrets), func(secret corev1.LocalObjectReference) bool {
		return slices.Contains(accountSecrets, secret.Name)
	})
	return &reduced
}

// omitListedPullSecrets returns the desired sidecar without the pull secrets that the workload itself lists. These
// belong to the application owner.
func (r *renderer) omitListedPullSecrets(rendered *Rendered, view *workload.View) *plan.Desired {
	var listed []string
	for _, secret := range rendered.Overlay.Template.Spec.ImagePullSecrets {
		if view.HasPullSecret(secret.Name) {
			listed = append(listed, secret.Name)
		}
	}
	if len(listed) == 0 {
		return rendered.Desired
	}
	create := func() *plan.Desired { return rendered.Desired.WithoutPullSecrets(listed) }
	return r.cache.derive(rendered.key, " without "+strings.Join(listed, ","), create, &sharedValues{})
}

// checkPullSecrets returns the reason why an overlay would remove the pull secrets of the ServiceAccount from the pods,
// or nil if it would not. The API server gives a pod the pull secrets of its ServiceAccount only if the pod lists none
// itself.
func checkPullSecrets(overlay *workload.Overlay, view *workload.View) *Invalid {
	sidecarSecrets := overlay.Template.Spec.ImagePullSecrets
	if len(sidecarSecrets) == 0 || view.ListsPullSecrets() {
		return nil
	}
	invalid := func(format string, args ...any) *Invalid {
		return &Invalid{meta.ReasonPullSecrets, fmt.Sprintf("the sidecar adds the pull secret %q to a pod template without pull secrets, so that the pods would lose the pull secrets of ServiceAccount %s: ", sidecarSecrets[0].Name, view.ServiceAccount) + fmt.Sprintf(format, args...)}
	}
	switch account := view.Account; {
	case account == nil: // WorkloadFor sets LacksAccount. The caller then reads the ServiceAccount and tries again.
		return invalid("the ServiceAccount has not been read yet")
	case account.Unread != "":
		return invalid("%s; list the pull secrets in the pod template, or allow the operator to get ServiceAccounts (rbac.optional.serviceAccounts)", account.Unread)
	default:
		for _, name := range account.PullSecrets {
			if !slices.ContainsFunc(sidecarSecrets, func(secret corev1.LocalObjectReference) bool { return secret.Name == name }) {
				return invalid("the templates do not list pull secret %q of the ServiceAccount; add .Values.target.%s to the pull secrets of the templates", name, accountKey)
			}
		}
	}
	return nil
}
