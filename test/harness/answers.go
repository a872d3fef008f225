// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/rest"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
)

// Locked is the message of all answers of AnswersFor.
const Locked = "locked by the release team"

// Answers is a connection to the API server. While IsOn is true, each write or read of a path is answered as by an
// admission webhook.
type Answers struct {
	// Path is the suffix of the paths of matching requests.
	Path   string
	IsRead bool
	With   apierrors.APIStatus
	IsOn   atomic.Bool
	// Count is the number of answered requests.
	Count atomic.Int32
	next  http.RoundTripper
}

// AnswersFor returns two answers of a webhook to the operator's writes of its own resources: a conflict, which looks
// like another client's change at first, and a rejection.
func AnswersFor(resource string) map[string]apierrors.APIStatus {
	of := schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: resource}
	kind := schema.GroupKind{Group: of.Group, Kind: resource}
	return map[string]apierrors.APIStatus{
		"conflict": apierrors.NewConflict(of, "logs", errors.New(Locked)),
		"refusal":  apierrors.NewInvalid(kind, "logs", field.ErrorList{field.Required(field.NewPath("metadata", "labels"), Locked)}),
	}
}

// Way is a connection to the API server: Answers or an Interruption.
type Way interface {
	http.RoundTripper
	// lead sets the next transport.
	lead(next http.RoundTripper)
}

func (a *Answers) lead(next http.RoundTripper) { a.next = next }

// RoundTrip answers a request or forwards it.
func (a *Answers) RoundTrip(r *http.Request) (*http.Response, error) {
	if !a.IsOn.Load() || (r.Method == http.MethodGet) != a.IsRead || !strings.HasSuffix(r.URL.Path, a.Path) {
		return a.next.RoundTrip(r)
	}
	a.Count.Add(1)
	status := a.With.Status()
	status.Kind, status.APIVersion = "Status", "v1"
	text, err := json.Marshal(status)
	return &http.Response{
		StatusCode: int(status.Code), Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(text))), Request: r,
	}, err
}

// RunThrough replaces an operator by one with other connections to the API server until the end of a test.
func (w *World) RunThrough(t testing.TB, running **Operator, options operator.Options, ways ...Way) {
	t.Helper()
	t.Cleanup(func() {
		require.NoError(t, (*running).Stop())
		*running = w.RunOperator(options)
	})
	require.NoError(t, (*running).Stop())
	seen := *w
	seen.Operator = rest.CopyConfig(cmp.Or(w.Operator, w.Config))
	for _, way := range ways {
		seen.Operator.Wrap(func(next http.RoundTripper) http.RoundTripper {
			way.lead(next)
			return way
		})
	}
	*running = seen.RunOperator(options)
}
