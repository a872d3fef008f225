// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package node

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

// Variables that name a cluster of one node that is there, such as one of kind's, in place
// of one that is started. Its containers must be processes of this machine, and their
// addresses be reached from it.
const (
	// kubeconfigVariable is the path of the administrator's kubeconfig.
	kubeconfigVariable = "NODE_KUBECONFIG"
	// ctrVariable is the command of containerd's own client on the node, which reads images
	// from its standard input: docker exec --interactive vso-control-plane ctr.
	ctrVariable = "NODE_CTR"
	// addressVariable is an address of this machine that pods reach.
	addressVariable = "NODE_ADDRESS"
)

// visit does something with a cluster that is there, which stays.
func visit(ctx context.Context, use func(context.Context, *Node) int) (code int, err error) {
	kubeconfig, err := filepath.Abs(os.Getenv(kubeconfigVariable))
	if err != nil {
		return 1, err
	}
	plane, err := controlplane.Of(kubeconfig)
	if err != nil {
		return 1, err
	}
	n := &Node{ControlPlane: plane, Address: os.Getenv(addressVariable), ctr: strings.Fields(os.Getenv(ctrVariable))}
	if n.Address == "" || len(n.ctr) == 0 {
		return 1, fmt.Errorf("visiting the cluster of %s: set %s and %s, too", kubeconfig, ctrVariable, addressVariable)
	}
	if n.Name, err = only(ctx, plane); err != nil {
		return 1, err
	}
	if n.files, err = os.MkdirTemp("", Prefix+"visit-"); err != nil {
		return 1, err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(n.files)) }()
	if err := n.importPrograms(ctx); err != nil {
		return 1, err
	}
	fmt.Printf("the node is %s of %s\n", n.Name, kubeconfig)
	return use(ctx, n), nil
}

// only is the name of a cluster's only node.
func only(ctx context.Context, plane *controlplane.ControlPlane) (string, error) {
	client, err := kubernetes.NewForConfig(plane.Config())
	if err != nil {
		return "", err
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", fmt.Errorf("looking for the cluster's node: %w", err)
	}
	if len(nodes.Items) != 1 {
		return "", fmt.Errorf("looking for the cluster's node: there are %d, and tests need one", len(nodes.Items))
	}
	return nodes.Items[0].Name, nil
}
