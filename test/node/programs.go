// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package node

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// runContainerd starts containerd with folders of the run alone.
func (n *Node) runContainerd(ctx context.Context) error {
	dir, err := n.dir("containerd")
	if err != nil {
		return err
	}
	cni, err := n.dir("cni")
	if err != nil {
		return err
	}
	if _, err := n.write("cni/pods.conflist", fmt.Sprintf(networkOfPods, n.system.network.pods, n.system.network.everything, filepath.Join(cni, "addresses"))); err != nil {
		return err
	}
	config, err := n.write("containerd.toml", fmt.Sprintf(containerd, dir, pauseImage, n.system.plugins, cni, n.system.runc))
	if err != nil {
		return err
	}
	return n.ControlPlane.Run(ctx, "containerd", n.system.containerd, func(ctx context.Context) error {
		return n.runCtr(ctx, nil, "version")
	}, "--config="+config)
}

// restrict_oom_score_adj: a container of this machine may lack CAP_SYS_RESOURCE.
const containerd = `
version = 2
root = "%[1]s/root"
state = "%[1]s/state"
[grpc]
  address = "%[1]s/socket"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "%[2]s"
  restrict_oom_score_adj = true
  disable_apparmor = true
  netns_mounts_under_state_dir = true
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "%[3]s"
  conf_dir = "%[4]s"
[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "overlayfs"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  BinaryName = "%[5]s"
  SystemdCgroup = false
`

// Routed and not bridged, so that addresses of Services hold between pods of the node.
const networkOfPods = `{"cniVersion": "0.4.0", "name": "pods", "plugins": [{
  "type": "ptp",
  "ipam": {"type": "host-local", "ranges": [[{"subnet": %q}]], "routes": [{"dst": %q}], "dataDir": %q}
}]}
`

func (n *Node) socket() string { return filepath.Join(n.Run.Dir(), "containerd", "socket") }

// runCtr runs containerd's own client where kubelet's images and containers are.
func (n *Node) runCtr(ctx context.Context, input io.Reader, args ...string) error {
	args = slices.Concat(n.ctr, []string{"--namespace", "k8s.io"}, args)
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	command.Stdin = input
	if printed, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", args, err, printed)
	}
	return nil
}

// runKubelet starts a kubelet that works with cgroups of version 1 and 2, and that evicts
// nothing as long as the machine has any room.
func (n *Node) runKubelet(ctx context.Context) error {
	dir, err := n.dir("kubelet")
	if err != nil {
		return err
	}
	resolv, err := n.write("resolv.conf", "nameserver "+n.system.network.own+"\n")
	if err != nil {
		return err
	}
	config, err := n.write("kubelet.yaml", fmt.Sprintf(kubelet, n.system.network.own, n.Run.Cgroup(), n.socket(), resolv, n.Run.Dir()))
	if err != nil {
		return err
	}
	return n.runOwn(ctx, "kubelet", "http://127.0.0.1:10248/healthz",
		"--config="+config, "--kubeconfig", "--hostname-override="+hostname, "--node-ip="+n.system.network.own,
		"--root-dir="+dir, "--cert-dir="+filepath.Join(dir, "certificates"))
}

const kubelet = `
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: "%[1]s"
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
cgroupRoot: /%[2]s
clusterDNS: ["%[1]s"]
clusterDomain: cluster.local
containerRuntimeEndpoint: unix://%[3]s
enforceNodeAllocatable: []
evictionHard: {memory.available: 50Mi, nodefs.available: 1%%, imagefs.available: 1%%, nodefs.inodesFree: 1%%}
failCgroupV1: false
failSwapOn: false
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
podLogsDir: %[5]s/pods
resolvConf: %[4]s
serializeImagePulls: false
volumePluginDir: %[5]s/volume-plugins
`

// runProxy starts kube-proxy, which sets no limits on connections, for these are the machine's.
func (n *Node) runProxy(ctx context.Context) error {
	kubeconfig, err := n.ComponentKubeconfig("kube-proxy")
	if err != nil {
		return err
	}
	config, err := n.write("kube-proxy.yaml", fmt.Sprintf(proxy, kubeconfig, n.system.network.pods, hostname))
	if err != nil {
		return err
	}
	return n.runOwn(ctx, "kube-proxy", "http://127.0.0.1:10256/livez", "--config="+config)
}

const proxy = `
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: {kubeconfig: %[1]s}
clusterCIDR: "%[2]s"
hostnameOverride: %[3]s
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
mode: iptables
iptables: {localhostNodePorts: false, syncPeriod: 30s, minSyncPeriod: 0s}
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
`

// runCoreDNS starts the name server of pods.
func (n *Node) runCoreDNS(ctx context.Context) error {
	kubeconfig, err := n.ComponentKubeconfig("coredns")
	if err != nil {
		return err
	}
	config, err := n.write("Corefile", fmt.Sprintf(corefile, n.system.network.own, kubeconfig))
	if err != nil {
		return err
	}
	return n.runOwn(ctx, "coredns", "http://127.0.0.1:8181/ready", "-conf", config)
}

const corefile = `
.:53 {
  bind %s
  ready 127.0.0.1:8181
  errors
  kubernetes cluster.local {
    kubeconfig %s
  }
}
`

// runOwn runs one of the repository's own programs until it answers at url. The argument
// --kubeconfig gets the path of one.
func (n *Node) runOwn(ctx context.Context, name, url string, args ...string) error {
	path, err := n.Bin(name)
	if err != nil {
		return err
	}
	for i, arg := range args {
		if arg != "--kubeconfig" {
			continue
		}
		kubeconfig, err := n.ComponentKubeconfig(name)
		if err != nil {
			return err
		}
		args[i] += "=" + kubeconfig
	}
	return n.ControlPlane.Run(ctx, name, path, answers(url), args...)
}

// logs is the folder with the logs of the cluster's programs.
func (r *Run) logs() string { return filepath.Join(r.Dir(), "cluster", "logs") }

// keepLogs copies the logs of a run that failed to a folder that stays, and returns it.
func (r *Run) keepLogs() (string, error) {
	dir, err := os.MkdirTemp("", Prefix+r.ID+"-logs-")
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(r.logs()); err != nil {
		return dir, err
	}
	return dir, os.CopyFS(dir, os.DirFS(r.logs()))
}
