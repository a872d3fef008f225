// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// misspelled is a configuration whose sink names no source, on line 4.
const misspelled = "sources:\n  app: {type: stdin}\nsinks:\n  out: {type: blackhole, inputs: [ap]}\n"

// doubtful is a configuration that Vector starts with, though nothing consumes the
// events of other.
const doubtful = "sources:\n  app: {type: stdin}\n  other: {type: internal_logs}\nsinks:\n  out: {type: blackhole, inputs: [app]}\n"

func TestDecide_ReportsSourceOfConfigFindings(t *testing.T) {
	referenced := objects.NewConfigMap("shipping", "shop", "agent.yaml", misspelled)
	for name, test := range map[string]struct {
		sidecar *v1alpha1.VectorSidecar
		place   string
	}{
		"a ConfigMap": {logs().WithConfigMap("shipping", "agent.yaml").Build(), "ConfigMap shop/shipping agent.yaml:4:35: "},
		"inline":      {logs().WithInlineConfig(misspelled).Build(), "VectorSidecar shop/logs spec.sidecar.config.inline:4:35: "},
		"data": {logs().Sidecar(func(s *v1alpha1.SidecarSpec) {
			s.Config = &v1alpha1.ConfigSpec{Raw: &apiextensionsv1.JSON{Raw: []byte(`{"sources": {"app": {"type": "stdin"}}, "sinks": {"out": {"type": "blackhole", "inputs": ["ap"]}}}`)}}
		}).Build(), "VectorSidecar shop/logs spec.sidecar.config.raw: sinks.out.inputs[0]: "},
		"rendered": {logs().Sidecar(func(s *v1alpha1.SidecarSpec) {
			s.Sinks = map[string]apiextensionsv1.JSON{"out": {Raw: []byte(`{"type": "blackhole", "inputs": ["nowhere"]}`)}}
		}).Build(), "rendered ConfigMap logs-vector-"},
	} {
		for matched, deployments := range map[string]int{"for a workload": 1, "before there is a workload": 0} {
			if deployments == 0 && name == "rendered" {
				continue // There is nothing to check yet.
			}
			t.Run(name+", "+matched, func(t *testing.T) {
				s := snapshot(t, test.sidecar)
				for range deployments {
					s.Workloads = append(s.Workloads, snapshot(t, s.Sidecar, cart()).Workloads...)
				}
				s.ConfigMaps = only("shipping", referenced)

				decided := decide(t, s)

				require.NotNil(t, decided.Invalid)
				require.Equal(t, meta.ReasonInvalidConfig, decided.Invalid.Reason)
				require.Contains(t, decided.Invalid.Message, test.place)
				require.Contains(t, decided.Invalid.Message, "VSC211")
				require.Empty(t, decided.Missing)
			})
		}
	}
}

// The check compares the memory buffers of the configuration with the memory limit of the sidecar's container.
func TestDecide_WarnsOfMemoryBuffersAboveContainerLimit(t *testing.T) {
	for size, isTold := range map[string]bool{"134217728": false, "134217729": true} {
		configuration := "sources:\n  app: {type: stdin}\nsinks:\n  out: {type: blackhole, inputs: [app], buffer: {max_size: " + size + "}}\n"
		decided := decide(t, snapshot(t, logs().WithInlineConfig(configuration).Build(), cart()))
		require.Nil(t, decided.Invalid)
		require.Equal(t, plan.Inject, decided.Plans[0].Change)
		isFound := slices.ContainsFunc(decided.Findings, func(f vectorconfig.Finding) bool { return f.Code == "VSC512" })
		require.Equal(t, isTold, isFound, "%s bytes in a container of 128Mi: %v", size, decided.Findings)
	}
}

// The mode decides whether a configuration error stops the change and whether it is reported.
func TestDecide_AppliesConfigCheckMode(t *testing.T) {
	for mode, test := range map[v1alpha1.ConfigCheck]struct{ stops, isTold bool }{
		"":                    {stops: true, isTold: true},
		v1alpha1.CheckEnforce: {stops: true, isTold: true},
		v1alpha1.CheckWarn:    {isTold: true},
		v1alpha1.CheckOff:     {},
	} {
		t.Run("check: "+string(mode), func(t *testing.T) {
			sidecar := logs().WithInlineConfig(misspelled).Build()
			sidecar.Spec.Sidecar.Config.Check = mode

			decided := decide(t, snapshot(t, sidecar, cart()))

			require.Equal(t, test.stops, decided.Invalid != nil)
			require.Equal(t, !test.stops, decided.Plans[0].HasChange(plan.Inject))
			require.Equal(t, test.isTold, len(vectorconfig.Errors(decided.Findings)) == 1, decided.Findings)
		})
	}
}

// A warning of the check does not stop the injection, and is reported once for all workloads.
func TestDecide_ReportsConfigWarningOnce(t *testing.T) {
	second := objects.NewDeployment("basket", "shop").Labeled("logs", "vector").Build()

	decided := decide(t, snapshot(t, logs().WithInlineConfig(doubtful).Build(), cart(), second))

	require.Nil(t, decided.Invalid)
	require.Equal(t, plan.Inject, decided.Plans[0].Change)
	require.Len(t, decided.Findings, 1)
	require.Contains(t, decided.Findings[0].String(), "spec.sidecar.config.inline:3:3: sources.other: the events of")
}

func TestDecide_ChecksChangedConfigMapContent(t *testing.T) {
	memory, s := newMemory(), snapshot(t, logs().WithConfigMap("shipping", "").Build(), cart())
	for _, text := range []string{objects.VectorConfig("x"), misspelled, objects.VectorConfig("y")} {
		s.ConfigMaps = only("shipping", objects.NewConfigMap("shipping", "shop", "vector.yaml", text))
		decided := memory.decide(t, s)
		require.Equal(t, text == misspelled, decided.Invalid != nil)
	}
}

// The check of a configuration considers the rendered container: its variables, mounts and ports.
func TestDecide_ChecksConfigAgainstRenderedContainer(t *testing.T) {
	own := func(text string, change func(*v1alpha1.SidecarSpec)) *v1alpha1.VectorSidecar {
		return logs().WithInlineConfig(text).Sidecar(change).Build()
	}
	const probed = "api: {enabled: true, address: \"%s\"}\n" + doubtful
	exported := strings.NewReplacer("sources:\n", "sources:\n  own: {type: internal_metrics}\n", "sinks:\n",
		"sinks:\n  exporter: {type: prometheus_exporter, inputs: [own], address: \"0.0.0.0:9598\"}\n").Replace(fmt.Sprintf(probed, "127.0.0.1:8686"))
	for name, test := range map[string]struct {
		sidecar *v1alpha1.VectorSidecar
		code    string
	}{
		"a probe that asks localhost":           {own(fmt.Sprintf(probed, "127.0.0.1:8686"), func(s *v1alpha1.SidecarSpec) { s.Health = &v1alpha1.HealthSpec{Probe: "Always"} }), "VSC506"},
		"a probe of an API that is open":        {own("api: {enabled: true, address: \"0.0.0.0:8686\"}\n"+objects.VectorConfig("x"), func(s *v1alpha1.SidecarSpec) { s.Health = &v1alpha1.HealthSpec{Probe: "Always"} }), "VSC511"},
		"a probe of metrics that there are":     {own(exported, func(s *v1alpha1.SidecarSpec) { s.Health = &v1alpha1.HealthSpec{Probe: "Metrics"} }), "VSC215"},
		"a probe of metrics that there are not": {own(fmt.Sprintf(probed, "127.0.0.1:8686"), func(s *v1alpha1.SidecarSpec) { s.Health = &v1alpha1.HealthSpec{Probe: "Metrics"} }), "VSC507"},
		"a folder that is read-only": {own("data_dir: /data\nsources:\n  app: {type: file, include: [/etc/vector/x]}\nsinks:\n  out: {type: blackhole, inputs: [app]}\n",
			func(*v1alpha1.SidecarSpec) {}), "VSC503"},
		"an older image": {own("sources:\n  app: {type: stdin}\ntransforms:\n  w: {type: window, inputs: [app], flush_when: \"true\"}\nsinks:\n  out: {type: blackhole, inputs: [w]}\n",
			func(s *v1alpha1.SidecarSpec) { s.Image = "timberio/vector:0.44.0-alpine" }), "VSC402"},
	} {
		t.Run(name, func(t *testing.T) {
			decided := decide(t, snapshot(t, test.sidecar, cart()))
			require.NotEmpty(t, decided.Findings)
			require.Equal(t, vectorconfig.Code(test.code), decided.Findings[0].Code, decided.Findings[0].String())
		})
	}
}

// A short grace period of one workload, or a port that it already uses, causes a warning for that workload only.
func TestDecide_WarnsOnlyAffectedWorkloads(t *testing.T) {
	listening := "sources:\n  app: {type: socket, mode: tcp, address: \"127.0.0.1:8080\"}\nsinks:\n  out: {type: blackhole, inputs: [app]}\n"
	hasty := objects.NewDeployment("hasty", "shop").Labeled("logs", "vector").Pod(func(spec *corev1.PodSpec) {
		seconds := int64(10)
		spec.TerminationGracePeriodSeconds = &seconds
	}).Build()
	using := objects.NewDeployment("using", "shop").Labeled("logs", "vector").WithPort(8080).Build()

	decided := decide(t, snapshot(t, logs().WithInlineConfig(listening).Build(), cart(), hasty, using))

	require.Nil(t, decided.Invalid)
	warnings := map[string]string{}
	for i := range decided.Plans {
		warnings[decided.Plans[i].Target.Name] = decided.Plans[i].Warning
	}
	require.Empty(t, warnings["cart"])
	require.Contains(t, warnings["hasty"], "VSC509")
	require.Contains(t, warnings["using"], "VSC505")
	require.Contains(t, warnings["using"], "spec.sidecar.config.inline:2:43")
}

func TestDecide_ChecksOnlyConfigFilesReadByVector(t *testing.T) {
	object := objects.NewConfigMap("shipping", "shop", "vector.yaml", "sources:\n  app: {type: stdin}\n")
	object.Data["sinks.yaml"] = "sinks:\n  out: {type: blackhole, inputs: [app]}\n"
	object.Data["other.toml"] = "this is no configuration"
	for name, test := range map[string]struct {
		args        []string
		image, says string
	}{
		"the key that is named":       {says: "sinks is empty"},
		"two files":                   {args: []string{"--config", "/etc/vector/vector.yaml", "-c", "/etc/vector/sinks.yaml"}},
		"a pattern":                   {args: []string{"--config=/etc/vector/*.yaml"}},
		"a folder":                    {args: []string{"--config-dir", "/etc/vector"}, says: "other.toml:1:6: not TOML"},
		"a file of the image":         {args: []string{"--config", "/elsewhere/vector.yaml"}, image: "acme/vector:0.57.0"},
		"no file of Vector's image":   {args: []string{"--config", "/elsewhere/vector.yaml"}, says: "sidecar.args: --config: /elsewhere/vector.yaml does not exist in the container"},
		"a file that does not exist":  {args: []string{"--config", "/etc/vector/none.yaml"}, says: "sidecar.args: --config: /etc/vector/none.yaml does not exist in the container"},
		"an argument without a value": {args: []string{"--config"}, says: "sidecar.args: --config: the flag needs a value"},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, logs().WithConfigMap("shipping", "").Sidecar(func(s *v1alpha1.SidecarSpec) { s.Args, s.Image = test.args, test.image }).Build(), cart())
			s.ConfigMaps = only("shipping", object)

			decided := decide(t, s)

			if test.says == "" {
				require.Nil(t, decided.Invalid)
				return
			}
			require.NotNil(t, decided.Invalid)
			require.Contains(t, decided.Invalid.Message, test.says)
		})
	}
}
