// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/json"
	kjson "sigs.k8s.io/json"
)

// Fields that do not fit their type are reported, and all other fields are read.
func TestDecodeObject_ReadsAllValidFields(t *testing.T) {
	t.Parallel()
	const (
		names = `"metadata":{"name":"logs","namespace":"shop","generation":3,"finalizers":["f"]}`
		spec  = `"selector":{"matchLabels":{"a":"b"}},"deletionPolicy":"Orphan"`
	)
	for name, test := range map[string]struct{ text, malformed string }{
		"all":            {`{` + names + `,"spec":{` + spec + `},"status":{"environment":"dev"}}`, ""},
		"a large number": {`{` + names + `,"spec":{` + spec + `,"rollout":{"maxConcurrent":5000000000}},"status":{"environment":"dev"}}`, "spec.rollout: json: cannot unmarshal number 5000000000"},
		"a quantity":     {`{` + names + `,"spec":{` + spec + `,"sidecar":{"resources":{"limits":{"memory":"1e1.5"}}}},"status":{"environment":"dev"}}`, "spec.sidecar: quantities must match"},
		"both":           {`{` + names + `,"spec":{` + spec + `,"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1e.5"}}],"rollout":[]},"status":{"environment":"dev"}}`, "spec.rollout: json: cannot unmarshal array"},
		"the status":     {`{` + names + `,"spec":{` + spec + `},"status":{"environment":"dev","matchedWorkloads":5000000000}}`, "status.matchedWorkloads: json: cannot unmarshal number 5000000000"},
	} {
		read := VectorSidecar{Malformed: "from before"}
		require.NoError(t, json.Unmarshal([]byte(test.text), &read), name)
		require.Contains(t, read.Malformed, test.malformed, name)
		require.Equal(t, test.malformed == "", read.Malformed == "", name)
		require.Equal(t, int64(3), read.Generation, name)
		require.Equal(t, []string{"f"}, read.Finalizers, name)
		require.Equal(t, map[string]string{"a": "b"}, read.Spec.Selector.MatchLabels, name)
		require.True(t, read.Spec.DeletionPolicy == DeletionOrphan && read.Status.Environment == "dev", name)

		require.Equal(t, test.malformed != "", json.Unmarshal([]byte(test.text), (&VectorSidecar{}).Strict()) != nil, name)
	}

	var cluster ClusterVectorSidecar
	require.NoError(t, json.Unmarshal([]byte(`{`+names+`,"spec":{`+spec+`,"namespaceSelector":{"matchLabels":{"team":"a"}},"rollout":{"maxConcurrent":5000000000}}}`), &cluster))
	require.Contains(t, cluster.Malformed, "spec.rollout: json: cannot unmarshal number 5000000000")
	require.Equal(t, map[string]string{"team": "a"}, cluster.Spec.NamespaceSelector.MatchLabels)
	require.Equal(t, DeletionOrphan, cluster.Spec.DeletionPolicy)

	require.Error(t, json.Unmarshal([]byte(`{"metadata":{"generation":"many"}}`), &cluster), "an object has to have a name")
	for _, strict := range []any{(&VectorSidecar{}).Strict(), (&ClusterVectorSidecar{}).Strict()} {
		unknown, err := kjson.UnmarshalStrict([]byte(`{"spec":{"selectr":{}}}`), strict)
		require.NoError(t, err)
		require.Len(t, unknown, 1)
	}
}
