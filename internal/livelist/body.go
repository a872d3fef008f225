// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package livelist

import (
	"io"
	"net/http"

	"k8s.io/client-go/rest"
)

// budgetKey is the type of the context key for the *bodyBudget of a request.
type budgetKey struct{}

// bodyBudget limits the size of a response body, in bytes. read is the number of bytes that were read, which is final
// when the request has ended.
type bodyBudget struct{ limit, read int64 }

// isExceeded reports whether the response was cut at the limit.
func (b *bodyBudget) isExceeded() bool { return b.read > b.limit }

// LimitResponses limits the responses that Clients and Sources of a Pager read, to the size that a page may have. It
// does not limit other requests that use the configuration.
func LimitResponses(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &limitedTransport{next} })
}

// limitedTransport limits the bodies of responses to requests with a budget. It limits their decompressed size.
type limitedTransport struct{ next http.RoundTripper }

// RoundTrip sends a request. If the request has a budget, it limits the body of the response.
func (t *limitedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(request)
	if budget, ok := request.Context().Value(budgetKey{}).(*bodyBudget); ok && err == nil {
		response.Body = &limitedBody{ReadCloser: response.Body, budget: budget}
	}
	return response, err
}

// WrappedRoundTripper returns the wrapped transport, in which client-go cancels requests.
func (t *limitedTransport) WrappedRoundTripper() http.RoundTripper { return t.next }

// limitedBody is a response body that ends at the limit of its budget.
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
