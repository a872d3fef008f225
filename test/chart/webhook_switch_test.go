// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/freeport"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// replicas are the processes of the release's pods, and the endpoints of the webhook's Service.
type replicas struct {
	// program is the path in bin of the program of new pods.
	program string
	running []replica // the oldest first
	started int
}

type replica struct {
	*harness.StandIn
	end func(os.Signal)
}

// released installs a chart and starts its replicas, the leader first.
func released(t *testing.T, chart, program string, count int, args ...string) *replicas {
	t.Helper()
	t.Cleanup(func() { takeAway(t) })
	helm(t, append([]string{"install", release, chart, "-n", namespace, "--set", fmt.Sprintf("replicas=%d", count)}, args...)...)
	(&installation{}).awaitServed(t)
	r := &replicas{program: program}
	for range count {
		r.start(t)
		(&installation{}).awaitLeader(t)
	}
	return r
}

// start starts a pod of the current Deployment, and waits until it is ready.
func (r *replicas) start(t *testing.T) {
	t.Helper()
	r.started++
	pod := replica{StandIn: harness.NewStandInAt(t, plane, cluster, namespace, fmt.Sprintf("127.0.0.%d", 1+r.started))}
	pod.Runs(r.program)
	pod.end = pod.Operator(t, fullname)
	harness.Eventually(t, "another pod to be ready while the others run", func() bool { return pod.IsReady(t.Context()) })
	r.running = append(r.running, pod)
	route(t, pod.Host)
}

// roll replaces all pods as a Deployment does: it stops a pod only when another one is ready.
func (r *replicas) roll(t *testing.T) {
	t.Helper()
	for range len(r.running) {
		(&installation{}).awaitLeader(t)
		leader := holder(t)
		r.start(t)
		require.Equal(t, leader, holder(t), "who is new does not lead")
		r.running[0].end(os.Interrupt)
		r.running = r.running[1:]
	}
}

// route makes the Service of the webhook, if it exists, lead to a pod.
func route(t *testing.T, host string) {
	t.Helper()
	var service corev1.Service
	service.Namespace, service.Name = namespace, fullname+"-webhook"
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec": {"type": "ExternalName", "externalName": %q}}`, host))
	require.NoError(t, client.IgnoreNotFound(cluster.Patch(t.Context(), &service, patch)))
}

// configuration returns the configuration of the webhook, nil if it does not exist.
func configuration(t *testing.T) *admissionv1.ValidatingWebhookConfiguration {
	t.Helper()
	found := &admissionv1.ValidatingWebhookConfiguration{}
	err := cluster.Get(t.Context(), types.NamespacedName{Name: webhookConfiguration}, found)
	require.NoError(t, client.IgnoreNotFound(err))
	if err != nil {
		return nil
	}
	return found
}

// A helm upgrade enables and disables the webhook, with one and with three replicas.
func TestWebhook_StartsAndStopsByUpgrade(t *testing.T) {
	for _, count := range []int{1, 3} {
		t.Run(fmt.Sprintf("with %d replicas", count), func(t *testing.T) {
			r := released(t, chartDir, "operator", count)
			webhook := judging(freeport.PortForTest(t))
			upgrade := func(settings string) {
				helm(t, "upgrade", release, chartDir, "-n", namespace, "--set", fmt.Sprintf("replicas=%d,%s", count, settings))
			}

			whileAsked(t, func() {
				upgrade(webhook)
				require.Empty(t, configuration(t).Webhooks, "nobody answers yet")
				r.roll(t)
				awaitWebhook(t)
			})
			on := configuration(t).Webhooks
			require.Len(t, on, 1)
			require.Contains(t, string(on[0].ClientConfig.CABundle), string(certificate(t)["ca.crt"]))

			whileAsked(t, func() {
				upgrade(webhook + ",commonLabels.team=platform,admissionWebhook.timeoutSeconds=7")
				now := configuration(t)
				require.Equal(t, "platform", now.Labels["team"])
				require.Len(t, now.Webhooks, 1, "an upgrade does not take the webhook")
				harness.Eventually(t, "the change of the upgrade", func() bool { return *configuration(t).Webhooks[0].TimeoutSeconds == 7 })
				r.roll(t)
			})
			awaitWebhook(t)

			upgrade("admissionWebhook.enabled=false")
			require.Nil(t, configuration(t))
			require.Empty(t, certificate(t))
			broken := example.NewVectorSidecar("broken", "shop").Selecting("logs", "none").WithInlineConfig("sources: [").Build()
			harness.Eventually(t, "no more requests of the API server", func() bool { return cluster.Create(t.Context(), broken.DeepCopy(), client.DryRunAll) == nil })
			whileAsked(t, func() { r.roll(t) })
		})
	}
}

// All replicas use the same certificate, and each can renew it, also if the leader does not run.
func TestWebhook_SharesCertificateBetweenReplicas(t *testing.T) {
	r := released(t, chartDir, "operator", 3, "--set", judging(freeport.PortForTest(t)))
	awaitWebhook(t)
	renewed := func(how func()) {
		before := certificate(t)
		how()
		after := awaitCertificate(t, "another authority, and a certificate of it", func(data map[string][]byte) bool {
			return !bytes.Equal(data["ca.crt"], before["ca.crt"]) && !bytes.Equal(data["tls.crt"], before["tls.crt"])
		})
		require.Equal(t, string(after["ca.crt"])+string(before["ca.crt"]), string(trusted(t))[:len(after["ca.crt"])+len(before["ca.crt"])], "of all authorities one is taken")
	}

	whileAsked(t, func() {
		renewed(func() { kubectl(t, "delete", "secret", webhookSecret, "-n", namespace) })
	})
	leader := holder(t)
	r.running[0].end(os.Kill) // Its lease stays its own for some seconds.
	r.running = r.running[1:]
	route(t, r.running[0].Host)
	whileAsked(t, func() {
		renewed(func() {
			kubectl(t, "patch", "secret", webhookSecret, "-n", namespace, "--type=json", "-p", `[{"op":"remove","path":"/data"}]`)
		})
	})
	require.Equal(t, leader, holder(t), "who makes it does not lead")
	r.start(t)
	awaitWebhook(t)
}

// The log has no lines about readiness probes, with and without a certificate.
func TestWebhook_DoesNotLogProbes(t *testing.T) {
	certificate, err := os.ReadFile(filepath.Join(callerFolder, "client.crt"))
	require.NoError(t, err)
	key, err := os.ReadFile(filepath.Join(callerFolder, "client.key"))
	require.NoError(t, err)
	i := installed(t, chartDir, "--set", judging(freeport.PortForTest(t)),
		"--set", "admissionWebhook.certificate.source=secret,admissionWebhook.certificate.secretName=later",
		"--set-file", "admissionWebhook.certificate.caBundle="+filepath.Join(callerFolder, "client.crt"))
	unready := func() int { return strings.Count(i.pods.Log(), "healthz check failed") }
	i.awaitLeader(t)
	before := unready()
	harness.Eventually(t, "some probes without a certificate", func() bool { return unready() > before+10 })

	later := &corev1.Secret{Type: corev1.SecretTypeTLS, Data: map[string][]byte{"tls.crt": certificate, "tls.key": key}}
	later.Namespace, later.Name = namespace, "later"
	world.Create(t, later)
	t.Cleanup(func() { kubectl(t, "delete", "secret", "later", "-n", namespace) })
	harness.Eventually(t, "the operator to be ready", func() bool { return i.pods.IsReady(t.Context()) })
	for range 10 {
		require.True(t, i.pods.IsReady(t.Context()))
	}
	require.NotContains(t, i.pods.Log(), "handshake")
}
