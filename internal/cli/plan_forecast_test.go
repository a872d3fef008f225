// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
)

// The forecast reports quotas that reject pods, and autoscalers with a changed utilization.
func TestPrintForecast_ReportsQuotaAndAutoscaler(t *testing.T) {
	of := resource.MustParse
	quota := func(hard, missing string) simulate.QuotaForecast {
		return simulate.QuotaForecast{Namespace: "shop", Name: "all", Resource: "limits.cpu", Hard: of(hard), Used: of("1"), After: of("2"), Peak: of("3"), Missing: missing, Short: hard == "2"}
	}
	scaler := func(before, missing string) simulate.AutoscalerForecast {
		return simulate.AutoscalerForecast{Namespace: "shop", Name: "hpa", Workload: "cart", Resource: "cpu", Before: of(before), After: of("600m"), Missing: missing}
	}
	class := simulate.QoSForecast{Workload: "cart", From: corev1.PodQOSGuaranteed, To: corev1.PodQOSBurstable}
	report := planReport{Forecast: &simulate.Forecast{
		Namespaces: []simulate.NamespaceForecast{{
			Namespace: "shop", Pods: 2, Requests: corev1.ResourceList{"cpu": of("-200m"), "memory": of("0")}, QoS: []simulate.QoSForecast{class, class, class, class, class},
		}},
		Quotas:      []simulate.QuotaForecast{quota("4", ""), quota("2", ""), quota("4", "vector")},
		Limits:      []simulate.LimitForecast{{Namespace: "shop", Name: "ratio", Workload: "cart", Type: "Container", Resource: "cpu", Message: "container vector: cpu has no limit"}},
		Autoscalers: []simulate.AutoscalerForecast{scaler("500m", ""), scaler("500m", "vector"), scaler("0", "")},
	}}
	var out, notes bytes.Buffer

	require.NoError(t, report.printForecast(&app{IOStreams: genericiooptions.IOStreams{Out: &out, ErrOut: &notes}}))

	require.Equal(t, `
NAMESPACE   PODS   CPU REQUESTS   MEMORY REQUESTS   QOS CLASS
shop        2      -200m          -                 cart Guaranteed → Burstable, cart Guaranteed → Burstable, cart Guaranteed → Burstable and 2 more

NAMESPACE   RESOURCEQUOTA   RESOURCE     HARD   USED   PEAK   AFTER   EFFECT
shop        all             limits.cpu   4      1      3      2       -
shop        all             limits.cpu   2      1      3      2       rejects pods: the quota is too low
shop        all             limits.cpu   4      1      3      2       rejects pods: container vector does not set this resource

NAMESPACE   LIMITRANGE   WORKLOAD   TYPE        EFFECT
shop        ratio        cart       Container   rejects pods: container vector: cpu has no limit

NAMESPACE   AUTOSCALER   WORKLOAD   RESOURCE   REQUESTS   AFTER   EFFECT
shop        hpa          cart       cpu        500m       600m    the measured utilization of the application falls to 83 % of its current value
shop        hpa          cart       cpu        500m       600m    cannot scale: container vector has no request of this resource
shop        hpa          cart       cpu        0          600m    can scale; without the sidecar, it cannot
`, out.String())
	require.Contains(t, notes.String(), "type ContainerResource")
}
