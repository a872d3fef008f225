// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
)

// SecondAPIServer is the name of a second kube-apiserver, for Freeze.
const SecondAPIServer = "kube-apiserver-2"

// AddAPIServer starts a second kube-apiserver on the same etcd, as in a control plane of
// several, with the certificates and accounts of the first, and returns the
// administrator's configuration for it. It ends with the control plane.
func (c *ControlPlane) AddAPIServer() (*rest.Config, error) {
	if c.second != nil {
		return nil, errors.New("adding an API server: there are two already")
	}
	path, err := c.Bin("kube-apiserver")
	if err != nil {
		return nil, err
	}
	if err := c.launcher.add(SecondAPIServer, path); err != nil {
		return nil, err
	}
	server, err := c.newAPIServer(SecondAPIServer)
	if err != nil {
		return nil, err
	}
	first := c.base.APIServer
	server.EtcdURL, server.Authn = first.EtcdURL, first.Authn
	server.Configure().Set("advertise-address", "127.0.0.1").Set("endpoint-reconciler-type", "none").
		Set("service-account-issuer", first.SecureServing.URL("https", "/").String())
	if err := server.Start(); err != nil {
		return nil, fmt.Errorf("starting a second kube-apiserver: %w (logs in %s)", err, c.logs())
	}
	c.second = server
	config := c.Config()
	config.Host = server.SecureServing.URL("https", "/").Host
	return config, nil
}
