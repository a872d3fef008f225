// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"

	"github.com/spf13/pflag"

	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// clusterFlags are the flags for what templates see of the cluster.
type clusterFlags struct{ ipFamily, platform choice }

// add adds them to a command. otherwise says what the default is without them, up to its value.
func (c *clusterFlags) add(flags *pflag.FlagSet, otherwise string) {
	c.ipFamily.allowed = []string{render.IPv4, render.IPv6}
	c.platform.allowed = []string{render.Kubernetes, render.OpenShift}
	flags.Var(&c.ipFamily, "ip-family", "IP family of pods to render for, IPv4 or IPv6 (default: "+otherwise+render.IPv4+")")
	flags.Var(&c.platform, "platform", "platform to render for, Kubernetes or OpenShift (default: "+otherwise+render.Kubernetes+")")
}

// over returns what the flags say, and what was found for the rest.
func (c *clusterFlags) over(found render.Cluster) render.Cluster {
	return render.Cluster{IPFamily: cmp.Or(c.ipFamily.value, found.IPFamily), Platform: cmp.Or(c.platform.value, found.Platform)}
}
