// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// oneAccount is a Source that has one ServiceAccount.
type oneAccount struct {
	source.Source

	found workload.Account
}

func (o oneAccount) GetServiceAccount(context.Context, types.NamespacedName) (*workload.Account, error) {
	found := o.found
	return &found, nil
}

// connected is a cluster that is not asked for anything.
type connected struct{ client.WithWatch }

// A preview uses a ServiceAccount only if the operator may read it, too. If the user may not read the ServiceAccount,
// its fields are unknown, not empty.
func TestAccounts_ReadsServiceAccountsAsOperator(t *testing.T) {
	reads, blind := &source.Installation{ReadsAccounts: true}, &source.Installation{}
	apps := workload.Account{PullSecrets: []string{"apps"}}
	missing := workload.Account{Unread: "the ServiceAccount does not exist"}
	forbidden := workload.Account{Unread: "no permission to read the ServiceAccount", IsForbidden: true}
	for name, test := range map[string]struct {
		installed *source.Installation
		unseen    error
		offline   bool
		has       workload.Account
		want      workload.Account
		says      string
	}{
		"both read it":                              {installed: reads, has: apps, want: apps},
		"the operator may not":                      {installed: blind, has: apps, want: workload.Account{Unread: "the operator has no permission to read the ServiceAccount"}},
		"the person may not":                        {installed: reads, has: forbidden, want: workload.Account{Unread: "you have no permission to read the ServiceAccount", IsForbidden: true}, says: "could not read ServiceAccount shop/cart: the result for workloads that use it is unknown"},
		"there is none":                             {installed: reads, has: missing, want: missing},
		"there is no operator":                      {has: apps, want: apps},
		"the operator has no permission to be seen": {unseen: errors.New("forbidden"), has: apps, want: apps, says: "assuming that the operator reads ServiceAccounts"},
		"it is in the files":                        {offline: true, has: apps, want: apps},
		"it is not in the files":                    {offline: true, has: missing, says: "ServiceAccount shop/cart is not in the files: assuming that it has no imagePullSecrets"},
		"it is not there, nor may we see":           {unseen: errors.New("forbidden"), has: missing, want: missing, says: "assuming that the operator reads ServiceAccounts"},
	} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			a := &app{IOStreams: genericiooptions.IOStreams{ErrOut: &said}}
			s := &session{inputs: &inputs{app: a}, installation: test.installed, valuesErr: test.unseen}
			if !test.offline {
				s.cluster = connected{}
			}
			for range 2 {
				found, err := accounts{oneAccount{found: test.has}, s}.GetServiceAccount(t.Context(), types.NamespacedName{Namespace: "shop", Name: "cart"})
				require.NoError(t, err)
				require.Equal(t, test.want, *found)
			}
			if test.says == "" {
				require.Empty(t, said.String())
			}
			require.Contains(t, said.String(), test.says)
		})
	}
}
