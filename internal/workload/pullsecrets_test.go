// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A pull secret in the application's manifest belongs to the application. If the sidecar also has it, it belongs to
// both.
func TestHasPullSecret_FindsSecretsOfApplication(t *testing.T) {
	account := &Account{PullSecrets: []string{"of-the-account"}}
	ours := func(of OwnedFields) map[string]OwnedFields { return map[string]OwnedFields{"vectorsidecar/logs": of} }
	for name, test := range map[string]struct {
		view View
		// theirs: registry is the owner's alone. lists: the pod template has pull secrets without us.
		theirs, lists bool
	}{
		"nobody lists any":      {view: View{}},
		"the owner":             {view: View{PodView: PodView{PullSecrets: []string{"registry"}}}, theirs: true, lists: true},
		"the owner has another": {view: View{PodView: PodView{PullSecrets: []string{"apps"}}}, lists: true},
		"the sidecar":           {view: View{PodView: PodView{PullSecrets: []string{"registry"}}, ObjectView: ObjectView{Owned: ours(OwnedFields{PullSecrets: []string{"registry"}})}}},
		"both, the sidecar before the owner": {
			view: View{PodView: PodView{PullSecrets: []string{"registry"}}, ObjectView: ObjectView{Owned: ours(OwnedFields{PullSecrets: []string{"registry"}, SharedPullSecrets: []string{"registry"}})}}, lists: true,
		},
		"both, the owner before the sidecar": {view: View{PodView: PodView{PullSecrets: []string{"registry", "mirror"}}, ObjectView: ObjectView{Owned: ours(OwnedFields{PullSecrets: []string{"mirror"}})}}, theirs: true, lists: true},
	} {
		t.Run(name, func(t *testing.T) {
			test.view.Account = account
			require.Equal(t, test.theirs, test.view.HasPullSecret("registry"))
			require.Equal(t, test.lists, test.view.ListsPullSecrets())
			require.Equal(t, test.lists, len(test.view.AccountPullSecrets()) == 0, "the API server adds none to a pod that lists its own")
		})
	}
}
