// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io/fs"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// platform returns the platform team's configuration: the installation's values, policy and
// template sets, unless the command line replaces them. values are those of --values, nil for none.
func (s *inputs) platform(chart fs.FS, installed *source.Installation, values *desired.InstallationValues) (*desired.Platform, error) {
	now, err := platformOf(chart, installed)
	if err != nil {
		return nil, err
	}
	if values != nil {
		now = values.Over(now)
	}
	if s.templates != "" {
		now = now.OnTrial()
	}
	return now, nil
}

func platformOf(chart fs.FS, installed *source.Installation) (*desired.Platform, error) {
	if installed.Values == nil {
		loaded, err := render.LoadChart(chart)
		if err != nil {
			return nil, err
		}
		return desired.PlatformOf(loaded, "", nil), nil
	}
	files, err := render.ReadFiles(chart)
	if err != nil {
		return nil, err
	}
	catalogue, err := desired.NewCatalog(files)
	if err != nil {
		return nil, err
	}
	object := &corev1.ConfigMap{Data: installed.Values}
	object.Namespace, object.Name = installed.Namespace, installed.ValuesFrom
	now, _ := catalogue.Update(object, installed.TemplateSets)
	return now, nil
}

// givenValues returns those of --values, nil for none. If they do not name their environment, it is
// the first one asked for that they do not define under environments.
func (s *inputs) givenValues(ctx context.Context, asked ...string) (*desired.InstallationValues, error) {
	if s.values == "" {
		return nil, nil //nolint:nilnil // None are given.
	}
	text, err := s.app.readFile(s.values)
	if err != nil {
		return nil, fmt.Errorf("reading values: %w", err)
	}
	return desired.ReadInstallationValues(ctx, s.app.builtin.Chart, s.values, text, asked...)
}
