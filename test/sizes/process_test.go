// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sizes

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/test/freeport"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/presets"
)

// ticksPerSecond is how the kernel counts the time of processes.
const ticksPerSecond = 100

// process is a running Vector.
type process struct {
	pid     int
	metrics string
	logs    string
}

// start runs Vector with what the chart renders for a preset whose collector is at an
// address.
func start(t *testing.T, preset, address string) *process {
	t.Helper()
	metrics, api := freeport.PortForTest(t), freeport.PortForTest(t)
	result := presets.Render(t, vectorsidecar.FS, environment, map[string]any{
		"logs": map[string]any{"path": "/var/log/app"}, "sinks": sinkOf(preset, address),
		"metrics": map[string]any{"port": metrics}, "health": map[string]any{"port": api},
	})
	folder := t.TempDir()
	p := &process{metrics: fmt.Sprintf("http://127.0.0.1:%d/metrics", metrics), logs: filepath.Join(folder, "logs")}
	data := filepath.Join(folder, "data")
	require.NoError(t, os.Mkdir(p.logs, 0o700))
	require.NoError(t, os.Mkdir(data, 0o700))
	text := strings.NewReplacer("/var/lib/vector", data, "/var/log/app", p.logs).Replace(result.ConfigMap.Data["vector.yaml"])
	file := filepath.Join(folder, "vector.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	command := exec.Command(os.Getenv("VECTOR"), "--config", file)
	command.Env = []string{"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b", "AWS_EC2_METADATA_DISABLED=true"}
	for _, variable := range result.Deployment.Spec.Template.Spec.InitContainers[0].Env {
		value := variable.Value
		if variable.ValueFrom != nil {
			value = variable.Name
		}
		command.Env = append(command.Env, variable.Name+"="+value)
	}
	var log tail
	command.Stdout = &log
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait() // It was killed.
		if t.Failed() {
			t.Logf("the end of what Vector printed:\n%s", log.text())
		}
	})
	p.pid = command.Process.Pid
	harness.Eventually(t, "a response of Vector", func() bool { return p.counter("") >= 0 })
	return p
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	last []byte
}

func (o *tail) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = append(o.last, text...)
	o.last = o.last[max(0, len(o.last)-4000):]
	return len(text), nil
}

func (o *tail) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.last)
}

// counter is a sum of Vector's metrics whose name and labels match a pattern, -1 if it does
// not answer.
func (p *process) counter(pattern string) float64 {
	client := http.Client{Timeout: 10 * time.Second}
	answer, err := client.Get(p.metrics)
	if err != nil {
		return -1
	}
	defer func() { _ = answer.Body.Close() }() // It was only read.
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return -1
	}
	sum := 0.0
	for _, match := range regexp.MustCompile(`(?m)^`+pattern+`[^\n]* ([0-9.e+]+) \d+$`).FindAllStringSubmatch(string(text), -1) {
		value, _ := strconv.ParseFloat(match[1], 64)
		sum += value
	}
	return sum
}

// sent is how many lines the collector has taken, and read how many Vector has read.
func (p *process) sent() float64 {
	return p.counter(`vector_component_sent_events_total\{component_id="` + sinkName + `"`)
}

func (p *process) read() float64 {
	return p.counter(`vector_component_received_events_total\{component_id="logs"`)
}

// memory returns a line of the process' status, in bytes.
func (p *process) memory(t *testing.T, name string) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	require.NoError(t, err)
	match := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(text)
	require.NotNil(t, match, name)
	kilobytes, err := strconv.ParseInt(string(match[1]), 10, 64)
	require.NoError(t, err)
	return kilobytes << 10
}

// cpu is how many seconds of a processor it has taken.
func (p *process) cpu(t *testing.T) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	require.NoError(t, err)
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return float64(user+system) / ticksPerSecond
}
