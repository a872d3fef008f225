// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/definition"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// The plugin decodes a file to the object that kubectl create would store. It predicts the errors of kubectl create
// with strict validation and of kubectl apply --server-side.
func TestDefinition_DecodesAsKubectlCreate(t *testing.T) {
	t.Parallel()
	const accepted, notApplied, rejected, notDecoded = "accepted", "not applied", "rejected", "not decoded"
	for name, test := range map[string]struct {
		// spec is in flow style; metadata is added to the object's metadata.
		spec, metadata string
		want           string
	}{
		"plain":                            {spec: `sidecar: {logs: {path: /var/log/app}}`, want: accepted},
		"null quantity":                    {spec: `sidecar: {resources: {requests: {cpu: null}}}`, want: notApplied},
		"null scalar":                      {spec: `sidecar: {logLevel: null}`, want: notApplied},
		"null scalar with a default":       {spec: `enabled: null`, want: accepted},
		"null list with a default":         {spec: `workloads: null`, want: accepted},
		"null list":                        {spec: `volumes: null`, want: notApplied},
		"null object":                      {spec: `sidecar: {logs: null}`, want: notApplied},
		"null rollout":                     {spec: `rollout: null`, want: notApplied},
		"null field of a list":             {spec: `sidecar: {env: [{name: A, value: null}]}`, want: notApplied},
		"null item of a list":              {spec: `workloads: [null]`, want: rejected},
		"null item of an object list":      {spec: `volumes: [null]`, want: rejected},
		"null in open values":              {spec: `values: {owner: null, deep: [{a: null}]}`, want: accepted},
		"null open values":                 {spec: `values: null`, want: notApplied},
		"null sink":                        {spec: `sidecar: {sinks: {console: null}}`, want: accepted},
		"null in a raw configuration":      {spec: `sidecar: {config: {raw: {sinks: {console: null}}}}`, want: accepted},
		"null label":                       {spec: `enabled: true`, metadata: `labels: {a: null}`, want: accepted},
		"null labels":                      {spec: `enabled: true`, metadata: `labels: null, creationTimestamp: null`, want: accepted},
		"defaults of nested fields":        {spec: `initContainers: [{name: a, image: b, ports: [{containerPort: 1}], env: [{name: A, valueFrom: {secretKeyRef: {key: k}}}]}]`, want: accepted},
		"null with a nested default":       {spec: `initContainers: [{name: a, image: b, ports: [{containerPort: 1, protocol: null}]}]`, want: accepted},
		"integer for int-or-string":        {spec: `rollout: {maxConcurrent: 3}, sidecar: {resources: {requests: {cpu: 1}}}`, want: accepted},
		"string for int-or-string":         {spec: `rollout: {maxConcurrent: 10%}, sidecar: {resources: {requests: {cpu: "1"}}}`, want: accepted},
		"float for a quantity":             {spec: `sidecar: {resources: {requests: {cpu: 0.5}}}`, want: rejected},
		"float for int-or-string":          {spec: `rollout: {maxConcurrent: 1.5}`, want: notDecoded},
		"boolean for a quantity":           {spec: `sidecar: {resources: {requests: {cpu: true}}}`, want: notDecoded},
		"text for a boolean":               {spec: `enabled: "yes"`, want: notDecoded},
		"number for a text":                {spec: `environment: 3`, want: notDecoded},
		"list for an object":               {spec: `sidecar: []`, want: notDecoded},
		"unknown field":                    {spec: `environmant: qa`, want: notDecoded},
		"unknown null field":               {spec: `environmant: null`, want: notDecoded},
		"unknown nested field":             {spec: `sidecar: {logz: {path: /var/log/app}}`, want: notDecoded},
		"unknown field of a list":          {spec: `sidecar: {env: [{name: A, valeu: b}]}`, want: notDecoded},
		"unknown field of other letters":   {spec: `sidecar: {loglevel: debug}`, want: notDecoded},
		"unknown field of the metadata":    {spec: `enabled: true`, metadata: `lables: {a: b}`, want: notDecoded},
		"unknown field in open values":     {spec: `values: {anything: {goes: 1.50}}`, want: accepted},
		"duplicate key":                    {spec: `environment: qa, environment: staging`, want: accepted},
		"duplicate nested key":             {spec: `sidecar: {logLevel: info, logLevel: debug}`, want: accepted},
		"duplicate item of a set":          {spec: `workloads: [Deployment, Deployment]`, want: rejected},
		"duplicate item of a keyed list":   {spec: `initContainers: [{name: a, image: b, ports: [{containerPort: 1}, {containerPort: 1, protocol: TCP}]}]`, want: rejected},
		"value outside an enumeration":     {spec: `deletionPolicy: Never`, want: rejected},
		"value that a rule rejects":        {spec: `rollout: {maxAge: 1h}`, want: rejected},
		"value that a pattern rejects":     {spec: `environment: "A B"`, want: rejected},
		"exported with the managed fields": {spec: `enabled: true`, metadata: `managedFields: [{manager: a, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {}}]`, want: notApplied},
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []string{"VectorSidecar", "ClusterVectorSidecar"} {
				text := "apiVersion: " + v1alpha1.GroupVersion.String() + "\nkind: " + kind + "\nmetadata: {name: decoded" + separated(test.metadata) + "}\n" +
					"spec: {selector: {matchLabels: {a: b}}" + map[string]string{"ClusterVectorSidecar": ", namespaceSelector: {matchLabels: {a: b}}"}[kind] + separated(test.spec) + "}\n"
				texts := map[string]string{"YAML": text}
				if !strings.HasPrefix(name, "duplicate") || strings.Contains(name, "item") {
					json, err := yaml.YAMLToJSON([]byte(text))
					require.NoError(t, err)
					texts["JSON"] = string(json)
				}
				for format, text := range texts {
					decoded, rejections, decodeErr := decodeFile(t, kind, text)
					created, createErr := createDry(t, text)
					applyErr := applyDry(t, text)

					where := kind + " in " + format
					require.Equal(t, test.want == notDecoded, decodeErr != nil, "%s: %v", where, decodeErr)
					require.Equal(t, test.want == rejected || test.want == notDecoded, createErr != nil, "%s: kubectl create: %v", where, createErr)
					require.Equal(t, test.want != accepted, applyErr != nil, "%s: kubectl apply --server-side: %v", where, applyErr)
					if test.want == notDecoded {
						continue
					}
					require.Equal(t, test.want == rejected, rejections.CreateText() != "", "%s: %s", where, rejections.CreateText())
					require.Equal(t, test.want == notApplied, rejections.ApplyText() != "", "%s: %s", where, rejections.ApplyText())
					if test.want != rejected {
						require.Equal(t, created, decoded, where)
					}
				}
			}
		})
	}
}

func separated(fields string) string {
	if fields == "" {
		return ""
	}
	return ", " + fields
}

// decodeFile decodes a file as the plugin does, and returns the spec.
func decodeFile(t *testing.T, kind, text string) (spec any, rejections definition.Rejections, err error) {
	t.Helper()
	parsed, err := definition.Parse(map[string][]byte{"VectorSidecar": vectorsidecar.Definition, "ClusterVectorSidecar": vectorsidecar.ClusterDefinition}[kind])
	require.NoError(t, err)
	documents, err := source.Parse("a file", []byte(text), func(string) (source.Schema, error) { return parsed, nil })
	if err != nil {
		return nil, rejections, err
	}
	return specOf(t, documents[0].Object), parsed.Validate(t.Context(), []byte(text)), nil
}

// specOf returns the spec of an object, as its Go type reads it.
func specOf(t *testing.T, object runtime.Object) any {
	t.Helper()
	switch o := object.(type) {
	case *v1alpha1.VectorSidecar:
		return o.Spec
	case *v1alpha1.ClusterVectorSidecar:
		return o.Spec
	}
	require.Fail(t, "unexpected kind", "%T", object)
	return nil
}

// createDry creates the object of a file with the code of kubectl create, without storing it.
func createDry(t *testing.T, text string) (spec any, err error) {
	t.Helper()
	info := infoOf(t, text)
	helper := resource.NewHelper(info.Client, info.Mapping).WithFieldValidation(metav1.FieldValidationStrict).DryRun(true)
	created, err := helper.Create(info.Namespace, true, info.Object)
	if err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(created)
	require.NoError(t, err)
	typed := map[string]runtime.Object{"VectorSidecar": &v1alpha1.VectorSidecar{}, "ClusterVectorSidecar": &v1alpha1.ClusterVectorSidecar{}}[info.Mapping.GroupVersionKind.Kind]
	encoded, err := yaml.Marshal(content)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(encoded, typed))
	return specOf(t, typed), nil
}

// applyDry applies the object of a file with the code of kubectl apply --server-side, without storing it.
func applyDry(t *testing.T, text string) error {
	t.Helper()
	info := infoOf(t, text)
	patch, err := runtime.Encode(unstructured.UnstructuredJSONScheme, info.Object)
	require.NoError(t, err)
	helper := resource.NewHelper(info.Client, info.Mapping).WithFieldManager("kubectl").WithFieldValidation(metav1.FieldValidationStrict).DryRun(true)
	_, err = helper.Patch(info.Namespace, info.Name, types.ApplyPatchType, patch, &metav1.PatchOptions{Force: ptr.To(false)})
	return err
}

// infoOf reads the object of a file as kubectl does.
func infoOf(t *testing.T, text string) *resource.Info {
	t.Helper()
	flags := genericclioptions.NewConfigFlags(false)
	flags.WrapConfigFn = func(*rest.Config) *rest.Config { return rest.CopyConfig(world.Config) }
	infos, err := resource.NewBuilder(flags).Unstructured().ContinueOnError().NamespaceParam(metav1.NamespaceDefault).DefaultNamespace().
		Stream(bytes.NewReader([]byte(text)), "a file").Flatten().Do().Infos()
	require.NoError(t, err)
	require.Len(t, infos, 1)
	return infos[0]
}
