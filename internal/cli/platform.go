// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io/fs"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/platform"
	"kontroloop.ai/vector-sidecar-operator/internal/sidecarchart"
	"kontroloop.ai/vector-sidecar-operator/internal/world"
)

// platform is what the platform team gives: the installation's values, policy and
// template sets, where the command line gives none of its own.
func (s *source) platform(chart fs.FS, installed *world.Installation, environment string) (*platform.Platform, error) {
	now, err := s.platformOf(chart, installed, environment)
	if err == nil && s.templates != "" {
		now = now.OnTrial()
	}
	return now, err
}

func (s *source) platformOf(chart fs.FS, installed *world.Installation, environment string) (*platform.Platform, error) {
	given, err := s.givenValues(environment)
	if err != nil {
		return nil, err
	}
	if installed.Values == nil {
		loaded, err := sidecarchart.Load(chart)
		if err != nil {
			return nil, err
		}
		return platform.Of(loaded, s.values, given), nil
	}
	files, err := sidecarchart.Read(chart)
	if err != nil {
		return nil, err
	}
	catalogue, err := platform.NewCatalogue(files)
	if err != nil {
		return nil, err
	}
	object := &corev1.ConfigMap{Data: installed.Values}
	object.Namespace, object.Name = installed.Namespace, installed.ValuesFrom
	if s.values != "" {
		object.Data = given
	}
	now, _ := catalogue.Update(object, installed.TemplateSets)
	return now, nil
}

// givenValues are the values and the policy of --values, in the form of an
// installation's ConfigMap.
func (s *source) givenValues(environment string) (map[string]string, error) {
	if s.values == "" {
		return map[string]string{}, nil
	}
	text, err := s.app.readFile(s.values)
	if err != nil {
		return nil, fmt.Errorf("reading values: %w", err)
	}
	policy, err := policyIn(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.values, err)
	}
	return map[string]string{environment + ".yaml": string(text), platform.PolicyKey: policy}, nil
}

// policyIn is the part of the installation's values that is its policy.
func policyIn(values []byte) (string, error) {
	var given struct {
		Policy map[string]any `json:"policy"`
	}
	if err := bounded.Values().DecodeYAML(values, &given); err != nil {
		return "", nil //nolint:nilerr // Reading the values as such says it better.
	}
	text, err := yaml.Marshal(given.Policy)
	return string(text), err
}
