// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// mostTells limits the number of variables of an overlay, and longestTold the length of a value in bytes, because the
// pod template records the variables of each container.
const (
	mostTells   = 16
	longestTold = 512
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// tellsIn reads the variables for the application's containers from the annotation of a rendered PodTemplate.
func tellsIn(text string) ([]workload.EnvInjection, error) {
	if text == "" {
		return nil, nil
	}
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("metadata.annotations: %s: %w", meta.AnnotationApplicationEnv, fmt.Errorf(format, args...))
	}
	var tells []workload.EnvInjection
	if err := bounded.Object().DecodeJSON([]byte(text), &tells); err != nil {
		return nil, refuse("not a JSON list of containers, name and value: %w", err)
	}
	if len(tells) > mostTells {
		return nil, refuse("%d variables, but at most %d are allowed", len(tells), mostTells)
	}
	seen := map[string]bool{}
	for i := range tells {
		switch tell := &tells[i]; {
		case !variableName.MatchString(tell.Name):
			return nil, refuse("%q is not a valid variable name; use letters, digits and _, and start with a letter or _", tell.Name)
		case seen[tell.Name]:
			return nil, refuse("duplicate variable %s", tell.Name)
		case len(tell.Containers) == 0:
			return nil, refuse("variable %s has no containers; use %q for all containers", tell.Name, workload.AllContainers)
		case len(tell.Value) > longestTold || strings.ContainsFunc(tell.Value, unicode.IsControl):
			return nil, refuse("variable %s: the value is not one line of at most %d bytes", tell.Name, longestTold)
		}
		seen[tells[i].Name] = true
	}
	return tells, nil
}
