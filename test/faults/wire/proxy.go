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

// Proxy serves a life of a program in another process: it listens on the loopback interface and forwards requests to
// the API server.
type Proxy struct {
	// Kubeconfig is the path of the kubeconfig for the program.
	Kubeconfig string

	server *httptest.Server
}

// Serve forwards a program's requests through a life to an API server, with the identity of the config, and writes a
// kubeconfig to a directory. It uses plain HTTP.
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
		// The proxy breaks the connection instead of answering with its own error.
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

// Close breaks every connection and stops the proxy.
func (p *Proxy) Close() error {
	p.server.CloseClientConnections()
	p.server.Close()
	return nil
}
