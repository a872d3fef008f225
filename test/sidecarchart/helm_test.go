// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecarchart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

// root is the repository.
const root = "../.."

// What `helm template` takes for a name, a namespace and a server.
var helmDefault = render.Release{Name: "release-name", Namespace: "default"}

const helmKubeVersion = "v1.36.0"

// variants are values that take other ways through the templates.
var variants = map[string]string{
	"as it is": `{}`,
	"logs": `
sidecar: {logs: {path: /var/log/app}}
target: {containers: [{name: app, volumeMounts: [{name: logs, mountPath: /var/log, subPath: app}]}]}`,
	"otlp":       `sidecar: {otlp: {enabled: true, grpcPort: 14317}}`,
	"socket":     `sidecar: {socket: {enabled: true, mode: udp, codec: syslog}}`,
	"aggregator": `{global: {aggregator: {address: "aggregator:6000"}}, sidecar: {otlp: {enabled: true}}}`,
	"presets": `
sidecar:
  otlp: {enabled: true}
  secrets: {store: credentials, gone: null}
  sinks:
    gone: null
    http: {type: http, uri: "https://logs.example.com/{{ service }}", encoding: {except_fields: [a]}}
    search: {type: elasticsearch, endpoints: ["https://search:9200"], auth: {strategy: basic, user: shop, password: "SECRET[store.password]"}}
    loki: {type: loki, endpoint: "https://loki", labels: {team: shop}, buffer: {type: disk, max_size: 268435488}}
    archive: {type: aws_s3, bucket: b, encoding: {codec: text}}
    queue: {type: kafka, bootstrap_servers: "k:9092", topic: t, inputs: [otlp.logs]}
    shipper: {type: vector, address: "x:6000", acknowledgements: {enabled: false}}`,
	"metrics off":  `sidecar: {otlp: {enabled: true}, metrics: {enabled: false}}`,
	"native Never": `sidecar: {native: Never, threads: 4, shutdown: {drainSeconds: 0}}`,
	"a gate": `
sidecar:
  shutdown: {method: Gate}
  logs: {path: /var/log/app, include: ["*.log", "<&>.log"], fingerprint: {lines: 2}}
target: {containers: [{name: app, volumeMounts: [{name: l, mountPath: /var/log}]}]}`,
	"no gate where there can be none": `sidecar: {shutdown: {method: Gate}, otlp: {enabled: true}}`,
	"inline YAML": `
sidecar:
  config:
    inline: |
      sources: {own: {type: internal_logs}}
      sinks: {out: {type: http, inputs: [own], uri: "http://{{ host }}/"}}`,
	"inline JSON": `sidecar: {config: {inline: '{"sources": {"own": {"type": "internal_logs"}}}'}}`,
	"raw": `
sidecar:
  config:
    raw:
      sources: {own: {type: internal_logs}}
      sinks: {out: {type: http, inputs: [own], uri: "http://{{ host }}/", batch: {max_bytes: 10485760, timeout_secs: 0.5}}}`,
	"inline TOML": `
sidecar:
  config:
    inline: |
      [sources.own]
      type = "internal_logs"
      [sinks.out]
      type = "blackhole"
      inputs = ["own"]`,
	"a ConfigMap": `sidecar: {config: {configMapRef: {name: shipping, key: agent.json}}, health: {probe: Always}}`,
	"lists of the user's own": `
initContainers: [{name: tables, image: "tables:1"}]
volumes: [{name: tables, emptyDir: {}}]
sidecar:
  args: [--config-dir, /etc/vector]
  env: [{name: VECTOR_LOG, value: trace}, {name: A, value: "1"}]
  envFrom: [{secretRef: {name: s}}]
  volumeMounts: [{name: tables, mountPath: /var/lib/vector}]`,
	"a Guaranteed pod": `
initContainers: [{name: tables, image: "tables:1"}, {name: more, image: "more:1", resources: {limits: {cpu: 1}, requests: {memory: 1Gi}}}]
sidecar: {qos: Keep, resources: {limits: {cpu: 1.5}}}
target: {qosClass: Guaranteed}`,
	"IPv6":              `{global: {ipFamily: IPv6}, sidecar: {otlp: {enabled: true}, socket: {enabled: true}}}`,
	"a dual stack":      `{global: {ipFamily: Dual}, sidecar: {otlp: {enabled: true}}}`,
	"a cluster of IPv6": `{cluster: {ipFamily: IPv6}}`,
	"OpenShift":         `{cluster: {platform: OpenShift}}`,
	"an application's user": `
sidecar: {user: Application, logs: {path: /var/log/app}, shutdown: {method: Gate}}
target:
  containers: [{name: app, volumeMounts: [{name: l, mountPath: /var/log}]}]
  users: {app: {runAsUser: 1000650000, runAsGroup: 7}}`,
	"log files that are removed": `
sidecar: {logs: {path: /var/log/app, cleanup: {rotated: ["*.log.*", "app-[0-9]?.log"], removeAfter: 90s, evenUnacknowledged: true}}}
target: {containers: [{name: app, volumeMounts: [{name: l, mountPath: /var/log}]}]}`,
	"metadata of the pods": `
global: {nodeAgentAnnotations: [{annotation: vector.dev/exclude-containers, value: CONTAINER}, {annotation: CONTAINER.example.com/collect, value: "false"}]}
sidecar:
  nodeAgents: Exclude
  podAnnotations: {vector.dev/exclude-containers: "app,vector", example.com/number: "1"}
  podLabels: {example.com/tier: "007"}`,
	"volumes that go with the node": `
sidecar: {data: {evictable: Always}, podAnnotations: {example.com/a: b}}
volumes: [{name: z, emptyDir: {}}, {name: memory, emptyDir: {medium: Memory}}, {name: claim, persistentVolumeClaim: {claimName: c}}, {name: a, hostPath: {path: /a}}]`,
	"volumes that keep the node": `{sidecar: {data: {evictable: Never}}}`,
	"a long name and numbers": `
sidecar:
  name: vector-for-the-shop-that-never-closes-and-logs-all-day
  resources: {limits: {cpu: 1.5, memory: 1000000000}}
  data: {sizeLimit: 1000000000}
  sinks: {console: null, out: {type: socket, mode: tcp, address: "x:1", batch: {max_bytes: 10485760, timeout_secs: 0.5}}}`,
}

// The operator renders the same objects as helm template.
func TestRender_MatchesHelmTemplate(t *testing.T) {
	helm, err := controlplane.Bin("helm")
	require.NoError(t, err)
	chart, err := render.LoadChart(vectorsidecar.FS)
	require.NoError(t, err)
	for _, env := range chart.Environments.Names() {
		for name, text := range variants {
			t.Run(env+"/"+name, func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "values.yaml")
				require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
				command := exec.CommandContext(t.Context(), helm, "template", ".", "-f", "values/"+env+".yaml", "-f", file)
				command.Dir = root
				out, err := command.CombinedOutput()
				require.NoError(t, err, string(out))

				ours := execute(t, chart, env, text)

				theirs := bySource(string(out))
				require.NotEmpty(t, theirs)
				for source, text := range theirs {
					require.Equal(t, text, strings.TrimSpace(ours[source]), source)
					delete(ours, source)
				}
				for source, text := range ours {
					require.Empty(t, strings.TrimSpace(text), "Helm prints nothing of %s", source)
				}
			})
		}
	}
}

// bySource splits what `helm template` prints.
func bySource(out string) map[string]string {
	files := map[string]string{}
	for _, document := range strings.Split("\n"+out, "\n---\n# Source: ") {
		if source, text, ok := strings.Cut(document, "\n"); ok && source != "" {
			files[source] = strings.TrimSpace(text)
		}
	}
	return files
}

// execute renders the chart for an environment with values of the user's own.
func execute(t *testing.T, chart *render.Chart, env string, texts ...string) map[string]string {
	t.Helper()
	files, err := tryExecute(t, chart, env, texts...)
	require.NoError(t, err)
	return files
}

func tryExecute(t *testing.T, chart *render.Chart, env string, texts ...string) (map[string]string, error) {
	t.Helper()
	var layers []environment.Layer
	for _, text := range texts {
		layer, err := environment.ParseLayer("values of the test", []byte(text))
		require.NoError(t, err)
		layers = append(layers, layer)
	}
	values, err := chart.Environments.Values(env, layers...)
	require.NoError(t, err)
	output, err := chart.Execute(t.Context(), helmDefault, values.Tree, helmKubeVersion)
	return output.Files, err
}
