// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// edges lists extreme JSON values by the type of their schema. The values of a number or text are for
// intstr.IntOrString and resource.Quantity.
var edges = map[string][]string{
	"formed integer": {`2147483648`, `-2147483649`, `9223372036854775808`, `-9223372036854775809`, `1e20`, `1e400`, `1`, `1024`},
	"number or text": {
		`2147483647`,
		`5000000000`, `-5000000000`, `99999999999999999999`, `1e20`, `1.0`, `"99999999999999999999"`, `"1e1.5"`, `"1e.5"`, `"1e60000000"`, `"1e-60000000"`,
		`"1e99"`, `"1E+9"`, `"1."`, `".5"`, `"."`, `"-1Ki"`, `"1Kib"`, `"1e"`, `"1E"`, `""`, `"` + strings.Repeat("9", 64) + `"`, `"` + strings.Repeat("9", 70_000) + `"`,
	},
	"formed string": {`"99999999999999999999h"`, `"1e3h"`, `"-1s"`, `"999999h"`, `"2026-13-40T99:00:00Z"`, `""`, `"0s"`},
	"string":        {`"2026-13-40T99:00:00Z"`},
}

// placeholder stands for the value in a leaf's object.
const placeholder = "here"

// A leaf is a value of one type in a definition.
type leaf struct {
	kind string
	// object is a minimal object with the placeholder as the value.
	object any
}

// leavesOf returns the leaves of the spec of a kind by their paths.
func leavesOf(spec *apiextensionsv1.JSONSchemaProps, kind string) map[string]leaf {
	leaves := map[string]leaf{}
	addLeaves(leaves, spec, "spec", func(spec any) any {
		whole, _ := spec.(map[string]any)
		if selector, _ := whole["selector"].(map[string]any); len(selector) == 0 {
			whole["selector"] = map[string]any{"matchLabels": map[string]any{"a": "b"}}
		}
		return map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": kind, "metadata": map[string]any{"name": "edge"}, "spec": whole}
	})
	return leaves
}

// addLeaves adds the leaves of a schema; in returns a minimal object with a value for it.
func addLeaves(leaves map[string]leaf, schema *apiextensionsv1.JSONSchemaProps, path string, in func(any) any) {
	switch {
	case schema.XIntOrString:
		leaves[path] = leaf{"number or text", in(placeholder)}
	case schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields:
	case schema.Type == "object" && schema.AdditionalProperties != nil:
		addLeaves(leaves, schema.AdditionalProperties.Schema, path+".a", func(value any) any { return in(map[string]any{"a": value}) })
	case schema.Type == "object":
		for name, property := range schema.Properties {
			addLeaves(leaves, &property, path+"."+name, func(value any) any {
				whole, _ := minimal(schema).(map[string]any)
				whole[name] = value
				return in(whole)
			})
		}
	case schema.Type == "array":
		addLeaves(leaves, schema.Items.Schema, path+"[0]", func(value any) any { return in([]any{value}) })
	case schema.Format+schema.Pattern != "":
		leaves[path] = leaf{"formed " + schema.Type, in(placeholder)}
	default:
		leaves[path] = leaf{schema.Type, in(placeholder)}
	}
}

// minimal returns a value with all required fields of a schema.
func minimal(schema *apiextensionsv1.JSONSchemaProps) any {
	switch {
	case len(schema.Enum) > 0:
		return schema.Enum[0]
	case schema.XIntOrString, schema.Type == "integer":
		if schema.Minimum != nil && *schema.Minimum > 1 {
			return *schema.Minimum
		}
		return 1
	case schema.Type == "object":
		whole := map[string]any{}
		for _, name := range schema.Required {
			property := schema.Properties[name]
			whole[name] = minimal(&property)
		}
		return whole
	case schema.Type == "array":
		return []any{}
	case schema.Type == "boolean":
		return true
	}
	return "a"
}

// Go can decode each object that the API server accepts. Otherwise, one object would make each list fail, and stop the
// operator for all users.
func TestDefinition_AcceptsOnlyDecodableObjects(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	api, err := rest.HTTPClientFor(world.Config)
	require.NoError(t, err)
	for resource, test := range map[string]struct {
		under string
		new   func() any
	}{
		"vectorsidecars":        {"/namespaces/" + namespace, (&v1alpha1.VectorSidecar{}).Strict},
		"clustervectorsidecars": {"", (&v1alpha1.ClusterVectorSidecar{}).Strict},
	} {
		var definition apiextensionsv1.CustomResourceDefinition
		require.NoError(t, world.Client.Get(t.Context(), types.NamespacedName{Name: resource + "." + v1alpha1.GroupVersion.Group}, &definition))
		url := strings.TrimSuffix(world.Config.Host, "/") + "/apis/" + v1alpha1.GroupVersion.String() + test.under + "/" + resource + "?dryRun=All"
		create := func(object any, value string) (status int, reply []byte) {
			body, err := json.Marshal(object)
			require.NoError(t, err)
			body = bytes.Replace(body, []byte(`"`+placeholder+`"`), []byte(value), 1)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
			require.NoError(t, err)
			request.Header.Set("Content-Type", "application/json")
			response, err := api.Do(request)
			require.NoError(t, err)
			defer response.Body.Close()
			reply, err = io.ReadAll(response.Body)
			require.NoError(t, err)
			return response.StatusCode, reply
		}
		spec := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		found := leavesOf(&spec, definition.Spec.Names.Kind)
		for path, one := range found {
			accepted := 0
			for _, value := range edges[one.kind] {
				status, reply := create(one.object, value)
				if status == http.StatusCreated {
					accepted++
					assert.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(reply, test.new()), "%s: %s", path, value)
				}
			}
			if one.kind == "number or text" || strings.HasSuffix(one.kind, "integer") {
				assert.NotZero(t, accepted, "%s: the values do not reach it", path)
			}
		}
	}
}

// unreadable sets a number in objects that an earlier CRD accepts and Go cannot decode.
func unreadable(t *testing.T, given ...client.Object) {
	t.Helper()
	loosen := func(maximum *float64) {
		for _, resource := range []string{"vectorsidecars", "clustervectorsidecars"} {
			definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: resource + "." + v1alpha1.GroupVersion.Group}}
			harness.Change(t, world, definition, func(d *apiextensionsv1.CustomResourceDefinition) {
				rollout := d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["rollout"].Properties
				one := rollout["maxConcurrent"]
				one.Maximum = maximum
				rollout["maxConcurrent"] = one
			})
		}
	}
	loosen(nil)
	defer loosen(ptr.To[float64](math.MaxInt32))
	for _, object := range given {
		harness.Eventually(t, "an effective older definition", func() bool {
			return world.Client.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"rollout":{"maxConcurrent":5000000000}}}`))) == nil
		})
	}
}

// One object cannot be decoded. It is reported, and all others are reconciled, also after a restart.
func TestOperator_IsolatesUndecodableObjects(t *testing.T) {
	cluster := clusterOf(t)
	namespace, of, other := world.Namespace(t), world.Namespace(t, "team", cluster.Name), world.Namespace(t)
	cart, inCluster := labeled("cart", namespace), labeled("cart", of)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(0).Build()
	world.Create(t, cart, inCluster, vs, cluster)
	harness.Until(t, world, vs, "readiness", isUpToDate)
	harness.Until(t, world, cluster, "readiness", isClusterReady)

	unreadable(t, vs, cluster)
	restart(t)
	shop, good := labeled("shop", other), objects.NewVectorSidecar("logs", other).Selecting("logs", "vector").WithSoak(0).Build()
	world.Create(t, shop, good)
	harness.Until(t, world, shop, "its sidecar", isInjected)
	const said = meta.ReasonInvalidSpec + ": "
	harness.Until(t, world, vs, "the reported message", func(vs *v1alpha1.VectorSidecar) bool {
		return condition(vs, meta.ConditionStalled) == "True" && strings.HasPrefix(message(vs, meta.ConditionConfigValid), said)
	})
	require.Contains(t, message(vs, meta.ConditionReady), "VectorSidecar "+namespace+"/logs: spec.rollout: json: cannot unmarshal number 5000000000")
	harness.Until(t, world, cluster, "the reported message", func(c *v1alpha1.ClusterVectorSidecar) bool {
		valid := apimeta.FindStatusCondition(c.Status.Conditions, meta.ConditionConfigValid)
		return valid != nil && valid.Reason == meta.ReasonInvalidSpec
	})
	for _, deployment := range []*appsv1.Deployment{cart, inCluster} {
		world.Get(t, deployment)
		require.True(t, isInjected(deployment), "what is injected stays")
	}

	for _, gone := range []client.Object{vs, cluster} {
		world.Delete(t, gone)
		harness.Eventually(t, "the deletion", func() bool { return isGone(t, gone) })
	}
	for _, deployment := range []*appsv1.Deployment{cart, inCluster} {
		world.Get(t, deployment)
		require.True(t, isClean(deployment))
	}
}
