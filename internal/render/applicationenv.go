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

// maxVariables limits the number of variables of an overlay, and maxValueLength the length of a value in bytes, because the
// pod template records the variables of each container.
const (
	maxVariables   = 16
	maxValueLength = 512
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// parseEnvInjections reads the variables for the application's containers from the annotation of a rendered PodTemplate.
func parseEnvInjections(text string) ([]workload.EnvInjection, error) {
	if text == "" {
		return nil, nil
	}
	invalid := func(format string, args ...any) error {
		return fmt.Errorf("metadata.annotations: %s: %w", meta.AnnotationApplicationEnv, fmt.Errorf(format, args...))
	}
	var injections []workload.EnvInjection
	if err := bounded.Object().DecodeJSON([]byte(text), &injections); err != nil {
		return nil, invalid("the annotation is not a JSON list of variables, each with containers, name and value: %w", err)
	}
	if len(injections) > maxVariables {
		return nil, invalid("the annotation has %d variables; at most %d are allowed", len(injections), maxVariables)
	}
	names := map[string]bool{}
	for i := range injections {
		switch injection := &injections[i]; {
		case !variableName.MatchString(injection.Name):
			return nil, invalid("%q is not a valid variable name; use letters, digits and _, and start with a letter or _", injection.Name)
		case names[injection.Name]:
			return nil, invalid("duplicate variable %s", injection.Name)
		case len(injection.Containers) == 0:
			return nil, invalid("variable %s has no containers; use %q for all containers", injection.Name, workload.AllContainers)
		case len(injection.Value) > maxValueLength || strings.ContainsFunc(injection.Value, unicode.IsControl):
			return nil, invalid("variable %s: the value is not one line of at most %d bytes", injection.Name, maxValueLength)
		}
		names[injections[i].Name] = true
	}
	return injections, nil
}
