// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package overlayset

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/openapi"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// documents are the OpenAPI documents of an API server that can fail or change them.
type documents struct {
	err             error
	address, text   string
	listings, reads int
	// meanwhile is called during a request.
	meanwhile func()
}

func (d *documents) PathsWithContext(context.Context) (map[string]openapi.GroupVersionWithContext, error) {
	d.listings++
	if d.meanwhile != nil {
		d.meanwhile()
	}
	if d.err != nil || d.address == "" {
		return nil, d.err
	}
	return map[string]openapi.GroupVersionWithContext{"apis/argoproj.io/v1alpha1": d}, nil
}

func (d *documents) ServerRelativeURL() string { return d.address }

func (d *documents) SchemaWithContext(context.Context, string) ([]byte, error) {
	d.reads++
	return []byte(d.text), nil
}

// The cached schema of Rollouts is read again after a failed read, and after the definition has changed.
func TestDefinitions_ReadDefinitionAgainAfterChange(t *testing.T) {
	t.Parallel()
	document := func(container string) string {
		return `{"components": {"schemas": {"r": {"x-kubernetes-group-version-kind": [{"group": "argoproj.io", "version": "v1alpha1", "kind": "Rollout"}], "properties": {"spec": {"properties":
			{"template": {"properties": {"spec": {"properties": {"initContainers": {"items": {"properties": {` + container + `}}}}}}}}}}}}}}`
	}
	now, isServed := time.Now(), false
	from := &documents{err: errors.New("the connection was lost")}
	known := &definitions{documents: from, isServed: func(*workload.Kind) bool { return isServed }, now: func() time.Time { return now }, cached: map[string]*knownDefinition{}}
	pod := map[string]any{"initContainers": []any{map[string]any{"restartPolicy": "Always"}}}
	rollouts := workload.KindByName("Rollout")
	says := func(kind *workload.Kind) string {
		why, err := known.findProblem(t.Context(), kind, pod)
		require.NoError(t, err)
		return why
	}
	require.Empty(t, says(workload.Default()), "what Kubernetes itself defines, a trial tells")
	require.Equal(t, "the API server does not serve Rollouts", says(rollouts))
	require.Zero(t, from.listings)

	isServed = true
	_, err := known.findProblem(t.Context(), rollouts, pod)
	require.ErrorContains(t, err, "the connection was lost")
	from.err = apierrors.NewForbidden(schema.GroupResource{}, "/openapi/v3", errors.New("no"))
	require.Contains(t, says(rollouts), "forbidden", "that is no matter of trying again")
	require.False(t, known.haveChanged(t.Context()))
	from.err = nil
	now = now.Add(definitionAge)
	_, err = known.findProblem(t.Context(), rollouts, pod)
	require.EqualError(t, err, "the API server has no OpenAPI document of argoproj.io/v1alpha1 yet")

	from.address, from.text = "/a", document(`"name": {}`)
	require.Equal(t, "the definition of Rollouts, possibly of an earlier version, does not have the field initContainers.restartPolicy", says(rollouts))
	listings := from.listings
	from.address, from.text = "/b", document(`"restartPolicy": {}`)
	require.NotEmpty(t, says(rollouts), "it is not looked for each time")
	require.Equal(t, listings, from.listings)
	now = now.Add(definitionAge)
	require.Empty(t, says(rollouts))
	now = now.Add(definitionAge)
	require.Empty(t, says(rollouts))
	require.Equal(t, 2, from.reads, "what is the same is not read again")

	from.address, from.text = "/c", "{}"
	now = now.Add(definitionAge)
	require.Equal(t, "the OpenAPI document of API version argoproj.io/v1alpha1 does not have the kind Rollout", says(rollouts))

	require.True(t, known.haveChanged(t.Context()), "others have not heard of what one decision has read")
	require.False(t, known.haveChanged(t.Context()))
	from.address, from.text = "/a", document(`"name": {}`)
	from.meanwhile = func() { require.NotEmpty(t, known.findUnknownField(rollouts, pod), "no decision waits for an answer") }
	require.True(t, known.haveChanged(t.Context()), "it is looked for, however old what is known is")
	from.meanwhile = nil
	listings = from.listings
	require.Contains(t, known.findUnknownField(rollouts, pod), "does not have the field initContainers.restartPolicy")
	require.Equal(t, listings, from.listings, "a decision asks nobody")
	require.False(t, known.haveChanged(t.Context()))
	from.err = errors.New("the connection was lost")
	require.False(t, known.haveChanged(t.Context()))
	isServed, listings = false, from.listings
	require.False(t, known.haveChanged(t.Context()))
	require.Equal(t, listings, from.listings)
}
