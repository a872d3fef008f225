// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"

	"github.com/spf13/pflag"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// renderFlags are the flags that determine the rendering for a VectorSidecar and a workload. All commands that render
// have them.
type renderFlags struct {
	environment    string
	values         valueFlags
	templates      string
	kubeVersion    string
	kubeletVersion string
	ofCluster      clusterFlags
}

// renderDefaults describe the default values of renderFlags in usage texts.
type renderDefaults struct{ environment, kubeVersion, cluster, kubelet string }

// clusterDefaults apply to commands that may read a cluster, and fileDefaults to commands that read only files.
var (
	clusterDefaults = renderDefaults{
		environment: "the installation's, without a cluster " + defaultEnvironment,
		kubeVersion: "the cluster's, without a cluster " + defaultKubeVersion,
		cluster:     "the cluster's, without a cluster ",
		kubelet:     "the version of the cluster's nodes if the operator reads them, else three minor versions below the API server's",
	}
	fileDefaults = renderDefaults{
		environment: defaultEnvironment,
		kubeVersion: defaultKubeVersion,
		kubelet:     "three minor versions below the API server's",
	}
)

// addRenderFlags adds the flags to a command.
func (r *renderFlags) addRenderFlags(flags *pflag.FlagSet, defaults renderDefaults) {
	flags.StringVar(&r.environment, "environment", "", "environment for VectorSidecars if neither they nor their namespace set it (default: "+defaults.environment+")")
	r.values.addFlags(flags)
	flags.StringVar(&r.templates, "templates", "", "directory of a sidecar chart that replaces the built-in chart, or, without Chart.yaml, of files that replace files of the built-in chart")
	flags.StringVar(&r.kubeVersion, "kube-version", "", "version of the API server to render for (default: "+defaults.kubeVersion+")")
	r.ofCluster.addFlags(flags, defaults.cluster)
	flags.StringVar(&r.kubeletVersion, "kubelet-version", "", "version of the oldest kubelet to render for (default: "+defaults.kubelet+")")
}

// kubelet returns the kubelet of --kubelet-version, without a version if the flag is not set.
func (r *renderFlags) kubelet() desired.Kubelet {
	if r.kubeletVersion == "" {
		return desired.Kubelet{}
	}
	return desired.Kubelet{Version: r.kubeletVersion, Node: "(--kubelet-version)"}
}

// clusterFlags are the flags for the properties of the cluster that templates read.
type clusterFlags struct{ ipFamily, platform choice }

// addFlags adds the flags to a command. In the usage texts, fallbackHelp precedes the default value.
func (c *clusterFlags) addFlags(flags *pflag.FlagSet, fallbackHelp string) {
	c.ipFamily.allowed = []string{render.IPv4, render.IPv6}
	c.platform.allowed = []string{render.Kubernetes, render.OpenShift}
	flags.Var(&c.ipFamily, "ip-family", "IP family of pods to render for, IPv4 or IPv6 (default: "+fallbackHelp+render.IPv4+")")
	flags.Var(&c.platform, "platform", "platform to render for, Kubernetes or OpenShift (default: "+fallbackHelp+render.Kubernetes+")")
}

// mergeInto returns the cluster data for templates: the values of the flags, or else the detected values.
func (c *clusterFlags) mergeInto(cluster render.Cluster) render.Cluster {
	return render.Cluster{IPFamily: cmp.Or(c.ipFamily.value, cluster.IPFamily), Platform: cmp.Or(c.platform.value, cluster.Platform)}
}
