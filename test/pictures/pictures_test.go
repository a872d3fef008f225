// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package pictures

import (
	"bytes"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
)

var update = flag.Bool("update", false, "record the commands without a cluster, and draw all recordings")

// folder has the pictures.
const folder = "../../docs/pictures"

// offline is the recording of commands that need no cluster. They run in docs/samples.
const offline = "explain"

func recording(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("recorded", name+".txt"))
	require.NoError(t, err)
	return string(text)
}

// names returns the names of the recordings.
func names(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("recorded/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var recorded []string
	for _, file := range files {
		recorded = append(recorded, strings.TrimSuffix(filepath.Base(file), ".txt"))
	}
	return recorded
}

// The recording of commands without a cluster has the output that they have now.
func TestPictures_ShowOutputOfPlugin(t *testing.T) {
	recorded := recording(t, offline)
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	work, err := os.Getwd()
	require.NoError(t, err)
	t.Chdir("../../docs/samples")
	var printed bytes.Buffer
	for line := range strings.Lines(recorded) {
		command, isCommand := strings.CutPrefix(line, "$ kubectl vectorsidecar ")
		if !isCommand {
			continue
		}
		if printed.Len() > 0 {
			printed.WriteString("\n")
		}
		printed.WriteString(line)
		streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &printed, ErrOut: io.Discard}
		code := cli.Run(t.Context(), strings.Fields(command), streams, cli.Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test")
		require.Zero(t, code, line)
	}
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join(work, "recorded", offline+".txt"), printed.Bytes(), 0o644))
		return
	}
	require.Equal(t, recorded, printed.String(), "run go test ./test/pictures -update")
}

// Each picture is the one of its recording.
func TestPictures_ShowRecordings(t *testing.T) {
	recorded := names(t)
	for _, name := range recorded {
		file, picture := filepath.Join(folder, name+".svg"), draw(recording(t, name))
		if *update {
			require.NoError(t, os.MkdirAll(folder, 0o755))
			require.NoError(t, os.WriteFile(file, picture, 0o644))
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(text), string(picture), "run go test ./test/pictures -update")
	}
	files, err := filepath.Glob(folder + "/*.svg")
	require.NoError(t, err)
	require.Len(t, files, len(recorded), "a picture has no recording")
}

// A reader can select the text of each line, and the picture loads no other file.
func TestDraw_HasTextAndNoReference(t *testing.T) {
	for _, name := range names(t) {
		picture := draw(recording(t, name))
		var svg struct {
			Title string   `xml:"title"`
			Lines []string `xml:"text"`
		}
		require.NoError(t, xml.Unmarshal(picture, &svg))
		var lines []string
		for _, line := range wrapped(recording(t, name)) {
			lines = append(lines, line.text)
		}
		require.Equal(t, lines, svg.Lines)
		require.NotEmpty(t, svg.Title)
		for _, reference := range []string{"href", "url(", "@import", "@font-face", "<script", "<image", "<foreignObject"} {
			require.NotContains(t, string(picture), reference, name)
		}
	}
}

func TestDraw_WrapsAndEscapesLines(t *testing.T) {
	long := "$ echo " + strings.Repeat("x", columns)
	require.Equal(t, []line{{long[:columns], false}, {long[columns:], true}, {"", false}, {"<&>", false}}, wrapped(long+"\n\n<&>\n"))
	picture := string(draw(long + "\n\n<&>\n"))
	require.Equal(t, 2, strings.Count(picture, ` class="command"`), "the prompt and its continuation")
	require.Contains(t, picture, ">&lt;&amp;&gt;</text>")
}
