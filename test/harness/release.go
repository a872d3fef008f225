// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"fmt"
	"testing/fstest"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// NextRelease returns the built-in chart of a release that renders everything differently:
// the container, with terminationMessagePolicy FallbackToLogsOnError, the configuration and the
// values of each environment. roll names its last change that is to roll, "" for none.
func NextRelease(roll string) (fstest.MapFS, error) {
	files, err := render.ReadFiles(vectorsidecar.FS)
	if err != nil {
		return nil, err
	}
	next := fstest.MapFS{}
	for name, text := range files {
		for from, to := range map[string]string{
			"imagePullPolicy: {{": "terminationMessagePolicy: FallbackToLogsOnError\n  imagePullPolicy: {{",
			`dict "data_dir"`:     `dict "timezone" "UTC" "data_dir"`,
			"logLevel: debug":     "logLevel: trace",
		} {
			text = bytes.ReplaceAll(text, []byte(from), []byte(to))
		}
		if name == "Chart.yaml" && roll != "" {
			text = fmt.Appendf(text, "\nannotations: {%s: %q}\n", meta.AnnotationRoll, roll)
		}
		next[name] = &fstest.MapFile{Data: text}
	}
	return next, nil
}
