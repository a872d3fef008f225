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
	// kubeletSkew is the number of minor versions that a kubelet may be older than its API server.
	kubeletSkew = 3
	// lastOpen is the newest minor version of kubelets that a rendering depends on, because the
	// preStop sleep was added in 1.30.
	lastOpen = 30
)

// kubelet returns the lowest possible version of the cluster's kubelets, such as "v1.29.4", and
// whether the nodes add information to the version of the API server. The nodes only count while a
// rendering depends on them: with API server 1.33 or newer, every kubelet in the supported skew has
// all features.
func (in *Inputs) kubelet() (oldest string, differs bool) {
	server, err := version.ParseGeneric(in.KubeVersion)
	if err != nil {
		return in.KubeVersion, false // Rendering reports the error.
	}
	oldestMinor := max(int(server.Minor()), kubeletSkew) - kubeletSkew
	assumed := fmt.Sprintf("v%d.%d.0", server.Major(), oldestMinor)
	actual, err := version.ParseGeneric(in.OldestKubelet.Version)
	if err != nil || oldestMinor >= lastOpen {
		return assumed, false
	}
	if server.LessThan(actual) {
		actual = server
	}
	oldest = fmt.Sprintf("v%d.%d.%d", actual.Major(), actual.Minor(), actual.Patch())
	return oldest, minorVersion(oldest) != minorVersion(assumed)
}

// minorVersion cuts a version after the minor number: v1.36.0 becomes v1.36.
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

// AssumedKubelet returns the lowest version that kubelets are assumed to have, such as "v1.28.0",
// if a rendering depends on the versions of the nodes. It returns "" if nothing depends on them.
func AssumedKubelet(kubeVersion string) string {
	inputs := Inputs{KubeVersion: kubeVersion}
	assumed, _ := inputs.kubelet()
	parsed, err := version.ParseGeneric(assumed)
	if err != nil || parsed.Minor() >= lastOpen {
		return ""
	}
	return assumed
}
