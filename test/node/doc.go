// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package node is a cluster of one real node, for tests of what only a kubelet and a
// container runtime show. Beside the control plane of package controlplane it runs
// kubelet, kube-proxy and CoreDNS, built from modules, and containerd, runc and the
// plugins for networks that the system has.
//
// All of it, and the tests, runs in namespaces of the kernel of its own: of processes,
// mounts and networks. These end with their first process, the test's own, and with them
// every container, link, chain and mount; so a run that is killed leaves no more than its
// folder and its cgroups. Both carry the run's id, and the next run removes them: see Run.
//
// It needs Linux, root, containerd and cgroups, and installs nothing: where something is
// missing, the tests are skipped with a line that says what.
package node
