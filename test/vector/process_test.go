// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/test/freeport"
	"kontroloop.ai/vector-sidecar-operator/test/presets"
)

// secret is a string in every event.
const secret = "hunter2"

// program returns the path of Vector.
func program(t *testing.T) string {
	t.Helper()
	if named := os.Getenv("VECTOR"); named != "" {
		return named
	}
	found, err := exec.LookPath("vector")
	if err != nil {
		t.Skip("SKIPPED: there is no Vector here: name the program in VECTOR, or put it into PATH")
	}
	return found
}

// running is a Vector with the configuration of a rendered sidecar.
type running struct {
	program, file string
	env           []string
	container     *corev1.Container
	process       *os.Process
	ended         chan struct{}
	log           strings.Builder
	// metrics, api and socket are the ports of Vector.
	metrics, api, socket int
}

// start renders a sidecar that takes lines from a socket and sends them to a collector,
// and runs it. limit is how many seconds Vector may take to end.
func start(t *testing.T, chart fs.FS, collector string, limit int) *running {
	t.Helper()
	socket := freeport.PortForTest(t)
	r := launch(t, chart, map[string]any{
		"socket":   map[string]any{"enabled": true, "port": socket},
		"sinks":    map[string]any{"out": map[string]any{"type": "http", "uri": collector}},
		"shutdown": map[string]any{"limitSeconds": limit},
	})
	r.socket = socket
	return r
}

// launch runs what is rendered of what a person writes below spec.sidecar. folders are
// pairs of a folder of the pod's and the one that stands for it here.
func launch(t *testing.T, chart fs.FS, sidecar map[string]any, folders ...string) *running {
	t.Helper()
	r := &running{program: program(t), metrics: freeport.PortForTest(t), api: freeport.PortForTest(t)}
	sidecar["metrics"], sidecar["health"] = map[string]any{"port": r.metrics}, map[string]any{"port": r.api}
	result := presets.Render(t, chart, "development", sidecar)
	r.container = &result.Deployment.Spec.Template.Spec.InitContainers[0]
	folder := t.TempDir()
	r.file = filepath.Join(folder, "vector.yaml")
	text := strings.NewReplacer(append(folders, "/var/lib/vector", folder)...).Replace(result.ConfigMap.Data["vector.yaml"])
	require.NoError(t, os.WriteFile(r.file, []byte(text), 0o600))
	for _, variable := range r.container.Env {
		value := variable.Value
		if variable.ValueFrom != nil {
			value = variable.ValueFrom.FieldRef.FieldPath
		}
		r.env = append(r.env, variable.Name+"="+value)
	}
	t.Cleanup(func() {
		if r.process != nil {
			r.kill(t)
		}
		if t.Failed() {
			t.Logf("log of Vector:\n%s", &r.log)
		}
	})
	r.begin(t)
	return r
}

// begin starts Vector, and waits until the probe succeeds.
func (r *running) begin(t *testing.T) {
	t.Helper()
	cmd := exec.Command(r.program, "--config", r.file)
	cmd.Stdout, cmd.Stderr, cmd.Env = &r.log, &r.log, r.env
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	r.process, r.ended = cmd.Process, ended
	go func() {
		_ = cmd.Wait() // Its state tells how it ended.
		close(ended)
	}()
	require.Eventually(t, func() bool { return r.isAlive(t) }, time.Minute, 100*time.Millisecond, "a response of Vector to the probe")
}

// kill kills Vector at once, as the kernel does.
func (r *running) kill(t *testing.T) {
	t.Helper()
	_ = r.process.Kill()
	await(t, r.ended, "Vector to end")
}

// isAlive asks what the kubelet would, as it would.
func (r *running) isAlive(t *testing.T) bool {
	t.Helper()
	probe := r.container.LivenessProbe
	client := http.Client{Timeout: time.Duration(probe.TimeoutSeconds) * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + net.JoinHostPort(podIP, probe.HTTPGet.Port.String()) + probe.HTTPGet.Path)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	return answer.StatusCode >= 200 && answer.StatusCode < 400
}

func (r *running) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	require.NoError(t, r.process.Signal(signal))
}

// feed gives it events until the test ends.
func (r *running) feed(t *testing.T) {
	t.Helper()
	connection, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(r.socket))
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	go func() {
		for i := 0; ; i++ {
			if _, err := fmt.Fprintf(connection, "password %s of event %d\n", secret, i); err != nil {
				return
			}
			select {
			case <-t.Context().Done():
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
}

// taps reports whether Vector's own command shows events of whoever listens at a host and
// the API's port. Until 0.54 the API is at a path.
func (r *running) taps(t *testing.T, host string) bool {
	t.Helper()
	for _, path := range []string{"", "/graphql"} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		url := "http://" + net.JoinHostPort(host, strconv.Itoa(r.api)) + path
		seen, _ := exec.CommandContext(ctx, r.program, "tap", "--quiet", "--format", "json", "--url", url, "*").Output()
		cancel()
		if strings.Contains(string(seen), secret) {
			return true
		}
	}
	return false
}

// podIP is another address than the one of the loopback that programs listen on: as that of
// a pod, it reaches who listens on all addresses, and nobody else.
const podIP = "127.0.0.2"

// collector takes what it is sent, or, when it is stuck, takes it and never answers. The
// channel is closed with the first that comes.
func collector(t *testing.T, isStuck bool) (url string, reached <-chan struct{}) {
	t.Helper()
	came, end := make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() { close(came) })
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		first()
		if err != nil || isStuck {
			<-end
		}
	}))
	t.Cleanup(func() {
		close(end)
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL, came
}

// await waits for a channel to be closed.
func await(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(time.Minute):
		require.Fail(t, "timed out waiting for "+what)
	}
}
