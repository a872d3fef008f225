// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import "slices"

// Account is what was read of a ServiceAccount.
type Account struct {
	// PullSecrets are the names in its imagePullSecrets. The API server gives them to pods
	// that list none of their own.
	PullSecrets []string
	// Unread says why it was not read, "" if it was.
	Unread string
	// IsForbidden reports whether that is because whoever asked may not read it.
	IsForbidden bool
}

// ownPullSecrets returns the sorted names in the pod template's imagePullSecrets without ours.
func (v *View) ownPullSecrets() []string {
	own := slices.DeleteFunc(slices.Clone(v.PullSecrets), func(name string) bool { return anyOwns(v.Owned, pullSecretsOf, name) })
	slices.Sort(own)
	return own
}

// HasPullSecret reports whether the pod template lists a pull secret that no manager of ours has
// listed: it is left to its owner, and neither written nor noted as ours. What is ours stays ours
// while an owner lists it, too.
func (v *View) HasPullSecret(name string) bool {
	return slices.Contains(v.PullSecrets, name) && !anyOwns(v.Owned, func(of Owned) []string { return of.PullSecrets }, name)
}

// ListsPullSecrets reports whether the pod template has imagePullSecrets without ours: then
// its pods get none from their ServiceAccount anyway.
func (v *View) ListsPullSecrets() bool { return len(v.ownPullSecrets()) > 0 }

// AccountPullSecrets returns the pull secrets that pods without ours have from their
// ServiceAccount, as far as that was read.
func (v *View) AccountPullSecrets() []string {
	if v.Account == nil || v.ListsPullSecrets() {
		return nil
	}
	return v.Account.PullSecrets
}

// SharesPullSecret reports whether another of the operator's managers, or a deployer, lists a
// pull secret of a manager as well.
func (v *View) SharesPullSecret(manager, name string) bool {
	if slices.Contains(v.Owned[manager].SharedPullSecrets, name) {
		return true
	}
	for other, owned := range v.Owned {
		if other != manager && slices.Contains(owned.PullSecrets, name) {
			return true
		}
	}
	return false
}

func texts(of []string) []any {
	found := make([]any, len(of))
	for i := range of {
		found[i] = of[i]
	}
	return found
}
