// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	runtimemetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/fairqueue"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

func TestShareFor_ReturnsNamespaceOfKey(t *testing.T) {
	for name, test := range map[string]struct {
		key  types.NamespacedName
		want string
	}{
		"VectorSidecar":                       {types.NamespacedName{Namespace: "shop", Name: "logs"}, "shop"},
		"ClusterVectorSidecar in a namespace": {clusterwide.KeyIn("shop", "logs"), "shop"},
	} {
		require.Equal(t, test.want, shareFor(reconcile.Request{NamespacedName: test.key}), name)
	}
}

// Both queues publish the same metrics, with the same labels and counts, after the same calls.
func TestQueue_PublishesMetricsOfControllerRuntime(t *testing.T) {
	queueMetrics, err := telemetry.NewQueueMetrics(runtimemetrics.Registry)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		retries := state.NewRateLimiter()
		fair := fairqueue.New(fairqueue.Options[reconcile.Request]{Workers: 8, ShareFor: shareFor, RateLimiter: retries, Metrics: queueMetrics.ForQueue("fair")})
		stock := priorityqueue.New("stock", func(options *priorityqueue.Opts[reconcile.Request]) { options.RateLimiter = retries })
		defer fair.ShutDown()
		defer stock.ShutDown()
		useQueue(fair)
		published := workqueueMetrics(t, "fair")
		useQueue(stock)
		require.NotEmpty(t, published)
		require.Equal(t, workqueueMetrics(t, "stock"), published)
	})
}

func useQueue(queue priorityqueue.PriorityQueue[reconcile.Request]) {
	request := func(name string) reconcile.Request {
		return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: name}}
	}
	queue.Add(request("a"))
	queue.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(handler.LowPriority)}, request("b"), request("c"), request("d"))
	queue.AddAfter(request("e"), time.Second)
	synctest.Wait()
	time.Sleep(2 * time.Second) //nolint:forbidigo // the clock is the test's own
	for range 3 {
		next, _ := queue.Get()
		time.Sleep(time.Second) //nolint:forbidigo // as above
		queue.Done(next)
	}
	queue.Add(request("d"))
	synctest.Wait()
	_, _ = queue.Get()
	time.Sleep(time.Second) //nolint:forbidigo // as above
	synctest.Wait()
}

// workqueueMetrics returns the metrics of a queue by their labels: values of gauges and counters, and counts of
// durations.
func workqueueMetrics(t *testing.T, queue string) map[string]float64 {
	t.Helper()
	families, err := runtimemetrics.Registry.Gather()
	require.NoError(t, err)
	found := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.Metric {
			if name, labels := labelsOf(metric); name == queue {
				value := metric.GetGauge().GetValue() + metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
				found[family.GetName()+labels] = value
			}
		}
	}
	return found
}

// labelsOf returns the name of the queue, and the other labels.
func labelsOf(metric *dto.Metric) (name, others string) {
	for _, label := range metric.Label {
		if label.GetName() == "name" {
			name = label.GetValue()
		}
	}
	for _, label := range metric.Label {
		value := label.GetValue()
		if value == name {
			value = "NAME"
		}
		others += " " + label.GetName() + "=" + value
	}
	return name, others
}

// If the registry lacks the metrics of controller-runtime, the same metrics are registered.
func TestQueue_RegistersMetricsInOtherRegistry(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	queueMetrics, err := telemetry.NewQueueMetrics(registry)
	require.NoError(t, err)
	queueMetrics.ForQueue("fair").ChangeDepth(0, 1)
	families, err := registry.Gather()
	require.NoError(t, err)
	require.Len(t, families, 7)
	_, err = telemetry.NewQueueMetrics(registry)
	require.NoError(t, err)
	other := prometheus.NewPedanticRegistry()
	other.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "workqueue_depth", Help: "other"}))
	_, err = telemetry.NewQueueMetrics(other)
	require.Error(t, err)
}
