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

// Locked is what whoever answers says in all of AnswersFor.
const Locked = "locked by the release team"

// Answers is a way to the API server on which each write to a path, or each read, is answered by somebody else,
// as by an admission webhook, as long as it is on.
type Answers struct {
	// Path is what the path of a request ends with.
	Path   string
	IsRead bool
	With   apierrors.APIStatus
	IsOn   atomic.Bool
	// Count is how many requests were answered.
	Count atomic.Int32
	next  http.RoundTripper
}

// AnswersFor returns two that a webhook may give to writes of the operator's own resources: one that the operator
// takes for a change by somebody else at first, and one that is a refusal.
func AnswersFor(resource string) map[string]apierrors.APIStatus {
	of := schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: resource}
	kind := schema.GroupKind{Group: of.Group, Kind: resource}
	return map[string]apierrors.APIStatus{
		"conflict": apierrors.NewConflict(of, "logs", errors.New(Locked)),
		"refusal":  apierrors.NewInvalid(kind, "logs", field.ErrorList{field.Required(field.NewPath("metadata", "labels"), Locked)}),
	}
}

// Way is a way to the API server: Answers or an Interruption.
type Way interface {
	http.RoundTripper
	// lead sets the way behind it.
	lead(next http.RoundTripper)
}

func (a *Answers) lead(next http.RoundTripper) { a.next = next }

// RoundTrip answers a request, or lets it through.
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

// RunThrough replaces an operator by one on other ways to the API server until the end of a test.
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
