// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Proxy is a life on the wire of a program that is a process of its own: an address
// on the loopback, behind which is the API server.
type Proxy struct {
	// Kubeconfig is the file that leads the program here.
	Kubeconfig string

	server *httptest.Server
}

// Serve serves an API server to a program over plain HTTP, as the identity of the
// config and through a life, with a kubeconfig in a folder.
func Serve(life *Life, config *rest.Config, folder string) (*Proxy, error) {
	upstream, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("reading the API server's address: %w", err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("reaching the API server: %w", err)
	}
	p := &Proxy{Kubeconfig: filepath.Join(folder, "kubeconfig.yaml"), server: httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		Transport:     life.Through(transport),
		FlushInterval: -1, // A watch is to be heard at once.
		ErrorLog:      log.New(io.Discard, "", 0),
		// In place of an answer of its own, it breaks the connection.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})}
	p.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	const name = "wire"
	err = clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: p.server.URL}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}, p.Kubeconfig)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("writing the kubeconfig: %w", err), p.Close())
	}
	return p, nil
}

// Close breaks every connection and serves no more.
func (p *Proxy) Close() error {
	p.server.CloseClientConnections()
	p.server.Close()
	return nil
}
