// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Overlay is what is merged into a workload's pod template.
type Overlay struct {
	// Template is the overlay as a type, for decisions.
	Template corev1.PodTemplateSpec
	// Body is the same as it is applied: only what the templates gave, in the
	// API server's own spelling ("500m" for 0.5), so that nothing else becomes
	// ours. It must not be changed.
	Body map[string]any
	// Hash is a short digest of Body.
	Hash string
}

// newOverlay reads a rendered PodTemplate and adds annotations to it.
func newOverlay(text string, annotations map[string]string) (Overlay, error) {
	if err := onlyAdds(text); err != nil {
		return Overlay{}, err
	}
	var object corev1.PodTemplate
	if err := decode(text, &object); err != nil {
		return Overlay{}, err
	}
	var body corev1ac.PodTemplateApplyConfiguration
	if err := yaml.Unmarshal([]byte(text), &body); err != nil {
		return Overlay{}, yamlError(text, err)
	}
	if err := check(&object.Template); err != nil {
		return Overlay{}, err
	}
	if len(annotations) > 0 {
		if object.Template.Annotations == nil {
			object.Template.Annotations = map[string]string{}
		}
		maps.Copy(object.Template.Annotations, annotations)
		body.Template.WithAnnotations(annotations)
	}
	canonical, err := json.Marshal(body.Template)
	if err != nil {
		return Overlay{}, fmt.Errorf("writing the overlay: %w", err)
	}
	overlay := Overlay{Template: object.Template}
	if err := json.Unmarshal(canonical, &overlay.Body); err != nil {
		return Overlay{}, fmt.Errorf("reading the overlay back: %w", err)
	}
	sum := sha256.Sum256(canonical)
	overlay.Hash = hex.EncodeToString(sum[:8])
	return overlay, nil
}

// decode reads rendered YAML as strictly as the API server. The YAML library by
// itself would take a number for a text, and spell it anew.
func decode(text string, into any) error {
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return yamlError(text, err)
	}
	findings, err := kjson.UnmarshalStrict(data, into)
	if err := errors.Join(append(findings, err)...); err != nil {
		return fmt.Errorf("reading the rendered YAML: %w", err)
	}
	return nil
}

// mayHold is what an overlay may say, level by level. Everything else in a pod is
// a scalar or an atomic list: to set it would be to take it from its owner.
var mayHold = map[string][]string{
	"":                  {"apiVersion", "kind", "metadata", "template"},
	"template":          {"metadata", "spec"},
	"template.metadata": {"annotations", "labels"},
	"template.spec":     {"containers", "initContainers", "volumes"},
}

func onlyAdds(text string) error {
	var tree map[string]any
	if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
		return yamlError(text, err)
	}
	return onlyAddsAt(tree, "")
}

func onlyAddsAt(tree map[string]any, at string) error {
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		next := strings.TrimPrefix(at+"."+key, ".")
		if !slices.Contains(mayHold[at], key) {
			return fmt.Errorf("%s: a sidecar may only add %s here; this field belongs to the workload's owner", next, strings.Join(mayHold[at], ", "))
		}
		branch, isMap := tree[key].(map[string]any)
		if _, deeper := mayHold[next]; !deeper {
			continue
		}
		if !isMap && tree[key] != nil {
			return fmt.Errorf("%s: must be a map", next)
		}
		if err := onlyAddsAt(branch, next); err != nil {
			return err
		}
	}
	return nil
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

// yamlError shows the rendered line that a YAML error speaks of: its author never
// saw that text.
func yamlError(text string, err error) error {
	message := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "), "yaml: ")
	if match := yamlLine.FindStringSubmatch(message); match != nil {
		number, _ := strconv.Atoi(match[1])
		if lines := strings.Split(text, "\n"); number >= 1 && number <= len(lines) {
			return fmt.Errorf("reading the rendered YAML: %s: %q", message, lines[number-1])
		}
	}
	return fmt.Errorf("reading the rendered YAML: %s", message)
}
