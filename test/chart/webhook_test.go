// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// judged installs the chart with the admission webhook, and waits until it answers.
// There are no kubelets and no proxies here: so that the API server finds the
// operator, its Service is made one by the name of this machine. All else is as the
// chart and the operator make it: names, certificates, rights, the configuration.
// What no test sees is how a Service finds its pods.
func judged(t *testing.T, args ...string) *installation {
	t.Helper()
	i := installed(t, chartDir, append([]string{"--set", fmt.Sprintf("admissionWebhook.enabled=true,admissionWebhook.port=%d", freePort(t))}, args...)...)
	kubectl(t, "patch", "service", fullname+"-webhook", "-n", namespace, "-p", `{"spec":{"type":"ExternalName","externalName":"localhost"}}`)
	awaitJudge(t)
	return i
}

// freePort is one that nobody listens at.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	defer listener.Close()
	address, ok := listener.Addr().(*net.TCPAddr)
	require.True(t, ok)
	return address.Port
}

// awaitJudge waits until VectorSidecars are accepted, and others refused.
func awaitJudge(t *testing.T) {
	t.Helper()
	good := example.NewVectorSidecar("good", "shop").Selecting("logs", "none").Build()
	bad := example.NewVectorSidecar("bad", "shop").Selecting("logs", "none").WithInlineConfig("sources: [").Build()
	var err error
	harness.Eventually(t, "the webhook to answer", func() bool {
		if err = cluster.Create(t.Context(), good.DeepCopy(), client.DryRunAll); err != nil {
			return false
		}
		err = cluster.Create(t.Context(), bad.DeepCopy(), client.DryRunAll)
		return apierrors.IsInvalid(err)
	})
}

// warned creates an object and returns what the API server warns of.
func warned(t *testing.T, object client.Object) []string {
	t.Helper()
	heard := &warnings{}
	config := plane.Config()
	config.WarningHandler = heard
	c, err := client.New(config, client.Options{Scheme: cluster.Scheme()})
	require.NoError(t, err)
	require.NoError(t, c.Create(t.Context(), object))
	return heard.texts
}

type warnings struct{ texts []string }

var _ rest.WarningHandler = &warnings{}

// HandleWarningHeader notes a warning.
func (w *warnings) HandleWarningHeader(_ int, _, text string) { w.texts = append(w.texts, text) }

func TestAVectorSidecarIsJudgedAtAdmission(t *testing.T) {
	i := judged(t)
	cart, logs := injected(t)

	t.Run("a broken configuration is refused with its line and help", func(t *testing.T) {
		err := cluster.Create(t.Context(), example.NewVectorSidecar("broken", "shop").Selecting("logs", "later").
			WithInlineConfig("sources:\n  in:\n    type: demo_logs\n    format: json\nsinks:\n  out:\n    type: consol\n    inputs: [in]\n").Build())
		require.True(t, apierrors.IsInvalid(err), "%v", err)
		fmt.Println(err)
	})
	t.Run("a clash is refused with who, where and what", func(t *testing.T) {
		err := cluster.Create(t.Context(), example.NewVectorSidecar("more", "shop").Selecting("logs", "vector").Build())
		fmt.Println(err)
		require.True(t, apierrors.IsInvalid(err), "%v", err)
	})
	t.Run("a ConfigMap that is to come is a warning", func(t *testing.T) {
		fmt.Println(warned(t, example.NewVectorSidecar("referring", "shop").Selecting("logs", "later").WithConfigMap("to-come", "vector.yaml").Build()))
	})
	_, _, _ = i, cart, logs
	_ = syscall.SIGKILL
	_ = corev1.Secret{}
	_ = metav1.Now
	_ = v1alpha1.VectorSidecar{}
	_ = meta.Finalizer
}
