// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// startBase starts etcd and kube-apiserver and creates the administrator.
func (c *ControlPlane) startBase(ctx context.Context) error {
	base, err := c.newBase()
	if err != nil {
		return err
	}
	began := time.Now()
	c.base = base
	if err := base.Start(); err != nil {
		return fmt.Errorf("starting etcd and kube-apiserver: %w", err)
	}
	admin, err := base.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, &rest.Config{QPS: -1})
	if err != nil {
		return fmt.Errorf("making the administrator: %w", err)
	}
	c.config = admin.Config()
	if c.kubeconfig, err = c.writeKubeconfig("admin", "default", c.config); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(c.config)
	if err != nil {
		return fmt.Errorf("making the administrator's client: %w", err)
	}
	err = poll(ctx, `namespace "default"`, func(ctx context.Context) error {
		_, err := client.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	if err != nil {
		return err
	}
	c.tell("kube-apiserver serves at %s (%s)", c.config.Host, since(began))
	return nil
}

// announce sets the address on which the server listens, and that it advertises. Without an address of its own, it
// would look for a network interface with a default route, which a machine may lack.
func (c *ControlPlane) announce(server *envtest.APIServer) error {
	args := server.Configure()
	if c.options.Address == "" {
		args.Set("advertise-address", "127.0.0.1").Set("endpoint-reconciler-type", "none")
		return nil
	}
	host, port, err := net.SplitHostPort(c.options.Address)
	if err != nil {
		return fmt.Errorf("reading the API server's address: %w", err)
	}
	server.ListenAddr = envtest.ListenAddr{Address: host, Port: port}
	args.Set("advertise-address", host)
	return nil
}

func (c *ControlPlane) newBase() (*envtest.ControlPlane, error) {
	etcdLog, err := c.logFile("etcd")
	if err != nil {
		return nil, err
	}
	server, err := c.newAPIServer("kube-apiserver")
	if err != nil {
		return nil, err
	}
	if err := c.announce(server); err != nil {
		return nil, err
	}
	etcd := &envtest.Etcd{
		Path:         c.launcher.path("etcd"),
		DataDir:      c.etcdData(),
		Out:          etcdLog,
		Err:          etcdLog,
		StartTimeout: startTimeout,
		StopTimeout:  stopTimeout,
	}
	if c.options.EtcdQuota > 0 {
		etcd.Configure().Set("quota-backend-bytes", strconv.FormatInt(c.options.EtcdQuota, 10))
	}
	return &envtest.ControlPlane{APIServer: server, Etcd: etcd}, nil
}

// newAPIServer returns a kube-apiserver for the options, named by its start script.
func (c *ControlPlane) newAPIServer(name string) (*envtest.APIServer, error) {
	log, err := c.logFile(name)
	if err != nil {
		return nil, err
	}
	server := &envtest.APIServer{
		Path:         c.launcher.path(name),
		CertDir:      filepath.Join(c.dir, "certs"),
		Out:          log,
		Err:          log,
		StartTimeout: startTimeout,
		StopTimeout:  stopTimeout,
	}
	args := server.Configure()
	if c.options.Controllers {
		// envtest disables the ServiceAccount plugin, because it has no controller that creates the accounts.
		args.Disable("disable-admission-plugins")
	}
	if gates := c.featureGates(); gates != "" {
		args.Set("feature-gates", gates)
	}
	for name, value := range c.options.APIServerArgs {
		args.Set(name, value)
	}
	return server, nil
}
