// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate_test

import (
	"bufio"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
)

// Helm's engine cannot be canceled, and one line of a template can hang it or end its process. So
// it runs in a process of its own, which is killed when it takes too long.
const (
	// referenceVariable makes the test binary act as that process.
	referenceVariable = "VECTORSIDECAR_TEST_REFERENCE"
	// referenceTime is the timeout of one rendering. Ours takes a second at most.
	referenceTime   = 3 * time.Second
	referenceMemory = 4 << 30
	referenceStack  = 64 << 20
)

func TestMain(m *testing.M) {
	if os.Getenv(referenceVariable) != "" {
		answer(os.Stdin, os.Stdout)
		return
	}
	os.Exit(m.Run())
}

// rendering is the result of a template.
type rendering struct {
	Text, Error string
}

// answer renders each request with Helm's engine, one after another.
func answer(questions io.Reader, answers io.Writer) {
	debug.SetMaxStack(referenceStack)
	if !raceDetector { // Which takes much more for itself.
		limit := syscall.Rlimit{Cur: referenceMemory, Max: referenceMemory}
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
			panic(err)
		}
	}
	from, to := gob.NewDecoder(questions), gob.NewEncoder(answers)
	for {
		var files map[string]string
		if err := from.Decode(&files); err != nil {
			return
		}
		if err := to.Encode(renderByHelm(files)); err != nil {
			return
		}
	}
}

func renderByHelm(files map[string]string) (result rendering) {
	defer func() {
		if cause := recover(); cause != nil {
			result = rendering{Error: fmt.Sprint("panic: ", cause)}
		}
	}()
	loaded := &chart.Chart{Metadata: &chart.Metadata{Name: "c", Version: "1.0.0", APIVersion: "v2"}}
	for name, text := range files {
		loaded.Templates = append(loaded.Templates, &chart.File{Name: name, Data: []byte(text)})
	}
	rendered, err := engine.Render(loaded, chartutil.Values(ordinary()))
	if err != nil {
		return rendering{Error: err.Error()}
	}
	return rendering{Text: rendered["c/templates/a.yaml"]}
}

// ordinary returns data for templates that both engines render. Helm adds its own Chart, Files and
// Subcharts.
func ordinary() map[string]any {
	return map[string]any{
		"Values":  map[string]any{"text": "{{ .Release.Name }}", "key": "team", "list": []any{"a", "b", float64(3)}, "target": cart()},
		"Release": map[string]any{"Name": "logs", "Namespace": "shop"}, "Capabilities": map[string]any{},
		"Chart": map[string]any{"Name": "c", "Version": "1.0.0"}, "Files": gotemplate.Files{}, "Subcharts": map[string]any{},
	}
}

// reference is the process that renders with Helm's engine. It is started on demand.
type reference struct {
	command *exec.Cmd
	input   io.Closer
	ask     *gob.Encoder
	answers chan rendering
}

func newReference(t testing.TB) *reference {
	t.Helper()
	r := &reference{}
	t.Cleanup(r.stop)
	return r
}

// render returns what Helm renders. isKnown is false if Helm took too long or its process ended.
func (r *reference) render(t testing.TB, files map[string]string) (result rendering, isKnown bool) {
	t.Helper()
	if r.command == nil {
		r.start(t)
	}
	if err := r.ask.Encode(files); err != nil {
		r.stop()
		return rendering{}, false
	}
	select {
	case result, isKnown = <-r.answers:
	case <-time.After(referenceTime):
	}
	if !isKnown {
		r.stop()
	}
	return result, isKnown
}

func (r *reference) start(t testing.TB) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r.command = exec.Command(self) //nolint:noctx // it is this program, and outlives no test
	r.command.Env = append(os.Environ(), referenceVariable+"=1")
	output, err := r.command.StdoutPipe()
	if err == nil {
		var input io.WriteCloser
		input, err = r.command.StdinPipe()
		r.input, r.ask = input, gob.NewEncoder(input)
	}
	if err == nil {
		err = r.command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan rendering)
	r.answers = answers
	go func() {
		defer close(answers)
		from := gob.NewDecoder(bufio.NewReader(output))
		for {
			var one rendering
			if from.Decode(&one) != nil {
				return
			}
			answers <- one
		}
	}()
}

// stop ends the process. The next request starts another one.
func (r *reference) stop() {
	if r.command == nil {
		return
	}
	_ = r.input.Close()
	_ = r.command.Process.Kill()
	for range r.answers { // Its reader has to be done before Wait.
	}
	_ = r.command.Wait()
	r.command = nil
}
