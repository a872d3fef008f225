// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"testing"

	"github.com/stretchr/testify/require"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"

	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

func TestDetectCluster_ReadsIPFamilyFromServerAddress(t *testing.T) {
	for host, family := range map[string]string{
		"https://10.96.0.1:443": render.IPv4, "https://[fd00:10::1]:443": render.IPv6,
		"https://api.example.com": "", "api.example.com:443": "", "": "",
	} {
		found, err := detectCluster(&rest.Config{Host: host}, apimeta.NewDefaultRESTMapper(nil))
		require.NoError(t, err)
		require.Equal(t, render.Cluster{IPFamily: family, Platform: render.Kubernetes}, found, host)
	}
}
