// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

func TestChart_InstallsAndUninstalls(t *testing.T) {
	removeDefinition(t)
	t.Cleanup(func() { takeAway(t) })
	harness.NewStandIn(t, plane, cluster, namespace).Hooks(t)
	install(t)

	require.Equal(t, "deployed", status(t).Info.Status)
	installed := objects(t, helm(t, "get", "manifest", release, "-n", namespace))
	require.Greater(t, len(installed), 10)
	for _, object := range installed {
		require.True(t, exists(t, object), "%s %q", object.GetKind(), object.GetName())
	}

	t.Run("the notes' example is accepted", func(t *testing.T) {
		_, rest, ok := strings.Cut(status(t).Info.Notes, "<<EOF\n")
		require.True(t, ok)
		example, _, ok := strings.Cut(rest, "\nEOF\n")
		require.True(t, ok)
		for _, object := range objects(t, []byte(example)) {
			apply(t, object, client.DryRunAll)
		}
	})
	t.Run("the operator may do what it needs and nothing else", operatorMay)

	helm(t, "uninstall", release, "-n", namespace)
	for _, object := range installed {
		require.Equal(t, object.GetKind() == crdKind, exists(t, object),
			"after uninstall: %s %q", object.GetKind(), object.GetName())
	}

	t.Run("a new release takes the kept definition over", func(t *testing.T) {
		install(t)
		require.Equal(t, "deployed", status(t).Info.Status)
		helm(t, "uninstall", release, "-n", namespace)
	})
	t.Run("a release elsewhere takes the kept definitions over", func(t *testing.T) {
		elsewhere := []string{"install", "two", chartDir, "-n", "b", "--create-namespace", "--set", "uninstall.hook=false"}
		_, complained, err := tryHelm(t, elsewhere...)
		require.Error(t, err)
		require.Contains(t, complained, "invalid ownership metadata")
		for _, choice := range [][]string{{"--set", "crds.enabled=false"}, {"--take-ownership"}} {
			helm(t, append(elsewhere, choice...)...)
			helm(t, "uninstall", "two", "-n", "b")
		}
		helm(t, "install", release, chartDir, "-n", namespace, "--take-ownership", "--set", "uninstall.hook=false")
		helm(t, "uninstall", release, "-n", namespace)
		kubectl(t, "annotate", "--overwrite", "crd", crdName, "clustervectorsidecars.observability.kontroloop.ai", "overlaysets.observability.kontroloop.ai",
			"meta.helm.sh/release-name=two", "meta.helm.sh/release-namespace=b")
		helm(t, elsewhere...)
		helm(t, "uninstall", "two", "-n", "b")
		helm(t, "install", release, chartDir, "-n", namespace, "--take-ownership", "--set", "uninstall.hook=false")
		helm(t, "uninstall", release, "-n", namespace)
	})
}

func install(t *testing.T) {
	t.Helper()
	helm(t, "install", release, chartDir, "-n", namespace, "--create-namespace", "-f", root+"/values/production.yaml")
}

// releaseStatus is the part of Helm's output that the tests read.
type releaseStatus struct {
	Info struct {
		Status string `json:"status"`
		Notes  string `json:"notes"`
	} `json:"info"`
}

func status(t *testing.T) releaseStatus {
	t.Helper()
	var answer releaseStatus
	require.NoError(t, json.Unmarshal(helm(t, "status", release, "-n", namespace, "-o", "json"), &answer))
	return answer
}

// removeDefinition deletes the CustomResourceDefinition and waits, so that the test installs its own.
func removeDefinition(t *testing.T) {
	t.Helper()
	definition := &unstructured.Unstructured{}
	definition.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: crdKind})
	definition.SetName(crdName)
	ctx := context.WithoutCancel(t.Context())
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		err := cluster.Delete(ctx, definition.DeepCopy())
		return err != nil, client.IgnoreNotFound(err)
	})
	require.NoError(t, err)
}
