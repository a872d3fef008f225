// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Accounts reads ServiceAccounts.
type Accounts interface {
	// Account reads a ServiceAccount. Without the permission, or if there is none, the result
	// says so. If it may exist and cannot be read otherwise, that is an error.
	Account(ctx context.Context, name types.NamespacedName) (*workload.Account, error)
}

// Objects reads what a decision turns out to depend on.
type Objects interface {
	ConfigMaps
	Accounts
}

// ReadAccounts adds the named ServiceAccounts of the VectorSidecar's namespace that the inputs do
// not have yet.
func (i *Inputs) ReadAccounts(ctx context.Context, from Accounts, names []string) error {
	for _, name := range names {
		if i.Accounts[name] != nil {
			continue
		}
		found, err := from.Account(ctx, types.NamespacedName{Namespace: i.Sidecar.Namespace, Name: name})
		if err != nil {
			return err
		}
		if i.Accounts == nil {
			i.Accounts = map[string]*workload.Account{}
		}
		i.Accounts[name] = found
	}
	return nil
}

// accountKey is the key of a target's values that has the pull secrets of its ServiceAccount.
const accountKey = "accountPullSecrets"

// readsAccount reports whether the templates have looked at what the target's ServiceAccount has.
func readsAccount(reads []tree.Read) bool {
	return slices.Contains(workload.KeysOf(reads), accountKey)
}

// judged returns what the policy judges of an overlay: without the pull secrets that the
// target has anyway, if the templates have looked at these: a rendering is shared by targets
// that are alike there.
func judged(of *corev1.PodTemplateSpec, target *workload.View, reads []tree.Read) *corev1.PodTemplateSpec {
	if target == nil || !readsAccount(reads) {
		return of
	}
	less, anyway := *of, target.AccountPullSecrets()
	less.Spec.ImagePullSecrets = slices.DeleteFunc(slices.Clone(of.Spec.ImagePullSecrets), func(secret corev1.LocalObjectReference) bool {
		return slices.Contains(anyway, secret.Name)
	})
	return &less
}

// mostBesides is how many of these are kept for one Rendered, each as large as what is desired.
const mostBesides = 8

// beside returns what a workload should carry: without the pull secrets that it lists itself,
// which are its owner's.
func (r *renderer) beside(of *Rendered, view *workload.View) *plan.Desired {
	var own []string
	for _, secret := range of.Overlay.Template.Spec.ImagePullSecrets {
		if view.HasPullSecret(secret.Name) {
			own = append(own, secret.Name)
		}
	}
	if len(own) == 0 {
		return of.Desired
	}
	key := strings.Join(own, ",")
	of.besides.mu.Lock()
	defer of.besides.mu.Unlock()
	if known := of.besides.made[key]; known != nil {
		return known
	}
	made := of.Desired.WithoutPullSecrets(own)
	if len(of.besides.made) < mostBesides {
		if of.besides.made == nil {
			of.besides.made = map[string]*plan.Desired{}
		}
		of.besides.made[key] = made
		r.cache.grow(of, bounded.Footprint(made))
	}
	return made
}

// takesPullSecrets says that with the pull secrets of an overlay the application's images could
// not be pulled any more; nil if they can. The API server gives a pod the pull secrets of its
// ServiceAccount only if it lists none.
func takesPullSecrets(overlay *workload.Overlay, view *workload.View) *Invalid {
	ours := overlay.Template.Spec.ImagePullSecrets
	if len(ours) == 0 || view.ListsPullSecrets() {
		return nil
	}
	refuse := func(format string, args ...any) *Invalid {
		return &Invalid{meta.ReasonPullSecrets, fmt.Sprintf("the sidecar brings the pull secret %q, and the pod template lists none, so that its pods would lose those of ServiceAccount %s: ", ours[0].Name, view.ServiceAccount) + fmt.Sprintf(format, args...)}
	}
	switch account := view.Account; {
	case account == nil:
		return refuse("it has not been read yet")
	case account.Unread != "":
		return refuse("%s; list them in the pod template, or let the operator get ServiceAccounts (rbac.optional.serviceAccounts)", account.Unread)
	default:
		for _, name := range account.PullSecrets {
			if !slices.ContainsFunc(ours, func(secret corev1.LocalObjectReference) bool { return secret.Name == name }) {
				return refuse("the templates leave out %q; have them list .Values.target.%s as well", name, accountKey)
			}
		}
	}
	return nil
}
