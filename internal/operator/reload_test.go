// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// A changed configuration file sets the log level at once. For each other changed key, a log line states that a restart
// is needed.
func TestReloader_AppliesOnlyLogLevel(t *testing.T) {
	emptyEnvironment(t)
	path := filepath.Join(t.TempDir(), "config.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write("log-level: INFO\nconcurrency: 4\n")
	options, err := ParseOptions([]string{"--config=" + path, "--environment=staging"})
	require.NoError(t, err)
	var said []string
	log := funcr.New(func(_, line string) { said = append(said, line) }, funcr.Options{})
	level := zap.NewAtomicLevelAt(options.LogLevel)
	r := newReloader(options, level, log)
	look := func() string {
		said = nil
		r.checkFile()
		if len(said) == 0 {
			return ""
		}
		return said[len(said)-1]
	}

	require.Empty(t, look(), "nothing has changed")
	write("log-level: DEBUG\nconcurrency: 4\n")
	require.Contains(t, look(), "configuration reloaded")
	require.Equal(t, zapcore.DebugLevel, level.Level())
	require.Empty(t, look(), "once for each content")

	write("log-level: ERROR\nconcurrency: many\n")
	require.Contains(t, look(), "ignoring the changed configuration")
	require.Equal(t, zapcore.DebugLevel, level.Level(), "the last good one stays")
	require.Empty(t, look(), "a mistake is told once")

	write("log-level: ERROR\nconcurrency: 8\nenvironment: production\n")
	said = nil
	r.checkFile()
	require.Contains(t, said[len(said)-1], `"keys"=["concurrency" "environment"]`)
	require.Equal(t, zapcore.ErrorLevel, level.Level())

	require.NoError(t, os.Remove(path))
	require.Empty(t, look(), "a file that is being replaced")
	write("concurrency: 8\nenvironment: production\n")
	require.Contains(t, look(), "configuration reloaded")
	require.Equal(t, zapcore.InfoLevel, level.Level(), "the default, when the file says nothing any more")
}
