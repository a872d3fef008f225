// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package node is a cluster of one real node, for tests of what only a kubelet and a
// container runtime show. In addition to the control plane of package controlplane, it runs
// kubelet, kube-proxy and CoreDNS, built from modules, and containerd, runc and the
// plugins for networks that the system has.
//
// The node and the tests run in separate process, mount and network namespaces of the
// kernel. The namespaces end with the test process, and so do all containers, links, chains
// and mounts. A run that is killed leaves only its directory and its cgroups, which have the
// id of the run. The next run removes them: see Run.
//
// It needs Linux, root, containerd and cgroups, and installs nothing: where something is
// missing, the tests are skipped with a line that says what.
package node
