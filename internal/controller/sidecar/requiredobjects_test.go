// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// The operator logs once that a required object is missing, and once that it exists again. The gauge has the result of
// the last check.
func TestRequiredObjects_LogEachChangeOnce(t *testing.T) {
	guard := &registrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "guard"}}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "vector-system", Name: "webhook"}}
	elsewhere := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "environments"}}
	var denied error
	cluster := interceptor.NewClient(fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(guard, service, elsewhere).Build(), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if strings.HasPrefix(object.GetObjectKind().GroupVersionKind().Kind, "Mutating") {
				return &apimeta.NoKindMatchError{}
			}
			if key.Name == service.Name && denied != nil {
				return denied
			}
			return c.Get(ctx, key, object, options...)
		},
	})
	log, metrics := &bytes.Buffer{}, telemetry.NewMetrics("", time.Now)
	registry := prometheus.NewRegistry()
	require.NoError(t, registry.Register(metrics))
	required := &requiredObjects{
		objects: []source.RequiredObject{
			{Kind: "ValidatingAdmissionPolicy", Name: "guard"}, {Kind: "MutatingAdmissionPolicy", Name: "injects"},
			{Kind: "Service", Name: "webhook"}, {Kind: "ConfigMap", Name: "environments"},
		},
		namespace: "vector-system", live: cluster, metrics: metrics, log: telemetry.NewLogger(log, zapcore.InfoLevel, telemetry.FormatJSON),
	}
	check := func(want map[string]float64, lines ...string) {
		t.Helper()
		log.Reset()
		require.NoError(t, required.check(t.Context()))
		require.Equal(t, len(lines), strings.Count(log.String(), "\n"), log)
		for _, line := range lines {
			require.Contains(t, log.String(), line)
		}
		require.Equal(t, want, statesOf(t, registry))
	}

	check(map[string]float64{"present": 2, "missing": 1, "not_served": 1, "not_read": 0},
		`"required object is missing","object":"ConfigMap environments"`, `"kind of required object is not served","object":"MutatingAdmissionPolicy injects"`)
	check(map[string]float64{"present": 2, "missing": 1, "not_served": 1, "not_read": 0})
	require.NoError(t, cluster.Delete(t.Context(), guard))
	denied = errors.New("denied")
	check(map[string]float64{"present": 0, "missing": 2, "not_served": 1, "not_read": 1},
		`"required object is missing","object":"ValidatingAdmissionPolicy guard"`, `"cannot read required object","object":"Service webhook","cause":"reading Service webhook: denied"`)
	guard.ResourceVersion, denied = "", nil
	require.NoError(t, cluster.Create(t.Context(), guard))
	check(map[string]float64{"present": 2, "missing": 1, "not_served": 1, "not_read": 0},
		`"required object exists again","object":"ValidatingAdmissionPolicy guard"`, `"required object exists again","object":"Service webhook"`)
}

// statesOf returns the gauge of required objects by state.
func statesOf(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	states := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "vectorsidecar_required_objects" {
			continue
		}
		for _, metric := range family.GetMetric() {
			states[metric.GetLabel()[0].GetValue()] = metric.GetGauge().GetValue()
		}
	}
	return states
}
