// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package livelist

import (
	"io"
	"net/http"

	"k8s.io/client-go/rest"
)

// budgetKey is the key of a request's *bodyBudget in its context.
type budgetKey struct{}

// bodyBudget limits the response body of a request, in bytes. Its values are valid when the request has ended.
type bodyBudget struct{ limit, read int64 }

// isExceeded reports whether the response was cut at the limit.
func (b *bodyBudget) isExceeded() bool { return b.read > b.limit }

// LimitResponses makes the requests of a Pager's Clients and Sources read no more of a response than a page may have. Other
// requests of the configuration are not limited.
func LimitResponses(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &limitedTransport{next} })
}

// limitedTransport limits the bodies of responses to requests that have a budget. The transport below it has already
// decompressed them.
type limitedTransport struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t *limitedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(request)
	if budget, ok := request.Context().Value(budgetKey{}).(*bodyBudget); ok && err == nil {
		response.Body = &limitedBody{ReadCloser: response.Body, budget: budget}
	}
	return response, err
}

// WrappedRoundTripper returns the transport below, as client-go expects of wrappers.
func (t *limitedTransport) WrappedRoundTripper() http.RoundTripper { return t.next }

type limitedBody struct {
	io.ReadCloser

	budget *bodyBudget
}

// Read implements io.Reader.
func (b *limitedBody) Read(buffer []byte) (int, error) {
	n, err := b.ReadCloser.Read(buffer)
	if b.budget.read += int64(n); b.budget.isExceeded() {
		return 0, io.EOF // client-go logs other errors. The read data is not used.
	}
	return n, err
}
