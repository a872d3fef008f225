// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// contract is a version of the contract between the operator and template sets. The contract covers the values that
// templates get, the named templates of the built-in set that others include, and the objects that a set renders.
type contract struct {
	version string
	// changes lists the changes that authors of sets must make for this version, one sentence each.
	changes []string
}

// contracts lists the versions of the contract, oldest first. The last one is the version of the operator.
var contracts = []contract{{version: "v1"}}

// checkContract returns an error if a set does not have the last version of a history. The version "" means the first
// one.
func checkContract(history []contract, version string) error {
	current := history[len(history)-1].version
	i := slices.IndexFunc(history, func(c contract) bool { return c.version == version })
	switch {
	case version == "":
		i = 0
	case i < 0:
		return fmt.Errorf("%s: annotation %s: the template set has contract %q, which this release of the operator does not support; supported: %s",
			chartFile, meta.AnnotationContract, version, current)
	}
	if i == len(history)-1 {
		return nil
	}
	var changes []string
	for _, newer := range history[i+1:] {
		changes = append(changes, newer.changes...)
	}
	return fmt.Errorf("%s: annotation %s: the template set has contract %s, and this release of the operator has %s; adapt the set, and set the annotation to %s; changes: %s",
		chartFile, meta.AnnotationContract, history[i].version, current, current, strings.Join(changes, "; "))
}

// readChartFile decodes a Chart.yaml. An invalid file counts as part of a whole chart, and loading that chart reports the
// error.
func readChartFile(text []byte) map[string]any {
	chartFields := map[string]any{}
	if bounded.Values().DecodeYAML(text, &chartFields) != nil {
		return nil
	}
	return chartFields
}

// IsWholeChart reports whether a Chart.yaml belongs to a whole chart. A Chart.yaml with only annotations belongs to a
// set of some files and states the contract of the set.
func IsWholeChart(text []byte) bool {
	chartFields := readChartFile(text)
	_, hasAnnotations := chartFields["annotations"]
	return !hasAnnotations || len(chartFields) > 1
}

// readContract returns the contract version in the annotation of a Chart.yaml, "" without the annotation.
func readContract(text []byte) string {
	annotations, _ := readChartFile(text)["annotations"].(map[string]any)
	version, _ := annotations[meta.AnnotationContract].(string)
	return version
}
