// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/freeport"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// judging returns the settings of the admission webhook at a port. The shutdown delay is shorter than the default,
// which is for clusters with real nodes.
func judging(port int) string {
	return fmt.Sprintf("admissionWebhook.enabled=true,admissionWebhook.port=%d,extraArgs={--webhook-shutdown-delay=1s}", port)
}

// installWebhook installs the chart with the admission webhook, and waits until it answers. Without kubelets and proxies,
// the API server reaches the operator by a Service with the name of this machine. Names, certificates, permissions
// and the configuration are as the chart and the operator create them. The tests do not cover how a Service finds
// its pods.
func installWebhook(t *testing.T, args ...string) *installation {
	t.Helper()
	return installWebhookBy(t, helm, append([]string{"--set", judging(freeport.PortForTest(t))}, args...)...)
}

// installWebhookBy does the same as installWebhook with a version of Helm and all settings.
func installWebhookBy(t *testing.T, helm helmVersion, args ...string) *installation {
	t.Helper()
	i := installedBy(t, helm, chartDir, args...)
	kubectl(t, "patch", "service", fullname+"-webhook", "-n", namespace, "-p", `{"spec":{"type":"ExternalName","externalName":"localhost"}}`)
	awaitWebhook(t)
	return i
}

// awaitWebhook waits until the webhook accepts and rejects VectorSidecars.
func awaitWebhook(t *testing.T) {
	t.Helper()
	good := example.NewVectorSidecar("good", "shop").Selecting("logs", "none").Build()
	bad := example.NewVectorSidecar("bad", "shop").Selecting("logs", "none").WithInlineConfig("sources: [").Build()
	var err error
	harness.Eventually(t, "a response of the webhook", func() bool {
		if err = cluster.Create(t.Context(), good.DeepCopy(), client.DryRunAll); err != nil {
			return false
		}
		err = cluster.Create(t.Context(), bad.DeepCopy(), client.DryRunAll)
		return apierrors.IsInvalid(err)
	})
}

// warned runs a function and returns the API server's warnings.
func warned(t *testing.T, do func(client.Client) error) string {
	t.Helper()
	heard := &warnings{}
	config := plane.Config()
	config.WarningHandler = heard
	c, err := client.New(config, client.Options{Scheme: cluster.Scheme()})
	require.NoError(t, err)
	require.NoError(t, do(c))
	return strings.Join(heard.texts, "\n")
}

type warnings struct{ texts []string }

var _ rest.WarningHandler = &warnings{}

// HandleWarningHeader records a warning.
func (w *warnings) HandleWarningHeader(_ int, _, text string) { w.texts = append(w.texts, text) }

// configured returns a configuration of demonstration logs with a sink.
func configured(sink string) string {
	return "sources:\n  in:\n    type: demo_logs\n    format: json\nsinks:\n  out:\n    " + strings.ReplaceAll(sink, "\n", "\n    ") + "\n"
}

// sinks returns one sink for the rendered configuration.
func sinks(out string) map[string]apiextensionsv1.JSON {
	return map[string]apiextensionsv1.JSON{"out": {Raw: []byte(out)}}
}

func TestWebhook_ValidatesVectorSidecar(t *testing.T) {
	installWebhook(t)
	cart, logs := injected(t)
	yes := true
	otlp := func(s *v1alpha1.SidecarSpec) { s.OTLP = &v1alpha1.OTLPSpec{Enabled: &yes} }
	selecting := func(value string) *example.VectorSidecar {
		return example.NewVectorSidecar("tried", "shop").Selecting("logs", value)
	}
	world.Create(t, example.NewDeployment("other", "shop").Labeled("logs", "later").Build())
	// When this is reported, the operator has read the objects that the webhook needs.
	harness.Eventually(t, "the existing sidecar in the operator's cache", func() bool {
		return apierrors.IsInvalid(cluster.Create(t.Context(), selecting("vector").Named("second").Build(), client.DryRunAll))
	})
	harness.Eventually(t, "the other Deployment in the operator's cache", func() bool {
		return strings.Contains(warned(t, func(c client.Client) error {
			return c.Create(t.Context(), selecting("later").Build(), client.DryRunAll)
		}), "shop/other")
	})

	for name, test := range map[string]struct {
		sidecar *v1alpha1.VectorSidecar
		says    []string
	}{
		"a broken configuration, with its line and help": {
			selecting("none").WithInlineConfig(configured("type: consol\ninputs: [in]")).Build(),
			[]string{"VectorSidecar shop/tried spec.sidecar.config.inline:7:11: sinks.out.type", `did you mean "console"`},
		},
		"the same where there is something to inject into": {
			selecting("later").WithInlineConfig(configured("type: consol\ninputs: [in]")).Build(),
			[]string{"spec.sidecar.config.inline:7:11: sinks.out.type"},
		},
		"what would be rendered, before there is a Deployment": {
			selecting("none").WithLogs("/var/log/app").Sidecar(func(s *v1alpha1.SidecarSpec) { s.Sinks = sinks(`{"type": "loki"}`) }).Build(),
			[]string{"sidecar.sinks.out.endpoint is missing: a sink of type loki needs it"},
		},
		"a value that the schema does not know": {
			selecting("later").Sidecar(func(s *v1alpha1.SidecarSpec) { s.Sinks = sinks(`{"type": 5}`) }).Build(),
			[]string{"VectorSidecar shop/tried spec", "sidecar.sinks.out"},
		},
		"a sidecar that the policy forbids": {
			selecting("later").Sidecar(func(s *v1alpha1.SidecarSpec) { s.SecurityContext = &corev1.SecurityContext{Privileged: &yes} }).Build(), []string{"rejected by the platform's policy", "privileged"},
		},
		"a container that another VectorSidecar injects": {
			selecting("vector").Build(),
			[]string{"Deployment shop/cart: VectorSidecar shop/logs also injects a container \"vector\"", "spec.sidecar.name"},
		},
		"a port that another VectorSidecar has": {
			selecting("vector").Named("second").Build(),
			[]string{"Deployment shop/cart: VectorSidecar shop/logs blocks the injection", "port"},
		},
	} {
		t.Run("refused is "+name, func(t *testing.T) {
			err := cluster.Create(t.Context(), test.sidecar)
			require.True(t, apierrors.IsInvalid(err), "%v", err)
			for _, part := range test.says {
				require.ErrorContains(t, err, part)
			}
		})
	}

	for name, test := range map[string]struct {
		sidecar *v1alpha1.VectorSidecar
		says    string
	}{
		"a good one":                     {selecting("later").Sidecar(otlp).Build(), ""},
		"one that matches nothing yet":   {selecting("none").Build(), ""},
		"one that waits":                 {selecting("later").Sidecar(otlp).WithRolloutPaused().Build(), ""},
		"what the loop is to judge":      {selecting("later").WithConfigMap("to-come", "vector.yaml").Build(), ""},
		"an environment that is to come": {selecting("later").InEnvironment("canary").Build(), "canary"},
		"a template set that is to come": {selecting("later").Sidecar(otlp).FromSet("gateway").Build(), "gateway"},
		"what collects nothing":          {selecting("later").Build(), "Deployment shop/other: the sidecar collects no data from its application"},
		"a volume that is to come":       {selecting("later").WithLogs("/var/log/app").Build(), "no container of Deployment shop/other mounts a volume there"},
		"errors that are only told": {
			selecting("later").WithInlineConfig(configured("type: consol\ninputs: [in]")).
				Sidecar(func(s *v1alpha1.SidecarSpec) { s.Config.Check = v1alpha1.CheckWarn }).Build(),
			"spec.sidecar.config.inline:7:11",
		},
	} {
		t.Run("accepted is "+name, func(t *testing.T) {
			said := warned(t, func(c client.Client) error { return c.Create(t.Context(), test.sidecar, client.DryRunAll) })
			require.Contains(t, said, test.says)
			require.Equal(t, test.says == "", said == "", said)
		})
	}

	t.Run("an update is refused for what it breaks", func(t *testing.T) {
		younger := example.NewVectorSidecar("younger", "shop").Selecting("logs", "later").Build()
		world.Create(t, younger)
		err := change(t, logs, func(vs *v1alpha1.VectorSidecar) {
			vs.Spec.Selector.MatchLabels = nil
			vs.Spec.MatchAll = true
		})
		require.True(t, apierrors.IsInvalid(err), "what it would take from a younger one: %v", err)
		require.ErrorContains(t, err, "Deployment shop/other: VectorSidecar shop/younger also injects")
		require.NoError(t, cluster.Delete(t.Context(), younger))
	})
	t.Run("an update is not refused for what was broken before", func(t *testing.T) {
		audit := func(name string) *v1alpha1.VectorSidecar {
			return example.NewVectorSidecar(name, "shop").Selecting("audit", "vector").Build()
		}
		second := audit("second")
		world.Create(t, second, example.NewDeployment("both", "shop").Labeled("logs", "vector").Labeled("audit", "vector").Build())
		harness.Eventually(t, "the workloads matched by both", func() bool {
			return apierrors.IsInvalid(cluster.Create(t.Context(), audit("again"), client.DryRunAll))
		})
		said := warned(t, func(c client.Client) error {
			before := second.DeepCopy()
			second.Spec.Environment = "staging"
			return c.Patch(t.Context(), second, client.MergeFrom(before))
		})
		require.Contains(t, said, "existed before this change: Deployment shop/both: VectorSidecar shop/logs also injects")
	})
	t.Run("an update of one whose spec is reverted is judged by what it asks for", func(t *testing.T) { requireJudgedAsGiven(t) })
	world.Get(t, cart)
	require.True(t, hasSidecar(cart))
}

// requireJudgedAsGiven creates a VectorSidecar whose last known good spec would be rejected today.
func requireJudgedAsGiven(t *testing.T) {
	t.Helper()
	vs := example.NewVectorSidecar("reverted", "shop").Selecting("logs", "later").WithInlineConfig(configured("type: console\ninputs: [in]\nencoding: {codec: json}")).Build()
	vs.Spec.Rollout = &v1alpha1.RolloutSpec{OnFailure: v1alpha1.OnFailureRevert}
	world.Create(t, vs)
	digest := lastgood.Digest(&vs.Spec)
	harness.Until(t, world, vs, "the last known good version in use", func(vs *v1alpha1.VectorSidecar) bool {
		if vs.Status.Reverted == nil { // The operator may have replaced the status by one that it had computed before.
			before := vs.DeepCopy()
			vs.Status.LastKnownGood = &v1alpha1.LastKnownGoodSpec{Digest: "0123456789abcdef", Generation: 1, Spec: `{"sidecar": {"securityContext": {"privileged": true}}}`}
			vs.Status.Reverted = &v1alpha1.RevertedSpec{Digest: digest, Generation: 2, FailedWorkloads: 1, RevertTime: metav1.Now()}
			require.NoError(t, cluster.Status().Patch(t.Context(), vs, client.MergeFrom(before)))
			before = vs.DeepCopy() // A change of the status alone starts no reconcile.
			metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationReconcileAt, vs.ResourceVersion)
			require.NoError(t, cluster.Patch(t.Context(), vs, client.MergeFrom(before)))
		}
		return slices.ContainsFunc(vs.Status.Conditions, func(c metav1.Condition) bool { return strings.Contains(c.Message, "privileged") })
	})

	require.NoError(t, change(t, vs, func(vs *v1alpha1.VectorSidecar) { vs.Labels = map[string]string{"team": "shop"} }), "metadata alone")
	require.NoError(t, change(t, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Rollout.Paused = true }), "its pace alone")
	require.NoError(t, change(t, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.LogLevel = "warn" }), "a next spec")
	world.Get(t, vs)
	err := change(t, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Sidecar.Config.Inline = configured("type: consol\ninputs: [in]")
	})
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	require.ErrorContains(t, err, "spec.sidecar.config.inline:7:11")
	require.NoError(t, cluster.Delete(t.Context(), vs))
}

// change changes a VectorSidecar, and returns the error.
func change(t *testing.T, of *v1alpha1.VectorSidecar, how func(*v1alpha1.VectorSidecar)) error {
	t.Helper()
	world.Get(t, of)
	before := of.DeepCopy()
	how(of)
	return cluster.Patch(t.Context(), of.DeepCopy(), client.MergeFrom(before))
}

// While no operator runs, VectorSidecars cannot be created or changed, but deleted.
func TestWebhook_AllowsOnlyDeletionWithoutOperator(t *testing.T) {
	i := installWebhook(t, "--set", "leaderElection.leaseDurationSeconds=3,leaderElection.renewDeadlineSeconds=2,leaderElection.retryPeriodSeconds=1")
	cart, logs := injected(t)
	i.end(syscall.SIGKILL)

	err := cluster.Create(t.Context(), example.NewVectorSidecar("new", "shop").Selecting("logs", "none").Build())
	require.ErrorContains(t, err, "failed calling webhook \"vectorsidecars.observability.kontroloop.ai\"")
	require.ErrorContains(t, change(t, logs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.MatchAll = true }), "failed calling webhook")

	require.NoError(t, change(t, logs, func(vs *v1alpha1.VectorSidecar) { vs.Labels = map[string]string{"team": "shop"} }))
	require.NoError(t, change(t, logs, func(vs *v1alpha1.VectorSidecar) { vs.Finalizers = append(vs.Finalizers, "example.com/own") }))
	require.NoError(t, change(t, logs, func(vs *v1alpha1.VectorSidecar) { vs.Finalizers = vs.Finalizers[:1] }))
	world.Get(t, logs)
	before := logs.DeepCopy()
	logs.Status.MatchedDeployments = 7
	require.NoError(t, cluster.Status().Patch(t.Context(), logs, client.MergeFrom(before)))

	// The uninstall Job deletes the VectorSidecar, and removes its finalizer.
	helm(t, "uninstall", release, "-n", namespace)
	requireNoTrace(t, cart)
}
