// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseEnvInjections_RejectsInvalidVariables(t *testing.T) {
	for text, want := range map[string]string{
		``: "",
		`[{"containers":["*"],"name":"A","value":"b"}]`:                                             "",
		`{"containers":["*"]}`:                                                                      "list of variables, each with containers, name and value",
		`[{"containers":["*"],"name":"1A","value":"b"}]`:                                            `"1A" is not a valid variable name`,
		`[{"containers":["*"],"name":"A=B","value":"b"}]`:                                           `"A=B" is not a valid variable name`,
		`[{"containers":[],"name":"A","value":"b"}]`:                                                "variable A has no containers",
		`[{"containers":["*"],"name":"A","value":"b\nc"}]`:                                          "one line",
		`[{"containers":["*"],"name":"A","value":"` + strings.Repeat("x", maxValueLength+1) + `"}]`: "one line of at most 512 bytes",
		`[{"containers":["*"],"name":"A","value":"b"},{"containers":["*"],"name":"A","value":"c"}]`: "duplicate variable A",
		`[` + strings.Repeat(`{},`, maxVariables) + `{}]`:                                           "17 variables; at most 16 are allowed",
	} {
		_, err := parseEnvInjections(text)
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "vectorsidecar.observability.kontroloop.ai/application-env: ")
	}
}
