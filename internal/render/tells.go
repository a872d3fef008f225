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
func tellsIn(text string) ([]workload.Tell, error) {
	if text == "" {
		return nil, nil
	}
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("metadata.annotations: %s: %w", meta.AnnotationApplicationEnv, fmt.Errorf(format, args...))
	}
	var tells []workload.Tell
	if err := bounded.Object().DecodeJSON([]byte(text), &tells); err != nil {
		return nil, refuse("it has to be a list of containers, name and value in JSON: %w", err)
	}
	if len(tells) > mostTells {
		return nil, refuse("it has %d variables, and %d at most may be told", len(tells), mostTells)
	}
	seen := map[string]bool{}
	for i := range tells {
		switch tell := &tells[i]; {
		case !variableName.MatchString(tell.Name):
			return nil, refuse("%q is not the name of a variable: letters, digits and _, with no digit first", tell.Name)
		case seen[tell.Name]:
			return nil, refuse("%s is told twice", tell.Name)
		case len(tell.Containers) == 0:
			return nil, refuse("%s names no containers; %q is all of them", tell.Name, workload.AllContainers)
		case len(tell.Value) > longestTold || strings.ContainsFunc(tell.Value, unicode.IsControl):
			return nil, refuse("the value of %s has to be one line of at most %d bytes", tell.Name, longestTold)
		}
		seen[tells[i].Name] = true
	}
	return tells, nil
}
