// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import "slices"

// Account contains the fields that were read from a ServiceAccount.
type Account struct {
	// PullSecrets are the names in imagePullSecrets of the ServiceAccount. The API server adds them to pods
	// without imagePullSecrets.
	PullSecrets []string
	// Unread explains why the ServiceAccount was not read, or is "" if it was.
	Unread string
	// IsForbidden reports whether the ServiceAccount was not read because the caller lacks the permission.
	IsForbidden bool
}

// ownPullSecrets returns the sorted names in the pod template's imagePullSecrets, without the operator's.
func (v *View) ownPullSecrets() []string {
	names := slices.DeleteFunc(slices.Clone(v.PullSecrets), func(name string) bool { return anyOwns(v.Owned, ownedPullSecrets, name) })
	slices.Sort(names)
	return names
}

// HasPullSecret reports whether the pod template lists a pull secret that no manager of the operator lists. The
// pull secret is left to its owner. It is neither written nor recorded. A pull secret of the operator stays the
// operator's if an owner also lists it.
func (v *View) HasPullSecret(name string) bool {
	return slices.Contains(v.PullSecrets, name) && !anyOwns(v.Owned, func(o Owned) []string { return o.PullSecrets }, name)
}

// ListsPullSecrets reports whether the pod template has imagePullSecrets except the operator's. Its pods then
// get no pull secrets from their ServiceAccount in any case.
func (v *View) ListsPullSecrets() bool { return len(v.ownPullSecrets()) > 0 }

// AccountPullSecrets returns the pull secrets that pods without the operator's pull secrets get from their
// ServiceAccount. The result is empty if the ServiceAccount was not read.
func (v *View) AccountPullSecrets() []string {
	if v.Account == nil || v.ListsPullSecrets() {
		return nil
	}
	return v.Account.PullSecrets
}

// SharesPullSecret reports whether another manager of the operator, or a deployment tool, also lists a pull
// secret of a manager.
func (v *View) SharesPullSecret(manager, name string) bool {
	if slices.Contains(v.Owned[manager].SharedPullSecrets, name) {
		return true
	}
	for otherManager, owned := range v.Owned {
		if otherManager != manager && slices.Contains(owned.PullSecrets, name) {
			return true
		}
	}
	return false
}

func texts(items []string) []any {
	result := make([]any, len(items))
	for i := range items {
		result[i] = items[i]
	}
	return result
}
