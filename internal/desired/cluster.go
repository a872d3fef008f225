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
	// kubeletSkew is how many minor versions a kubelet may be behind its API server.
	kubeletSkew = 3
	// lastOpen is the newest minor version of kubelets that anything rendered depends on: the
	// preStop sleep came with 1.30.
	lastOpen = 30
)

// kubelet returns a version that no kubelet of the cluster is older than, such as
// "v1.29.4", and whether it says more than the version of the API server does. Nodes are
// asked only as long as something depends on them: kubelets at the end of the supported
// skew have everything from API server 1.33 on.
func (in *Inputs) kubelet() (oldest string, saysMore bool) {
	server, err := version.ParseGeneric(in.KubeVersion)
	if err != nil {
		return in.KubeVersion, false // Rendering will say so.
	}
	behind := max(int(server.Minor()), kubeletSkew) - kubeletSkew
	assumed := fmt.Sprintf("v%d.%d.0", server.Major(), behind)
	seen, err := version.ParseGeneric(in.OldestKubelet.Version)
	if err != nil || behind >= lastOpen {
		return assumed, false
	}
	if server.LessThan(seen) {
		seen = server
	}
	oldest = fmt.Sprintf("v%d.%d.%d", seen.Major(), seen.Minor(), seen.Patch())
	return oldest, minorOf(oldest) != minorOf(assumed)
}

// minorOf cuts a version after the minor number: v1.36.0 becomes v1.36.
func minorOf(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

// cluster returns what templates see of the cluster.
func (in *Inputs) cluster() render.Cluster {
	of := in.Cluster
	of.Kubelet, _ = in.kubelet()
	return of
}

// AssumedKubelet returns the version that kubelets are taken to have at least, such as
// "v1.28.0", if something depends on it that nodes would tell; "" if nothing does.
func AssumedKubelet(kubeVersion string) string {
	in := Inputs{KubeVersion: kubeVersion}
	assumed, _ := in.kubelet()
	at, err := version.ParseGeneric(assumed)
	if err != nil || at.Minor() >= lastOpen {
		return ""
	}
	return assumed
}
