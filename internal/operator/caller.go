// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"net/http"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/authentication/request/x509"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"

	"kontroloop.ai/vector-sidecar-operator/internal/admission"
)

// callers recognizes the API server among the clients of the admission webhook, by a client certificate that one of the
// given CAs has signed. Without CAs, it recognizes no client.
type callers struct {
	authorities *dynamiccertificates.DynamicFileCAContent
	proof       authenticator.Request
}

// newCallers reads the CAs from a file, or returns callers without CAs if the path is "". names are the common names
// that a certificate may have; without names, every name is accepted.
func newCallers(path string, names []string) (*callers, error) {
	if path == "" {
		return &callers{}, nil
	}
	authorities, err := dynamiccertificates.NewDynamicCAContentFromFile("admission-clients", path)
	if err != nil {
		return nil, err
	}
	acceptAny := authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) { return nil, true, nil })
	return &callers{authorities, x509.NewDynamicCAVerifier(authorities.VerifyOptions, acceptAny, headerrequest.StaticStringSlice(names))}, nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (c *callers) NeedLeaderElection() bool { return false }

// Start reloads the file when it changes, until the context is canceled.
func (c *callers) Start(ctx context.Context) error {
	if c.authorities != nil {
		c.authorities.Run(ctx, 1)
	}
	return nil
}

// markProven marks the context of a request if it is certainly from the API server.
func (c *callers) markProven(ctx context.Context, request *http.Request) context.Context {
	if !c.isProvenCaller(request) {
		return ctx
	}
	return admission.WithAPIServer(ctx)
}

// isProvenCaller reports whether a request has a client certificate of the API server.
func (c *callers) isProvenCaller(request *http.Request) bool {
	if c.proof == nil {
		return false
	}
	_, isProven, err := c.proof.AuthenticateRequest(request)
	return err == nil && isProven
}
