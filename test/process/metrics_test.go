// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// reader returns the token of a ServiceAccount that may only get metrics.
func reader(t *testing.T) string {
	t.Helper()
	return token(t, own, serviceAccount(t, own, grants{cluster: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}}))
}

func TestMetrics_RequireAuthorization(t *testing.T) {
	p := start(t, harness.Settings{})
	harness.Eventually(t, "the operator to serve", func() bool { return scrape(t, p.Metrics, "").status != 0 })

	require.Equal(t, http.StatusUnauthorized, scrape(t, p.Metrics, "").status, "nobody in particular")
	require.Equal(t, http.StatusUnauthorized, scrape(t, p.Metrics, "made-up").status, "nobody that the API server knows")
	require.Equal(t, http.StatusForbidden, scrape(t, p.Metrics, token(t, own, serviceAccount(t, own, grants{}))).status, "somebody without the right")
	require.Equal(t, http.StatusOK, scrape(t, p.Metrics, reader(t)).status)

	response, err := http.Get("http://" + p.Metrics + "/metrics") //nolint:noctx // It is refused at once.
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusBadRequest, response.StatusCode, "there is no way around TLS")
	noErrors(t, p)
}

func TestMetrics_CountDriftCorrections(t *testing.T) {
	p := start(t, harness.Settings{})
	namespace, token := world.Namespace(t), reader(t)
	cart := labeled(t, "cart", namespace)
	sidecar(t, namespace)
	harness.Until(t, world, cart, "the sidecar", isInjected)
	before, image := cart.DeepCopy(), cart.Spec.Template.Spec.InitContainers[0].Image

	cart.Spec.Template.Spec.InitContainers[0].Image = "example.com/edited:1"
	require.NoError(t, world.Client.Patch(t.Context(), cart, client.StrategicMergeFrom(before), client.FieldOwner("kubectl-edit")))

	harness.Until(t, world, cart, "the previous image", func(d *appsv1.Deployment) bool { return d.Spec.Template.Spec.InitContainers[0].Image == image })
	harness.Eventually(t, "the correction in the metrics", func() bool {
		return strings.Contains(scrape(t, p.Metrics, token).text, "\nvectorsidecar_drift_corrections_total 1\n")
	})
}

// The memory limit of Go is nine tenths of the memory limit of the container.
func TestProcess_SetsGoMemoryLimitOfContainer(t *testing.T) {
	p := start(t, harness.Settings{MemoryLimit: 256_000_000})
	token := reader(t)
	harness.Eventually(t, "nine tenths of the limit", func() bool {
		return strings.Contains(scrape(t, p.Metrics, token).text, "\ngo_gc_gomemlimit_bytes 2.304e+08\n")
	})
}

// The operator exports each documented metric with its labels, and no other metric.
func TestMetrics_MatchDocumentation(t *testing.T) {
	p := start(t, harness.Settings{Arguments: []string{"--leader-elect", "--leader-election-id=metrics", "--cluster-sidecars"}})
	namespace := world.Namespace(t)
	everywhere := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "counted"}}
	everywhere.Spec.NamespaceSelector.MatchLabels = map[string]string{corev1.LabelMetadataName: namespace}
	everywhere.Spec.Selector.MatchLabels = map[string]string{"nobody": "has"}
	world.Create(t, everywhere)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		require.NoError(t, world.Client.Delete(ctx, everywhere))
		require.Eventually(t, func() bool {
			return apierrors.IsNotFound(world.Client.Get(ctx, client.ObjectKeyFromObject(everywhere), everywhere))
		}, harness.Patience, 50*time.Millisecond, "it is released")
	})
	taken := objects.NewDeployment("occupied", namespace).Labeled("logs", "vector").WithContainer("vector").Build()
	cart := labeled(t, "cart", namespace)
	world.Create(t, taken)
	vs := sidecar(t, namespace)
	harness.Until(t, world, cart, "the sidecar", isInjected)
	harness.Until(t, world, vs, "a conflict", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Total().Conflicting == 1 })

	token := reader(t)
	var text string
	harness.Eventually(t, "the reconcile in the metrics", func() bool {
		text = scrape(t, p.Metrics, token).text
		return regexp.MustCompile(`(?m)^vectorsidecar_workloads\{kind="Deployment",reason="Conflict",state="Conflict"\} 1$`).MatchString(text) &&
			strings.Contains(text, "\nvectorsidecar_cluster_namespaces{")
	})
	for _, metric := range append(telemetry.MetricDefinitions(), telemetry.LibraryMetrics()...) {
		if strings.HasPrefix(metric.Name, "vectorsidecar_admission_") {
			continue // There is no webhook here: the chart's tests ask one for them.
		}
		if metric.Name == "vectorsidecar_drift_corrections_total" {
			require.Contains(t, text, "\nvectorsidecar_drift_corrections_total 0\n")
		}
		require.Contains(t, text, "\n# TYPE "+metric.Name+" "+metric.Kind+"\n", "%s is documented and not exported", metric.Name)
		for _, label := range metric.Labels {
			series := regexp.MustCompile(`(?m)^` + metric.Name + `(_bucket)?\{[^}]*\b` + label.Name + `="`)
			require.Regexp(t, series, text, "%s has no label %s", metric.Name, label.Name)
		}
	}
	documented := map[string]bool{}
	for _, metric := range telemetry.MetricDefinitions() {
		documented[metric.Name] = true
	}
	for _, match := range regexp.MustCompile(`(?m)^# TYPE (vectorsidecar_\w+) `).FindAllStringSubmatch(text, -1) {
		require.True(t, documented[match[1]], "%s is exported and not documented", match[1])
	}
	for _, line := range []string{
		`vectorsidecar_workload_writes_total{action="Inject",kind="Deployment",result="ok"} 1`,
		`vectorsidecar_conflicts_total{reason="Conflict"} 1`,
		`vectorsidecar_objects{ready="False",reason="Conflict"} 1`,
		`vectorsidecar_template_sets{state="valid"} 1`,
		`vectorsidecar_template_sets{state="invalid"} 0`,
		`leader_election_master_status{name="metrics"} 1`,
	} {
		require.Contains(t, text, "\n"+line+"\n")
	}
	for _, name := range []string{namespace, "cart", "occupied", vs.Name + `"`} {
		require.NotRegexp(t, `(?m)^vectorsidecar_.*"`+name, text, "no label has a name of the user's")
	}
}

// The certificate file of the metrics endpoint is replaced. The operator presents the new one without a restart.
func TestMetrics_ReloadProvidedCertificate(t *testing.T) {
	folder := t.TempDir()
	writeCertificate(t, folder, 4711)
	p := start(t, harness.Settings{Arguments: []string{"--metrics-cert-dir=" + folder}})
	harness.Eventually(t, "the first certificate", func() bool { return scrape(t, p.Metrics, "").certificate == "4711" })

	writeCertificate(t, folder, 4712)

	harness.Eventually(t, "the second one, without a restart", func() bool { return scrape(t, p.Metrics, "").certificate == "4712" })
}

// The directory in --metrics-cert-dir has no certificate. The operator exits with an error that names the flag and the
// file.
func TestMetrics_ReportMissingCertificate(t *testing.T) {
	p := start(t, harness.Settings{Arguments: []string{"--metrics-cert-dir=" + t.TempDir()}})

	require.Equal(t, 1, p.ExitCode())
	failed := p.Said(t, "running the operator")
	require.Len(t, failed, 1)
	require.Contains(t, failed[0]["error"], "--metrics-cert-dir")
	require.Contains(t, failed[0]["error"], "tls.crt")
}

// writeCertificate writes a certificate with the file names of cert-manager and Kubernetes.
func writeCertificate(t *testing.T, folder string, serial int64) {
	t.Helper()
	certificate, key, err := harness.Certify(&x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "operator"},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"},
	})
	require.NoError(t, err)
	for name, text := range map[string][]byte{"tls.key": key, "tls.crt": certificate} {
		// The rename replaces all files at once, as the kubelet does for a mounted Secret.
		fresh := filepath.Join(folder, "."+name)
		require.NoError(t, os.WriteFile(fresh, text, 0o600))
		require.NoError(t, os.Rename(fresh, filepath.Join(folder, name)))
	}
}
