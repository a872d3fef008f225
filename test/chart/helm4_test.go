// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// helm4 runs Helm 4, as helm runs Helm 3.
func helm4(t *testing.T, args ...string) []byte {
	t.Helper()
	stdout, stderr, err := tryProgram(t, "helm4", args...)
	require.NoError(t, err, "helm4 %s\n%s%s", strings.Join(args, " "), stdout, stderr)
	return []byte(stdout)
}

// Both versions render the same objects, except for defaults that are null: Helm 4 leaves them out, and the operator reads
// null as a missing key.
func TestChart_RendersEqualObjectsWithHelm4(t *testing.T) {
	t.Parallel()
	const all = "admissionInjection.enabled=true,admissionWebhook.enabled=true,networkPolicy.enabled=false,monitoring.enabled=true,monitoring.render=alwaysRender,sidecar.sinks.console=null"
	for name, file := range environments(t) {
		t.Run(name, func(t *testing.T) {
			args := []string{"template", release, chartDir, "-n", namespace, "--kube-version", "1.36.0", "-f", file, "--set", all}
			want, got := objects(t, helm(t, args...)), objects(t, helm4(t, args...))
			require.Len(t, got, len(want))
			byName := map[string]*unstructured.Unstructured{}
			for _, object := range got {
				byName[object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName()] = object
			}
			for _, object := range want {
				key := object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
				require.Contains(t, byName, key)
				require.Equal(t, contentOf(t, object), contentOf(t, byName[key]), key)
			}
		})
	}
}

// contentOf returns the content of an object with the policy and the rollout rules decoded, without null.
func contentOf(t *testing.T, object *unstructured.Unstructured) map[string]any {
	t.Helper()
	data, _, err := unstructured.NestedStringMap(object.Object, "data")
	if err != nil || object.GetKind() != "ConfigMap" || !strings.HasSuffix(object.GetName(), "-environments") {
		return object.Object
	}
	decoded := map[string]any{}
	for key, text := range data {
		var value map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(text), &value))
		if key == "policy" || key == "rollout" {
			dropNull(value)
		}
		decoded[key] = value
	}
	content := object.DeepCopy().Object
	content["data"] = decoded
	return content
}

func dropNull(values map[string]any) {
	for key, value := range values {
		if value == nil {
			delete(values, key)
		} else if below, ok := value.(map[string]any); ok {
			dropNull(below)
		}
	}
}

// Helm 4 installs a release, and upgrades one of Helm 3.
func TestChart_InstallsAndUpgradesWithHelm4(t *testing.T) {
	t.Cleanup(func() { takeAway(t) })
	harness.NewStandIn(t, plane, cluster, namespace).Hooks(t)
	args := []string{release, chartDir, "-n", namespace, "--create-namespace", "-f", root + "/values/production.yaml"}
	for name, install := range map[string]func(*testing.T, ...string) []byte{"of Helm 3": helm, "of Helm 4": helm4} {
		t.Run(name, func(t *testing.T) {
			install(t, append([]string{"install"}, args...)...)
			helm4(t, append(append([]string{"upgrade"}, args...), "--set", "logLevel=WARN")...)
			installed := objects(t, helm4(t, "get", "manifest", release, "-n", namespace))
			require.Greater(t, len(installed), 10)
			for _, object := range installed {
				require.True(t, exists(t, object), "%s %q", object.GetKind(), object.GetName())
			}
			helm4(t, "uninstall", release, "-n", namespace)
			for _, object := range installed {
				require.Equal(t, object.GetKind() == crdKind, exists(t, object), "after uninstall: %s %q", object.GetKind(), object.GetName())
			}
		})
	}
}
