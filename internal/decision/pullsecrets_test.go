// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// accountsOf is a reader of ServiceAccounts by name.
type accountsOf map[string]*workload.Account

func (a accountsOf) GetServiceAccount(_ context.Context, name types.NamespacedName) (*workload.Account, error) {
	return a[name.Name], nil
}

// countedAccounts counts how often ServiceAccounts are read.
type countedAccounts struct {
	accountsOf

	reads int
}

func (a *countedAccounts) GetServiceAccount(ctx context.Context, name types.NamespacedName) (*workload.Account, error) {
	a.reads++
	return a.accountsOf.GetServiceAccount(ctx, name)
}

func pullingWith(names ...string) *v1alpha1.VectorSidecar {
	return logs().Sidecar(func(s *v1alpha1.SidecarSpec) { s.ImagePullSecrets = names }).Build()
}

const allowsRegistry = "imagePullSecrets: {allowed: [registry]}"

func TestDecide_KeepsPullSecretsOfApplication(t *testing.T) {
	untouched := func(*corev1.PodSpec) {}
	listing := func(names ...string) func(*corev1.PodSpec) {
		return func(pod *corev1.PodSpec) {
			for _, name := range names {
				pod.ImagePullSecrets = append(pod.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
			}
		}
	}
	for name, test := range map[string]struct {
		pod     func(*corev1.PodSpec)
		account *workload.Account
		adds    []string
		refused string
		reads   int
		reason  string
	}{
		"listed by the template":   {pod: listing("apps"), adds: []string{"registry"}, reason: "the API server adds none to such a pod anyway"},
		"the same by the template": {pod: listing("registry"), reason: "it is the owner's alone, and nothing says that it is ours"},
		"by the ServiceAccount":    {pod: untouched, account: &workload.Account{PullSecrets: []string{"apps"}}, adds: []string{"apps", "registry"}, reads: 1, reason: "the pods would have it without us, so the policy does not judge it"},
		"the same by the account":  {pod: untouched, account: &workload.Account{PullSecrets: []string{"registry"}}, adds: []string{"registry"}, reads: 1, reason: "each once"},
		"by nobody":                {pod: untouched, account: &workload.Account{}, adds: []string{"registry"}, reads: 1, reason: "there is nothing to lose"},
		"nobody knows":             {pod: untouched, account: &workload.Account{Unread: "the operator has no permission to read the ServiceAccount"}, refused: "rbac.optional.serviceAccounts", reads: 1, reason: "the application might not be pulled"},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, pullingWith("registry"), objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Pod(test.pod).Build())
			s.Platform = given(t, map[string]string{desired.PolicyKey: allowsRegistry}, nil)
			from := &countedAccounts{accountsOf: accountsOf{"default": test.account}}
			s.Accounts = from
			decided := decide(t, s)
			require.Equal(t, test.reads, from.reads, "an account is read where it is needed")
			p := &decided.Plans[0]
			if test.refused != "" {
				require.Equal(t, plan.ActionBlocked, p.Action(), test.reason)
				require.Equal(t, meta.ReasonPullSecrets, p.Reason())
				require.Contains(t, p.Message(), test.refused)
				return
			}
			require.Equal(t, plan.Inject, p.Change, p.Message())
			var adds []string
			require.Equal(t, test.adds != nil, strings.Contains(p.Desired.Template().Annotations[meta.AnnotationInjectedItems(p.Manager)], `"pullSecrets"`))
			for _, item := range tree.List(tree.MapAt(p.Write.Apply, tree.Pod...)["imagePullSecrets"]) {
				adds = append(adds, tree.Name(item))
			}
			require.Equal(t, test.adds, adds, test.reason)
		})
	}
}

// If the pull secrets of the ServiceAccount change, the sidecar is updated.
func TestDecide_FollowsPullSecretsOfServiceAccount(t *testing.T) {
	deployment := objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Build()
	s := snapshot(t, pullingWith("registry"), deployment)
	s.Platform = given(t, map[string]string{desired.PolicyKey: allowsRegistry}, nil)
	s.Accounts = accountsOf{"default": {PullSecrets: []string{"apps"}}}
	done := carryOut(t, s, decide(t, s), deployment)
	remembers := newMemory()
	first := remembers.decide(t, done).Plans[0]
	require.Equal(t, plan.None, first.Change, first.Message())
	done.Accounts = accountsOf{"default": {PullSecrets: []string{"apps", "more"}}}
	p := remembers.decide(t, done).Plans[0]
	require.Equal(t, plan.Update, p.Change, "pods without ours have it from now on")
	require.Contains(t, p.Write.Cause, "fields of the workload (accountPullSecrets)")
}

// A custom template set must list the pull secrets of the ServiceAccount, and only pull secrets that the policy
// allows.
func TestDecide_RejectsTemplatesWithoutAccountPullSecrets(t *testing.T) {
	s := snapshot(t, pullingWith("registry"), cart())
	s.Platform = releaseOf(t, map[string]string{"concat $.Values.target.accountPullSecrets .": "concat (list) ."}, map[string]string{desired.PolicyKey: allowsRegistry}, nil)
	s.Accounts = accountsOf{"default": {PullSecrets: []string{"apps"}}}
	p := decide(t, s).Plans[0]
	require.Equal(t, plan.ActionBlocked, p.Action())
	require.Contains(t, p.Message(), ".Values.target.accountPullSecrets")
	s.Platform = releaseOf(t, map[string]string{"concat $.Values.target.accountPullSecrets .": `concat (list "apps") .`}, map[string]string{desired.PolicyKey: allowsRegistry}, nil)
	decided := decide(t, s)
	require.NotNil(t, decided.Invalid, "a name that the templates made up is judged by the policy")
	require.Contains(t, decided.Invalid.Message, `images may not be pulled with the Secret "apps"`)
}

// The application owner's manifest lists a pull secret that the sidecar needs. When the owner removes it from the
// manifest, the operator adds it.
func TestDecide_AddsPullSecretThatManifestDrops(t *testing.T) {
	lists := func(names ...string) *appsv1.Deployment {
		return objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Pod(func(pod *corev1.PodSpec) {
			for _, name := range names {
				pod.ImagePullSecrets = append(pod.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
			}
		}).Build()
	}
	before := lists("apps", "registry")
	s := snapshot(t, pullingWith("registry"), before)
	s.Platform = given(t, map[string]string{desired.PolicyKey: allowsRegistry}, nil)
	done := carryOut(t, s, decide(t, s), before)
	require.Equal(t, plan.None, decide(t, done).Plans[0].Change)

	pod := &before.Spec.Template.Spec
	pod.ImagePullSecrets = pod.ImagePullSecrets[:1]
	done.Workloads = []*workloadcache.Record{workloadcache.NewRecordWithView(settled(before))}
	p := decide(t, done).Plans[0]
	require.Equal(t, plan.Update, p.Change, p.Message())
	require.False(t, p.Write.Repairs, "nobody has damaged it")
	require.Contains(t, p.Write.Cause, "fields of the workload (imagePullSecrets)")
}

// The policy does not allow a pull secret of the sidecar. It is accepted if the application's ServiceAccount has it.
func TestDecide_AllowsPullSecretOfServiceAccount(t *testing.T) {
	s := snapshot(t, pullingWith("registry"), cart())
	from := accountsOf{"default": {PullSecrets: []string{"registry"}}}
	s.Accounts = from
	decided := decide(t, s)
	require.Nil(t, decided.Invalid)
	require.Equal(t, plan.Inject, decided.Plans[0].Change)

	s = snapshot(t, pullingWith("registry"), objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Pod(func(pod *corev1.PodSpec) {
		pod.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "apps"}}
	}).Build())
	s.Accounts = from
	require.Contains(t, decide(t, s).Invalid.Message, "images may not be pulled with", "such a pod has nothing from its ServiceAccount")
}
