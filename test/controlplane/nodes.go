// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	_ "embed" // for stages
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"kontroloop.ai/vector-sidecar-operator/test/freeport"
)

// stages configure the life cycle of nodes and pods in kwok.
//
//go:embed stages.yaml
var stages []byte

// startNodes starts kube-scheduler and kwok, and waits until every node takes pods.
func (c *ControlPlane) startNodes(ctx context.Context) error {
	began := time.Now()
	kwok, kwokURL, err := c.runKwok()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(c.config)
	if err != nil {
		return fmt.Errorf("making the administrator's client: %w", err)
	}
	for i := range c.options.Nodes {
		name := fmt.Sprintf("node-%d", i+1)
		if _, err := client.CoreV1().Nodes().Create(ctx, node(name), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("creating Node %q: %w", name, err)
		}
	}
	if err := c.startScheduler(ctx); err != nil {
		return err
	}
	if err := kwok.healthy(ctx, kwokURL); err != nil {
		return err
	}
	if err := poll(ctx, "nodes to be ready", func(ctx context.Context) error { return nodesReady(ctx, client) }); err != nil {
		return err
	}
	c.tell("%d simulated nodes are ready (%s)", c.options.Nodes, since(began))
	return nil
}

func (c *ControlPlane) startScheduler(ctx context.Context) error {
	scheduler, url, err := c.runComponent("kube-scheduler")
	if err != nil {
		return err
	}
	return scheduler.healthy(ctx, url)
}

func (c *ControlPlane) runKwok() (*program, string, error) {
	kubeconfig, err := c.ComponentKubeconfig("kwok")
	if err != nil {
		return nil, "", err
	}
	config := filepath.Join(c.dir, "run", "stages.yaml")
	if err := os.WriteFile(config, stages, 0o600); err != nil {
		return nil, "", fmt.Errorf("writing the stages of simulated nodes: %w", err)
	}
	address, err := freeport.Loopback()
	if err != nil {
		return nil, "", err
	}
	p, err := c.run("kwok",
		"--kubeconfig="+kubeconfig,
		"--config="+config,
		"--manage-all-nodes=true",
		"--cidr=10.128.0.0/9",
		"--node-lease-duration-seconds=40",
		"--server-address="+address,
	)
	return p, "http://" + address + "/healthz", err
}

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name,
		Labels: map[string]string{
			corev1.LabelHostname:   name,
			corev1.LabelOSStable:   "linux",
			corev1.LabelArchStable: "amd64",
		},
	}}
}

// nodesReady returns nil if no node has a taint that repels pods.
func nodesReady(ctx context.Context, client kubernetes.Interface) error {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range nodes.Items {
		if n := &nodes.Items[i]; len(n.Spec.Taints) > 0 || n.Status.Allocatable.Pods().IsZero() {
			return fmt.Errorf("node %q is not ready yet", n.Name)
		}
	}
	return nil
}
