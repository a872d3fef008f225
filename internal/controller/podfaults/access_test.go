// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package podfaults

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
)

// permissions has the permissions of an operator by namespace, and counts the requests for them.
type permissions struct {
	allowed map[string]bool
	err     error
	asked   int
}

func (p *permissions) CanListPods(_ context.Context, namespace string) (bool, error) {
	p.asked++
	return p.allowed[namespace], p.err
}

// Each case has the options and permissions of the operator, and the reason why pods cannot be read, or none.
func TestAccess_ReportsMissingPermission(t *testing.T) {
	for name, test := range map[string]struct {
		isEnabled  bool
		namespaces []string
		allowed    map[string]bool
		err        error
		want       string
	}{
		"not enabled":              {allowed: map[string]bool{"": true}, want: "pods are not read (rbac.optional.pods)"},
		"in all namespaces":        {isEnabled: true, allowed: map[string]bool{"": true}},
		"in this namespace only":   {isEnabled: true, allowed: map[string]bool{"shop": true}},
		"in a watched namespace":   {isEnabled: true, namespaces: []string{"shop"}, allowed: map[string]bool{"shop": true}},
		"nowhere":                  {isEnabled: true, want: "the operator has no permission to list pods in namespace shop (rbac.optional.pods)"},
		"in another namespace":     {isEnabled: true, namespaces: []string{"shop", "pay"}, allowed: map[string]bool{"pay": true}, want: "the operator has no permission to list pods in namespace shop (rbac.optional.pods)"},
		"that nobody can tell now": {isEnabled: true, err: errors.New("timeout")},
	} {
		t.Run(name, func(t *testing.T) {
			access := NewAccess(test.isEnabled, &permissions{allowed: test.allowed, err: test.err}, test.namespaces, time.Now)
			require.Equal(t, test.want, access.UnreadableReason(t.Context(), "shop"))
			halts, err := fleet.Parse("rollout", []byte("halt: {}"))
			require.NoError(t, err)
			want := ""
			if test.want != "" {
				want = "rollout.halt does not detect the causes of failures: " + test.want
			}
			require.Equal(t, want, access.BlindHalt(t.Context(), halts, "shop"))
			require.Empty(t, access.BlindHalt(t.Context(), &fleet.Rules{}, "shop"))
		})
	}
}

// A permission is requested once. A denied permission is requested again after some time, and a granted one after a
// read was denied.
func TestAccess_RepeatsDeniedPermissionRequest(t *testing.T) {
	now, api := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC), &permissions{allowed: map[string]bool{}}
	access := NewAccess(true, api, []string{"shop"}, func() time.Time { return now })
	require.NotEmpty(t, access.UnreadableReason(t.Context(), "shop"))
	api.allowed["shop"] = true
	require.NotEmpty(t, access.UnreadableReason(t.Context(), "shop"))
	require.Equal(t, 1, api.asked)
	now = now.Add(state.LastRetry)
	require.Empty(t, access.UnreadableReason(t.Context(), "shop"))
	now = now.Add(24 * time.Hour)
	require.Empty(t, access.UnreadableReason(t.Context(), "shop"))
	require.Equal(t, 2, api.asked)
	api.allowed["shop"] = false
	access.forget("shop")
	require.NotEmpty(t, access.UnreadableReason(t.Context(), "shop"))
}
