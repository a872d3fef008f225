// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"kontroloop.ai/vector-sidecar-operator/test/freeport"
)

// startControllers starts kube-controller-manager and waits for its first work: the
// default ServiceAccount, without which no pod is admitted.
func (c *ControlPlane) startControllers(ctx context.Context) error {
	began := time.Now()
	ca := filepath.Join(c.dir, "certs", "ca.crt")
	if err := os.WriteFile(ca, c.config.CAData, 0o600); err != nil {
		return fmt.Errorf("writing the API server's CA: %w", err)
	}
	p, url, err := c.runComponent("kube-controller-manager",
		"--root-ca-file="+ca,
		// As in installed clusters, each controller has the permissions of its own role, and not those of an
		// administrator.
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+filepath.Join(c.dir, "certs", "sa-signer.key"),
		"--flex-volume-plugin-dir="+filepath.Join(c.dir, "run", "flexvolume"),
	)
	if err != nil {
		return err
	}
	if err := p.healthy(ctx, url); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(c.config)
	if err != nil {
		return fmt.Errorf("making the administrator's client: %w", err)
	}
	err = poll(ctx, `ServiceAccount "default/default"`, func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	if err != nil {
		return err
	}
	c.tell("kube-controller-manager is at work (%s)", since(began))
	return nil
}

// runComponent starts a Kubernetes program with the common flags, and returns the URL of its health endpoint.
func (c *ControlPlane) runComponent(name string, args ...string) (*program, string, error) {
	kubeconfig, err := c.ComponentKubeconfig(name)
	if err != nil {
		return nil, "", err
	}
	address, err := freeport.Loopback()
	if err != nil {
		return nil, "", err
	}
	args = append(args,
		"--kubeconfig="+kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port="+freeport.Port(address),
		"--cert-dir="+filepath.Join(c.dir, "run", name+"-certs"),
		"--leader-elect=false",
		// The default of 20 to 50 requests a second would dominate the result of a fleet test.
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	)
	if gates := c.featureGates(); gates != "" {
		args = append(args, "--feature-gates="+gates)
	}
	p, err := c.run(name, args...)
	return p, "https://" + address + "/healthz", err
}
