// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/strvals"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
)

// helm lint and the API server accept the chart with the values file of each environment in values/.
func TestChart_AcceptsValuesOfEachEnvironment(t *testing.T) {
	for name, file := range environments(t) {
		t.Run(name, func(t *testing.T) {
			helm(t, "lint", "--strict", chartDir, "-f", file)
			values, err := chartutil.ReadValuesFile(file)
			require.NoError(t, err)
			requireAccepted(t, values)
		})
	}
}

// The tool chart-testing (ct) can install the chart with each values file in its directory ci.
func TestChart_AcceptsValuesForChartTesting(t *testing.T) {
	files, err := filepath.Glob(chartDir + "/ci/*-values.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			helm(t, "lint", "--strict", chartDir, "-f", file)
			values, err := chartutil.ReadValuesFile(file)
			require.NoError(t, err)
			requireAccepted(t, values)
		})
	}
}

// The notes of the chart print a VectorSidecar. It collects the log files of the sample application.
func TestChart_NotesShowWorkingVectorSidecar(t *testing.T) {
	notes := render(t, load(t), nil)["vector-sidecar-operator/templates/NOTES.txt"]
	_, example, _ := strings.Cut(notes, "kubectl apply -f - <<EOF\n")
	example, _, ok := strings.Cut(example, "\nEOF\n")
	require.True(t, ok, notes)
	require.Contains(t, notes, "kubectl label deployment YOUR-DEPLOYMENT logs=vector -n default")
	file := filepath.Join(t.TempDir(), "sidecar.yaml")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(example, "namespace: default", "namespace: shop", 1)), 0o600))

	var out bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}
	builtin := cli.Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}
	require.Zero(t, cli.Run(t.Context(), []string{"lint", file}, streams, builtin, "test"), "%s", &out)
	arguments := []string{"render", "-f", root + "/docs/samples/app/deployment.yaml", "--sidecar", file, "--label", "logs=vector"}
	require.Zero(t, cli.Run(t.Context(), arguments, streams, builtin, "test"), "%s", &out)
	require.Regexp(t, `include:\s+- /var/log/app/\*\.log\n(?s:.*)type: file\n`, out.String())
}

// Each case sets several values together. The rendered objects are accepted.
func TestChart_AcceptsCombinationsOfValues(t *testing.T) {
	monitored := "monitoring.enabled=true,monitoring.render=alwaysRender"
	for name, values := range map[string]string{
		"in certain namespaces":            "watchNamespaces={shop,pay}",
		"in certain namespaces, monitored": "watchNamespaces={shop,pay},networkPolicy.enabled=true," + monitored,
		"nothing but the operator":         "crds.enabled=false,rbac.create=false,serviceAccount.create=false,metrics.enabled=false,leaderElection.enabled=false,admissionPolicy.enabled=false",
		"monitored through pods":           monitored + ",monitoring.operator.kind=PodMonitor,monitoring.operator.credentials.name=t,monitoring.operator.credentials.key=t",
		"certified by cert-manager":        monitored + ",metrics.certificate.source=certManager,metrics.certificate.issuerRef.name=ca",
		"judged at admission":              "admissionWebhook.enabled=true,watchNamespaces={shop},networkPolicy.enabled=true,networkPolicy.webhookFrom=anywhere",
		"judged by cert-manager's leave":   "admissionWebhook.enabled=true,admissionWebhook.certificate.source=certManager,admissionWebhook.certificate.issuerRef.name=ca",
		"with a certificate of its own":    monitored + ",metrics.certificate.source=secret,metrics.certificate.secretName=mine",
		"traced and reported":              "networkPolicy.enabled=true,tracing.endpoint=http://collector:4317,sentry.secretName=sentry",
		"labeled all over":                 monitored + ",networkPolicy.enabled=true,podDisruptionBudget.enabled=true,commonLabels.team=platform,commonAnnotations.team=platform",
		"left without its sidecars":        "uninstall.policy=orphan,watchNamespaces={shop}",
		"not to be left":                   "uninstall.policy=block,leaderElection.enabled=false",
	} {
		t.Run(name, func(t *testing.T) {
			given, err := strvals.Parse(values)
			require.NoError(t, err)
			requireAccepted(t, given)
		})
	}
}

// requireAccepted requires that the API server accepts all rendered objects, and that all pods meet the Pod
// Security Standard.
func requireAccepted(t *testing.T, values map[string]any) {
	t.Helper()
	all := objects(t, join(render(t, load(t), values, monitoringKinds...)))
	createDependencies(t, all)
	for _, object := range all {
		apply(t, object, client.DryRunAll)
	}
	requireRestricted(t, ofKind[appsv1.Deployment](t, all, "Deployment").Spec.Template)
	requireRestricted(t, ofKind[batchv1.Job](t, all, "Job").Spec.Template)
	pod := ofKind[corev1.Pod](t, all, "Pod")
	requireRestricted(t, corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec})
}

// The CustomResourceDefinition of the chart is the one that controller-gen generates.
func TestDefinition_EqualsOutputOfControllerGen(t *testing.T) {
	text, err := os.ReadFile(chartDir + "/files/crds/" + crdFile)
	require.NoError(t, err)
	var generated apiextensionsv1.CustomResourceDefinition
	require.NoError(t, yaml.UnmarshalStrict(text, &generated))

	all := objects(t, join(render(t, load(t), nil)))
	rendered := findDefinition(t, all)
	require.Equal(t, crdName, rendered.Name)
	require.Equal(t, generated.Spec, rendered.Spec)

	// kubectl apply without --server-side stores a copy in an annotation, and an object may have 256 KiB of
	// annotations.
	size, err := json.Marshal(rendered)
	require.NoError(t, err)
	require.Less(t, len(size), 200<<10, "shorten the descriptions: maxDescLen in the Makefile")
}

// createDependencies installs objects that the others need to be accepted: the CustomResourceDefinition unless it
// exists, which stays until a release adopts it, and for the duration of the test the ServiceAccounts of pods.
func createDependencies(t *testing.T, all []*unstructured.Unstructured) {
	t.Helper()
	for _, object := range all {
		if object.GetKind() != crdKind || exists(t, object) {
			continue
		}
		definition := object.DeepCopy()
		annotations := definition.GetAnnotations()
		annotations["meta.helm.sh/release-name"], annotations["meta.helm.sh/release-namespace"] = release, namespace
		definition.SetAnnotations(annotations)
		apply(t, definition)
	}
	withAccounts(t, all)
}

func withAccounts(t *testing.T, all []*unstructured.Unstructured) {
	t.Helper()
	for _, object := range all {
		if object.GetKind() == "ServiceAccount" {
			apply(t, object)
			t.Cleanup(func() {
				require.NoError(t, client.IgnoreNotFound(cluster.Delete(context.WithoutCancel(t.Context()), object.DeepCopy())))
			})
		}
	}
}

func requireRestricted(t *testing.T, template corev1.PodTemplateSpec) {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &template.ObjectMeta, &template.Spec))
	require.True(t, result.Allowed, result.ForbiddenDetail())
	for _, container := range template.Spec.Containers {
		// The Pod Security Standard does not require this; the chart sets it.
		require.True(t, *container.SecurityContext.ReadOnlyRootFilesystem, container.Name)
	}
}
