// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// ownValues is the example of the README, with more keys of the installation.
const ownValues = `replicas: 2
sidecar:
  sinks:
    store:
      type: http
      uri: https://logs.example.com/ingest
environments:
  gone: null
  qa:
    sidecar:
      logLevel: debug
      resources:
        requests:
          cpu: 20m
`

// As with helm install, keys at the top level of a values file are for the environment of the installation. Keys below
// environments are for the environment that they name.
func TestNewRender_ReadsValuesLikeInstallation(t *testing.T) {
	for name, test := range map[string]struct {
		values    string
		arguments []string
		has       []string
		lacks     string
	}{
		"another environment":                        {values: ownValues, arguments: []string{"--environment", "qa"}, has: []string{"value: debug", "cpu: 20m"}, lacks: "logs.example.com"},
		"that of the installation":                   {values: ownValues, arguments: []string{"--environment", "staging"}, has: []string{"logs.example.com"}, lacks: "cpu: 20m"},
		"that of the installation, as the file says": {values: "environment: production\n" + ownValues, has: []string{"logs.example.com", "value: warn"}, lacks: "cpu: 20m"},
		"one that the file is not for":               {values: "environment: production\n" + ownValues, arguments: []string{"--environment", "staging"}, has: []string{"value: info"}, lacks: "logs.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			files := shopFiles(t)
			files["cart.yaml"] = text(t, objects.NewDeployment("cart", "shop").Labeled("logs", "vector").WithEmptyDir("logs", "/var/log/app").Build())
			files["logs.yaml"] = text(t, objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").WithLogs("/var/log/app").Build())
			files["values.yaml"] = test.values
			out, err := run(t, files, slices.Concat(renderCart, []string{"--values", "values.yaml"}, test.arguments)...)
			require.NoError(t, err)
			for _, part := range test.has {
				require.Contains(t, out, part)
			}
			require.NotContains(t, out, test.lacks)
		})
	}
}

// Messages about a value have its line in the whole file, although each environment of the file is read separately.
func TestNewRender_NamesLineOfValue(t *testing.T) {
	files := shopFiles(t)
	files["cart.yaml"] = text(t, objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Build())
	files["values.yaml"] = ownValues
	arguments := slices.Concat(renderCart, []string{"--values", "values.yaml", "--environment", "qa"})

	out, err := run(t, files, append(arguments, "--explain-values")...)
	require.NoError(t, err)
	require.Regexp(t, `sidecar.logLevel +"debug" +values.yaml qa.yaml:11\n`, out)

	files["values.yaml"] = ownValues + "      imagePullPolice: Always\n"
	_, err = run(t, files, arguments...)
	require.ErrorContains(t, err, "values.yaml qa.yaml:15: sidecar.imagePullPolice: unknown key")
}

// All values of the command line are merged with the same precedence as in helm. The name of the environment is read
// from the result.
func TestReadValues_MergesAsHelm(t *testing.T) {
	for name, test := range map[string]struct {
		files     map[string]string
		arguments []string
		has       []string
		lacks     string
	}{
		"two files": {
			files:     map[string]string{"a.yaml": "sidecar: {logLevel: debug, image: registry.example/vector:a}", "b.yaml": "sidecar: {image: registry.example/vector:b}"},
			arguments: []string{"--values", "a.yaml", "--values", "b.yaml"},
			has:       []string{"value: debug", "registry.example/vector:b"}, lacks: "vector:a",
		},
		"list in one flag": {
			files:     map[string]string{"a.yaml": "sidecar: {logLevel: debug}", "b.yaml": "sidecar: {image: registry.example/vector:b}"},
			arguments: []string{"--values", "a.yaml,b.yaml"},
			has:       []string{"value: debug", "registry.example/vector:b"},
		},
		"environment of the last file, values of the first": {
			files:     map[string]string{"a.yaml": "environments: {production: {sidecar: {logLevel: trace}}}", "b.yaml": "environment: production"},
			arguments: []string{"--values", "a.yaml", "--values", "b.yaml"},
			has:       []string{"value: trace", `.environment = "production"`},
		},
		"environment by --set": {
			files:     map[string]string{"a.yaml": "environment: staging\nsidecar: {logLevel: trace}"},
			arguments: []string{"--values", "a.yaml", "--set", "environment=production"},
			has:       []string{"value: trace", `.environment = "production"`},
		},
		"set over files": {
			files:     map[string]string{"a.yaml": "sidecar: {logLevel: debug}"},
			arguments: []string{"--set", "sidecar.logLevel=error,sidecar.image=registry.example/vector:s", "--values", "a.yaml"},
			has:       []string{"value: error", "registry.example/vector:s"},
		},
		"set alone":   {arguments: []string{"--set", "sidecar.logLevel=error"}, has: []string{"value: error"}},
		"set twice":   {arguments: []string{"--set", "sidecar.logLevel=error", "--set", "sidecar.image=registry.example/vector:s"}, has: []string{"value: error", "registry.example/vector:s"}},
		"set an item": {files: map[string]string{"a.yaml": "sidecar: {env: [{name: A, value: a}, {name: B, value: b}]}"}, arguments: []string{"--values", "a.yaml", "--set", "sidecar.env[1].value=new"}, has: []string{"value: a\n", "value: new\n"}, lacks: "value: b\n"},
		"set-string":  {arguments: []string{"--set", "sidecar.env[0].name=A", "--set-string", "sidecar.env[0].value=12"}, has: []string{`value: "12"`}},
		"set-file":    {files: map[string]string{"value.txt": "from a file"}, arguments: []string{"--set", "sidecar.env[0].name=A", "--set-file", "sidecar.env[0].value=value.txt"}, has: []string{"value: from a file"}},
		"null deletes": {
			files:     map[string]string{"a.yaml": "sidecar: {sinks: {store: {type: http, uri: https://logs.example.com}}}"},
			arguments: []string{"--values", "a.yaml", "--set", "sidecar.sinks.store=null"},
			lacks:     "logs.example.com",
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := shopFiles(t)
			files["cart.yaml"] = text(t, objects.NewDeployment("cart", "shop").Labeled("logs", "vector").WithEmptyDir("logs", "/var/log/app").Build())
			files["logs.yaml"] = text(t, objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").WithLogs("/var/log/app").Build())
			maps.Copy(files, test.files)
			out, err := run(t, files, slices.Concat(renderCart, test.arguments)...)
			require.NoError(t, err)
			for _, part := range test.has {
				require.Contains(t, out, part)
			}
			if test.lacks != "" {
				require.NotContains(t, out, test.lacks)
			}
		})
	}
}

func TestReadValues_NamesOriginOfEachValue(t *testing.T) {
	files := shopFiles(t)
	files["cart.yaml"] = text(t, objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Build())
	files["a.yaml"] = "sidecar:\n  logLevel: debug\n"
	files["b.yaml"] = "\n\nsidecar:\n  image: registry.example/vector:b\n"
	arguments := slices.Concat(renderCart, []string{"--values", "a.yaml", "--values", "b.yaml", "--set", "sidecar.name=vector"})

	out, err := run(t, files, append(arguments, "--explain-values")...)
	require.NoError(t, err)
	require.Regexp(t, `sidecar.logLevel +"debug" +a.yaml:2\n`, out)
	require.Regexp(t, `sidecar.image +"registry.example/vector:b" +b.yaml:4\n`, out)
	require.Regexp(t, `sidecar.name +"vector" +--set\n`, out)

	files["b.yaml"] += "  imagePullPolice: Always\n"
	_, err = run(t, files, arguments...)
	require.ErrorContains(t, err, "b.yaml:5: sidecar.imagePullPolice: unknown key")
}

func TestReadValues_RejectsInvalidFlags(t *testing.T) {
	for name, test := range map[string]struct {
		arguments []string
		says      string
	}{
		"syntax":                     {[]string{"--set", "sidecar.logLevel"}, `--set "sidecar.logLevel"`},
		"item of a map":              {[]string{"--set", "sidecar[0]=x", "--values", "a.yaml"}, `--set "sidecar[0]=x"`},
		"large list":                 {[]string{"--set", "sidecar.args[40000]=x"}, "lists with 40000 items, more than"},
		"many large lists":           {[]string{"--set", "a[20000]=x,b[20000]=x"}, "lists with 40000 items, more than"},
		"no file":                    {[]string{"--values", "a.yaml", "--values", "none.yaml"}, "none.yaml"},
		"no file of --set-file":      {[]string{"--set-file", "sidecar.logLevel=none.txt"}, "none.txt"},
		"standard input twice":       {[]string{"--values", "-", "--values", "-"}, "the standard input (-) is named more than once"},
		"standard input and objects": {[]string{"--values", "-", "-f", "-"}, "the standard input (-) is named more than once"},
		"templates twice":            {[]string{"--templates", "a", "--templates", "b"}, `already set to "a"`},
		"environment twice":          {[]string{"--environment", "a", "--environment", "b"}, `already set to "a"`},
		"namespace twice":            {[]string{"-n", "a", "--namespace", "b"}, `already set to "a"`},
		"boolean twice":              {[]string{"-R", "--recursive=false"}, `already set to "true"`},
		"label twice":                {[]string{"--label", "a=1", "--label", "b=1,a=2"}, `label a is already set to "1"`},
	} {
		t.Run(name, func(t *testing.T) {
			files := shopFiles(t)
			files["a.yaml"] = "sidecar: {logLevel: debug}"
			_, err := run(t, files, slices.Concat(renderCart, test.arguments)...)
			require.ErrorContains(t, err, test.says)
		})
	}
}

// All commands that render have the same flags.
func TestRenderFlags_AreEqualInAllCommands(t *testing.T) {
	root := New(genericiooptions.NewTestIOStreamsDiscard(), Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test")
	for _, name := range []string{"render", "diff", "plan", "explain", "inject", "tree", "lint", "test", "validate"} {
		command, _, err := root.Find([]string{name})
		require.NoError(t, err)
		for _, flag := range []string{"environment", "values", "set", "set-string", "set-file", "templates", "kube-version", "kubelet-version", "ip-family", "platform"} {
			require.NotNil(t, command.Flags().Lookup(flag), "%s --%s", name, flag)
		}
	}
}
