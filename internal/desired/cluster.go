// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

const (
	// kubeletSkew is the number of minor versions by which kubelets may be older than the API server.
	kubeletSkew = 3
	// firstCompleteMinor is the first minor version of kubelets with all features that renderings use. Kubernetes 1.30
	// added the last one, the preStop sleep.
	firstCompleteMinor = 30
)

// kubelet returns the lowest version that the cluster's kubelets may have, such as "v1.29.4". differs reports whether
// its minor version differs from the version that is assumed without reading nodes. Nodes matter only for API servers
// before 1.33, because all kubelets that newer API servers support have all features.
func (in *Inputs) kubelet() (oldest string, differs bool) {
	server, err := version.ParseGeneric(in.KubeVersion)
	if err != nil {
		return in.KubeVersion, false // Rendering reports the error.
	}
	oldestMinor := max(int(server.Minor()), kubeletSkew) - kubeletSkew
	assumed := fmt.Sprintf("v%d.%d.0", server.Major(), oldestMinor)
	actual, err := version.ParseGeneric(in.OldestKubelet.Version)
	if err != nil || oldestMinor >= firstCompleteMinor {
		return assumed, false
	}
	if server.LessThan(actual) {
		actual = server
	}
	oldest = fmt.Sprintf("v%d.%d.%d", actual.Major(), actual.Minor(), actual.Patch())
	return oldest, minorVersion(oldest) != minorVersion(assumed)
}

// minorVersion returns a version without everything after the minor number: v1.36 for v1.36.0.
func minorVersion(version string) string {
	segments := strings.SplitN(version, ".", 3)
	return strings.Join(segments[:min(len(segments), 2)], ".")
}

// cluster returns the cluster data that templates can read.
func (in *Inputs) cluster() render.Cluster {
	cluster := in.Cluster
	cluster.Kubelet, _ = in.kubelet()
	return cluster
}

// AssumedKubelet returns the lowest version that kubelets may have if nodes are not read, such as "v1.28.0". It returns
// "" if that version has all features, so that renderings do not depend on kubelets.
func AssumedKubelet(kubeVersion string) string {
	inputs := Inputs{Settings: Settings{KubeVersion: kubeVersion}}
	assumed, _ := inputs.kubelet()
	parsed, err := version.ParseGeneric(assumed)
	if err != nil || parsed.Minor() >= firstCompleteMinor {
		return ""
	}
	return assumed
}
