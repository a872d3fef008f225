// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// describeOrigins returns a text that names the layers of values that set the values in a failing template expression,
// or "" if no layer set them.
func describeOrigins(err error, values environment.Values) string {
	var located *gotemplate.Error
	if !errors.As(err, &located) {
		return ""
	}
	var descriptions []string
	for _, path := range located.Values {
		if text := describeOrigin(path, values); text != "" && !slices.Contains(descriptions, text) {
			descriptions = append(descriptions, text)
		}
	}
	if len(descriptions) == 0 {
		return ""
	}
	return " [" + strings.Join(descriptions, ", ") + "]"
}

// describeOrigin returns a text that names the layer of values that set the value at a path. If the value does not
// exist, it names the last value on its path that exists. It returns "" for the values target and cluster, which no
// layer sets.
func describeOrigin(path []string, values environment.Values) string {
	if path[0] == "target" || path[0] == "cluster" {
		return ""
	}
	for n := len(path); n > 0; n-- {
		value, _ := tree.Value(values.Tree, path[:n]...)
		_, isMap := value.(map[string]any)
		if source := values.Origin(path[:n]...); source != "" && (n == len(path) || !isMap) {
			return fmt.Sprintf("%s is set by %s", strings.Join(path[:n], "."), source)
		}
	}
	return ""
}
