// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecarchart

import (
	"encoding/json"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// node is the part of a JSON schema that is looked at.
type node struct {
	Description          string          `json:"description"`
	Properties           map[string]node `json:"properties"`
	Items                *node           `json:"items"`
	AdditionalProperties json.RawMessage `json:"additionalProperties"`
}

func schema(t *testing.T) node {
	t.Helper()
	var top node
	require.NoError(t, json.Unmarshal(read(t, "values.schema.json"), &top))
	return top
}

func values(t *testing.T) map[string]any {
	t.Helper()
	var tree map[string]any
	require.NoError(t, yaml.Unmarshal(read(t, "values.yaml"), &tree))
	return tree
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := fs.ReadFile(vectorsidecar.FS, name)
	require.NoError(t, err)
	return text
}

// layerFields are the fields of a VectorSidecar's spec that are a layer of values.
var layerFields = []string{"sidecar", "initContainers", "volumes", "values"}

// fieldsOf finds the paths of a type's leaves: the fields that are not structs of
// this API.
func fieldsOf(of reflect.Type, path string, found map[string]bool) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || !strings.HasSuffix(of.PkgPath(), "/api/v1alpha1") {
		found[path] = true
		return
	}
	for i := range of.NumField() {
		key, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		fieldsOf(of.Field(i).Type, path+"."+key, found)
	}
}

// leaves are the paths of what a VectorSidecar may say of values.
func leaves(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	spec := reflect.TypeFor[v1alpha1.VectorSidecarSpec]()
	for _, name := range layerFields {
		i := slices.IndexFunc(reflect.VisibleFields(spec), func(f reflect.StructField) bool {
			return strings.HasPrefix(f.Tag.Get("json"), name+",")
		})
		require.GreaterOrEqual(t, i, 0, name)
		fieldsOf(spec.Field(i).Type, name, found)
	}
	return found
}

// until finds the paths of a tree down to the leaves of the API.
func until(apiLeaves map[string]bool, keys func(path string) []string, path string, found map[string]bool) {
	below := keys(path)
	if apiLeaves[path] || len(below) == 0 {
		found[path] = true
		return
	}
	for _, key := range below {
		until(apiLeaves, keys, path+"."+key, found)
	}
}

// The spec of a VectorSidecar, values.yaml and its schema have the same keys.
func TestSchema_HasKeysOfValuesAndAPI(t *testing.T) {
	inAPI, inSchema, inValues := leaves(t), map[string]bool{}, map[string]bool{}
	top, tree := schema(t), values(t)
	for _, field := range layerFields {
		until(inAPI, func(path string) []string { return slices.Collect(maps.Keys(at(top, path).Properties)) }, field, inSchema)
		until(inAPI, func(path string) []string { return slices.Collect(maps.Keys(branch(tree, path))) }, field, inValues)
	}

	require.Equal(t, slices.Sorted(maps.Keys(inAPI)), slices.Sorted(maps.Keys(inSchema)), "the fields of a VectorSidecar, and values.schema.json")
	require.Equal(t, slices.Sorted(maps.Keys(inAPI)), slices.Sorted(maps.Keys(inValues)), "the fields of a VectorSidecar, and values.yaml")
}

// The schema and values.yaml have the same keys below global, which only the platform team can set.
func TestSchema_HasGlobalKeysOfValues(t *testing.T) {
	inSchema, inValues := map[string]bool{}, map[string]bool{}
	top, tree := schema(t), values(t)
	until(nil, func(path string) []string { return slices.Collect(maps.Keys(at(top, path).Properties)) }, "global", inSchema)
	until(nil, func(path string) []string { return slices.Collect(maps.Keys(branch(tree, path))) }, "global", inValues)
	require.Equal(t, slices.Sorted(maps.Keys(inSchema)), slices.Sorted(maps.Keys(inValues)))
}

func at(top node, path string) node {
	for _, key := range strings.Split(path, ".") {
		top = top.Properties[key]
	}
	return top
}

func branch(tree map[string]any, path string) map[string]any {
	for _, key := range strings.Split(path, ".") {
		tree, _ = tree[key].(map[string]any)
	}
	return tree
}

func TestSchema_DescribesEveryKey(t *testing.T) {
	var walk func(path string, n node)
	walk = func(path string, n node) {
		for _, key := range slices.Sorted(maps.Keys(n.Properties)) {
			require.NotEmpty(t, n.Properties[key].Description, "%s.%s", path, key)
			walk(path+"."+key, n.Properties[key])
		}
		if n.Items != nil {
			walk(path+"[]", *n.Items)
		}
		var additional node
		if json.Unmarshal(n.AdditionalProperties, &additional) == nil {
			walk(path+".*", additional)
		}
	}
	walk("", schema(t))
}

func TestSchema_RejectsUnknownKeys(t *testing.T) {
	for path := range leaves(t) {
		parent := path[:max(strings.LastIndex(path, "."), 0)]
		if parent != "" {
			require.JSONEq(t, "false", string(at(schema(t), parent).AdditionalProperties), "%q is open", parent)
		}
	}
}

// other has another valid value for every key, and what has to be set for the key
// to matter. A key that is added to values.yaml is added here.
var other = map[string]struct{ value, with string }{
	"sidecar.name":                      {value: `shipper`},
	"sidecar.image":                     {value: `registry.example/vector:1`},
	"sidecar.imagePullPolicy":           {value: `Always`},
	"sidecar.imagePullSecrets":          {value: "[registry]"},
	"sidecar.native":                    {value: `Never`},
	"sidecar.reload":                    {value: "Live"},
	"sidecar.config.configMapRef.name":  {value: `shipping`},
	"sidecar.config.configMapRef.key":   {value: `agent.toml`, with: `sidecar: {config: {configMapRef: {name: shipping}}}`},
	"sidecar.config.inline":             {value: `"sources: {}"`},
	"sidecar.logs.path":                 {value: `/var/log`, with: mountsLogs},
	"sidecar.logs.include":              {value: `["*.json"]`, with: mountsLogs},
	"sidecar.logs.fingerprint.strategy": {value: `DeviceAndInode`, with: mountsLogs},
	"sidecar.logs.fingerprint.lines":    {value: `2`, with: mountsLogs},
	"sidecar.logs.ignoreOlderSeconds":   {value: `3600`, with: mountsLogs},
	"sidecar.logs.maxLineBytes":         {value: `65536`, with: mountsLogs},
	"sidecar.logs.cleanup.rotated":      {value: `["*.log.*"]`, with: cleansLogs(`[]`)},
	"sidecar.logs.cleanup.removeAfter":  {value: `2h`, with: cleansLogs(`["*.log.*"]`)},
	"sidecar.logs.containers":           {value: `["*"]`, with: sharesLogs},
	"sidecar.logs.sizeLimit":            {value: `1Gi`, with: sharesLogs},
	"sidecar.config.raw":                {value: `{sources: {own: {type: internal_logs}}}`},
	"sidecar.socket.enabled":            {value: `true`},
	"sidecar.socket.mode":               {value: `udp`, with: `sidecar: {socket: {enabled: true}}`},
	"sidecar.socket.port":               {value: `5171`, with: `sidecar: {socket: {enabled: true}}`},
	"sidecar.socket.path":               {value: `/run/lines/in.sock`, with: `{sidecar: {socket: {enabled: true, mode: unix}}, target: {containers: [{name: app}]}}`},
	"sidecar.socket.containers":         {value: `[app]`, with: `{sidecar: {socket: {enabled: true, mode: unix}}, target: {containers: [{name: app}, {name: web}]}}`},
	"sidecar.socket.codec":              {value: `json`, with: `sidecar: {socket: {enabled: true}}`},
	"sidecar.secrets":                   {value: `{store: credentials}`},
	"sidecar.otlp.enabled":              {value: `true`},
	"sidecar.otlp.grpcPort":             {value: `14317`, with: `sidecar: {otlp: {enabled: true}}`},
	"sidecar.otlp.httpPort":             {value: `14318`, with: `sidecar: {otlp: {enabled: true}}`},
	"sidecar.metrics.enabled":           {value: `false`, with: `sidecar: {otlp: {enabled: true}}`},
	"sidecar.metrics.port":              {value: `9599`},
	"sidecar.health.probe":              {value: `Never`},
	"sidecar.applicationEnv.containers": {value: `[app]`, with: tells},
	"sidecar.applicationEnv.otlp":       {value: `http/protobuf`, with: tells},
	"sidecar.applicationEnv.socket":     {value: `LOG_ADDRESS`, with: tells},
	"sidecar.health.port":               {value: `8687`},
	"sidecar.sinks":                     {value: `{store: {type: blackhole}}`, with: `sidecar: {otlp: {enabled: true}}`},
	"sidecar.logLevel":                  {value: `error`},
	"sidecar.threads":                   {value: `3`},
	"sidecar.shutdown.drainSeconds":     {value: `6`},
	"sidecar.shutdown.method":           {value: `Gate`, with: mountsLogs},
	"sidecar.shutdown.gate.image":       {value: `registry.example/gate:1`, with: gates},
	"sidecar.shutdown.gate.resources":   {value: `{limits: {memory: 12Mi}}`, with: gates},
	"sidecar.shutdown.limitSeconds":     {value: `21`},
	"sidecar.data.sizeLimit":            {value: `1Gi`},
	"sidecar.data.evictable":            {value: `Never`},
	"sidecar.args":                      {value: `[--quiet]`},
	"sidecar.env":                       {value: `[{name: A, value: b}]`},
	"sidecar.envFrom":                   {value: `[{secretRef: {name: s}}]`},
	"sidecar.volumeMounts":              {value: `[{name: v, mountPath: /v}]`},
	"sidecar.resources":                 {value: `{limits: {memory: 1Gi}}`},
	"sidecar.qos":                       {value: `Keep`, with: `target: {qosClass: Guaranteed}`},
	"sidecar.user":                      {value: `Platform`},
	"sidecar.nodeAgents":                {value: `Exclude`},
	"sidecar.podAnnotations":            {value: `{example.com/team: logs}`},
	"sidecar.podLabels":                 {value: `{example.com/tier: logs}`},
	"sidecar.securityContext":           {value: `{runAsUser: 1000}`},
	"initContainers":                    {value: `[{name: i}]`},
	"volumes":                           {value: `[{name: v, emptyDir: {}}]`},

	"global.aggregator.address":          {value: `"aggregator:6000"`, with: `sidecar: {otlp: {enabled: true}}`},
	"global.imageRegistry":               {value: `mirror.example`},
	"global.ipFamily":                    {value: `IPv6`},
	"global.nodeAgentAnnotations":        {value: `[]`, with: `sidecar: {nodeAgents: Exclude}`},
	"global.aggregator.acknowledgements": {value: `false`, with: `{global: {aggregator: {address: "aggregator:6000"}}, sidecar: {otlp: {enabled: true}}}`},
}

const (
	mountsLogs = `{sidecar: {logs: {path: /var/log/app}}, target: {containers: [{name: app, volumeMounts: [{name: l, mountPath: /var/log}]}]}}`
	tells      = `sidecar: {otlp: {enabled: true}, socket: {enabled: true}, applicationEnv: {otlp: grpc}}`
	gates      = `{sidecar: {shutdown: {method: Gate}, logs: {path: /var/log/app}}, target: {containers: [{name: app, volumeMounts: [{name: l, mountPath: /var/log}]}]}}`
	sharesLogs = `{sidecar: {logs: {path: /var/log/app, containers: [app]}}, target: {containers: [{name: app, volumeMounts: []}, {name: web, volumeMounts: []}]}}`
)

// cleansLogs has files removed that match patterns, acknowledged or not.
func cleansLogs(patterns string) string {
	return strings.Replace(mountsLogs, "path: /var/log/app", "path: /var/log/app, cleanup: {evenUnacknowledged: true, rotated: "+patterns+"}", 1)
}

// operators are values that the operator reads, and no template, or that only decide whether it
// refuses; tests of internal/decision, and refused_test.yaml, try them.
var operators = []string{
	"sidecar.logs.cleanup.evenUnacknowledged",
	"sidecar.config.check",
	"sidecar.config.validateJob.enabled", "sidecar.config.validateJob.deadlineSeconds", "sidecar.config.validateJob.whenUnable",
}

// Each key of values.yaml changes the rendered sidecar.
func TestValues_EachChangeRenderedSidecar(t *testing.T) {
	chart, err := render.LoadChart(vectorsidecar.FS)
	require.NoError(t, err)
	known := leaves(t)
	delete(known, "values") // It is for customized templates.
	until(nil, func(path string) []string { return slices.Collect(maps.Keys(at(schema(t), path).Properties)) }, "global", known)
	for _, path := range operators {
		delete(known, path)
	}
	for path := range known {
		require.Contains(t, other, path, "values.yaml has a key that is not tried here")
	}
	for path, test := range other {
		t.Run(path, func(t *testing.T) {
			require.True(t, known[path], "values.yaml has no such key")
			if test.with == "" {
				test.with = "{}"
			}
			before := execute(t, chart, "development", test.with)
			after := execute(t, chart, "development", test.with, nested(path, test.value))
			require.NotEqual(t, before, after)
		})
	}
}

// nested is a values file with one key.
func nested(path, value string) string {
	keys := strings.Split(path, ".")
	return "{" + strings.Join(keys, ": {") + ": " + value + strings.Repeat("}", len(keys))
}
