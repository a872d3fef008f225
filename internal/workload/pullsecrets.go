// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import "slices"

// Account contains the fields of a ServiceAccount that the operator reads.
type Account struct {
	// PullSecrets are the names in imagePullSecrets of the ServiceAccount. The API server adds them to pods
	// without imagePullSecrets.
	PullSecrets []string
	// Unread explains why the ServiceAccount could not be read, or is "" if it was read.
	Unread string
	// IsForbidden reports whether the caller does not have the permission to read the ServiceAccount.
	IsForbidden bool
}

// MissingAccount returns the Account for a ServiceAccount that does not exist.
func MissingAccount() *Account { return &Account{Unread: "the ServiceAccount does not exist"} }

// applicationPullSecrets returns the sorted names in the pod template's imagePullSecrets, without names that only the
// operator lists.
func (v *View) applicationPullSecrets() []string {
	names := slices.DeleteFunc(slices.Clone(v.PullSecrets), func(name string) bool { return anyOwns(v.Owned, ownedPullSecrets, name) })
	slices.Sort(names)
	return names
}

// HasPullSecret reports whether the application lists a pull secret in the pod template. The operator does not write or
// record such a pull secret. A pull secret that the operator has added belongs to the operator, even if the application
// owner also lists it later.
func (v *View) HasPullSecret(name string) bool {
	return slices.Contains(v.PullSecrets, name) && !anyOwns(v.Owned, func(o OwnedFields) []string { return o.PullSecrets }, name)
}

// ListsPullSecrets reports whether the application lists pull secrets in the pod template. The API server then adds
// none from the ServiceAccount.
func (v *View) ListsPullSecrets() bool { return len(v.applicationPullSecrets()) > 0 }

// AccountPullSecrets returns the pull secrets that the pods would get from their ServiceAccount if the operator
// did not list pull secrets. The result is empty if the ServiceAccount was not read.
func (v *View) AccountPullSecrets() []string {
	if v.Account == nil || v.ListsPullSecrets() {
		return nil
	}
	return v.Account.PullSecrets
}

// SharesPullSecret reports whether another manager of the operator, or a deployment tool, also lists a pull secret of a
// manager.
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

// anyStrings returns a copy of a list with items of type any.
func anyStrings(items []string) []any {
	result := make([]any, len(items))
	for i := range items {
		result[i] = items[i]
	}
	return result
}
