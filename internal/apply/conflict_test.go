// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestOnlyWhatPeopleChangedIsTakenBack(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"one person":               {clashWith("kubectl-edit"), true},
		"two of them":              {clashWith("kubectl-edit", "kubectl-set"), true},
		"a deployer":               {clashWith("helm"), false},
		"a manifest that is kept":  {clashWith("kubectl-client-side-apply"), false},
		"another VectorSidecar":    {clashWith("vectorsidecar/audit"), false},
		"a patch of our own":       {clashWith("vectorsidecar/logs"), true},
		"a person and a deployer":  {clashWith("kubectl-edit", "argocd-controller"), false},
		"nobody on record":         {clashWith(), false},
		"an undo by kubectl":       {clashWith("kubectl"), true},
		"an apply by kubectl":      {appliedBy("kubectl"), false},
		"a name that is a prefix":  {clashWith("kube"), false},
		"another kind of conflict": {apierrors.NewConflict(deployments, "cart", errors.New("UID")), false},
		"no conflict":              {apierrors.NewBadRequest("no"), false},
		"no error":                 {nil, false},
	} {
		require.Equal(t, test.want, isOnlyPeoples(test.err, "vectorsidecar/logs"), name)
	}
}
