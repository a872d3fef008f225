// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRightsAreAskedForTheKindsThatAreServed(t *testing.T) {
	change := []string{"list", "watch", "patch"}
	require.Equal(t, []need{
		{"apps", "deployments", "", "", change},
		{"apps", "replicasets", "", "", []string{"list"}},
	}, workloadNeeds([]string{"Deployment"}))
	require.Equal(t, []need{
		{"apps", "statefulsets", "", "", change},
		{"apps", "daemonsets", "", "", change},
		{"batch", "jobs", "", "", []string{"list", "watch"}},
		{"apps", "controllerrevisions", "", "", []string{"list"}},
		{"batch", "jobs", "", "", []string{"list"}},
	}, workloadNeeds([]string{"StatefulSet", "DaemonSet", "Job", "KindOfALaterRelease"}))
}
