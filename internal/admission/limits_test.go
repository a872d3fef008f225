// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// declared collects the limits of lists, maps and long strings in a schema, by path.
func declared(schema *apiextensionsv1.JSONSchemaProps, path string, into map[string]int64) {
	const longText = 1 << 10
	for _, limit := range []*int64{schema.MaxItems, schema.MaxProperties, schema.MaxLength} {
		if limit != nil && (limit != schema.MaxLength || *limit > longText) {
			into[path] = *limit
		}
	}
	for name := range schema.Properties {
		below := schema.Properties[name]
		declared(&below, path+"."+name, into)
	}
}

// The size limits in the code are those of the CustomResourceDefinitions.
func TestSizeLimits_EqualCustomResourceDefinitions(t *testing.T) {
	want, have := map[string]int64{}, map[string]int64{}
	for _, kind := range []string{"vectorsidecars", "clustervectorsidecars"} {
		text, err := os.ReadFile("../../chart/files/crds/observability.kontroloop.ai_" + kind + ".yaml")
		require.NoError(t, err)
		var definition apiextensionsv1.CustomResourceDefinition
		require.NoError(t, yaml.Unmarshal(text, &definition))
		spec := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		declared(&spec, "spec", want)
	}
	for _, limit := range (&shape{}).sizeLimits() {
		have[limit.path] = int64(limit.maximum)
	}
	require.Equal(t, want, have)
}

// A client may call the webhook directly, so that the API server has not checked the limits of the
// CustomResourceDefinition. The webhook checks them itself.
func TestRead_RejectsInputOverLimits(t *testing.T) {
	for _, limit := range (&shape{}).sizeLimits() {
		t.Run(limit.path, func(t *testing.T) {
			value := "[" + strings.Repeat("{},", limit.maximum) + "{}]"
			switch {
			case limit.unit == "characters":
				value = `"` + strings.Repeat("é", limit.maximum+1) + `"`
			case strings.HasSuffix(limit.path, "secrets"), strings.HasSuffix(limit.path, "podAnnotations"), strings.HasSuffix(limit.path, "podLabels"):
				value = "{"
				for n := range limit.maximum + 1 {
					value += fmt.Sprintf(`"k%d":"v",`, n)
				}
				value = strings.TrimSuffix(value, ",") + "}"
			}
			keys := strings.Split(limit.path, ".")
			for i := len(keys) - 1; i >= 0; i-- {
				value = fmt.Sprintf(`{%q:%s}`, keys[i], value)
			}
			require.ErrorContains(t, decodeStrictly([]byte(value), &v1alpha1.VectorSidecar{}), fmt.Sprintf("%s has %d %s; at most %d are allowed", limit.path, limit.maximum+1, limit.unit, limit.maximum))

			request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create}}
			request.Object.Raw = []byte(value)
			w := newWorld(t)
			answer := w.handler().Handle(t.Context(), request)
			require.False(t, answer.Allowed)
			require.EqualValues(t, http.StatusBadRequest, answer.Result.Code)
			require.Zero(t, w.asked.Load(), "nothing was judged")
		})
	}
}

func TestRead_RejectsLongQuantities(t *testing.T) {
	err := decodeStrictly([]byte(`{"spec":{"sidecar":{"resources":{"limits":{"memory":"`+strings.Repeat("9", 700_000)+`"}}}}}`), &v1alpha1.ClusterVectorSidecar{})
	require.ErrorContains(t, err, "spec.sidecar.resources.limits.memory: quantity 999")
}

func TestHandler_DeniesLargeVectorSidecars(t *testing.T) {
	answer := asked(t, newWorld(t), nil, logs().WithValues(map[string]any{"a": strings.Repeat("x", 1_200_000)}).Build())
	require.False(t, answer.Allowed)
	require.Contains(t, answer.Result.Message, "VectorSidecar shop/logs has 1172 KiB; at most 512 KiB are allowed")
}
