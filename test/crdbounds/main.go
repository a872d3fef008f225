// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command crdbounds bounds, in the files of CustomResourceDefinitions that it is given, what
// controller-gen leaves unbounded in embedded types, so that the API server accepts no number
// that Go cannot read: one object with such a number would fail every list that it is in. It
// adds the license header.
package main

import (
	"fmt"
	"math"
	"os"

	"sigs.k8s.io/yaml"
)

const header = "# SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors\n# SPDX-License-Identifier: Apache-2.0\n---\n"

// quantity matches the quantities that resource.ParseQuantity reads quickly: for a larger exponent, the time grows
// with the number, not with the length of its text. longestQuantity is the maximum length in characters, for the
// same reason.
const (
	quantity        = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,2}))?$`
	longestQuantity = 64
)

func main() {
	for _, path := range os.Args[1:] {
		if err := bound(path); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
			os.Exit(1)
		}
	}
}

func bound(path string) error {
	text, err := os.ReadFile(path) //nolint:gosec // it is a file of the chart
	if err != nil {
		return err
	}
	var definition map[string]any
	if err := yaml.Unmarshal(text, &definition); err != nil {
		return err
	}
	boundNumbers(definition)
	if text, err = yaml.Marshal(definition); err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte(header), text...), 0o644) //nolint:gosec // it is a file of the chart
}

// boundNumbers bounds each schema that takes a number or a text: those with a pattern are
// quantities, the others are intstr.IntOrString, which holds 32 bits.
func boundNumbers(node any) {
	switch node := node.(type) {
	case map[string]any:
		if _, isEither := node["x-kubernetes-int-or-string"]; isEither {
			if _, isQuantity := node["pattern"]; isQuantity {
				node["pattern"], node["maxLength"] = quantity, longestQuantity
			} else {
				node["minimum"], node["maximum"] = math.MinInt32, math.MaxInt32
			}
		}
		for _, child := range node {
			boundNumbers(child)
		}
	case []any:
		for _, child := range node {
			boundNumbers(child)
		}
	}
}
