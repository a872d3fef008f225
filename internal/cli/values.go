// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// sidecarValues are the values of one VectorSidecar.
type sidecarValues struct {
	VectorSidecar string             `json:"vectorSidecar"`
	Environment   string             `json:"environment"`
	Values        []environment.Leaf `json:"values"`

	title string
}

// printValues prints every value of every VectorSidecar, and its origin.
func (o *renderOptions) printValues(ctx context.Context, scene *session) error {
	reports := []sidecarValues{}
	for _, sidecar := range scene.objects.Sidecars() {
		ruled, err := scene.evaluateSidecar(ctx, sidecar)
		if err != nil {
			return err
		}
		values, invalid, err := desired.MergeValues(ctx, &ruled.input.Inputs)
		if err != nil {
			return err
		}
		if invalid != nil {
			return fmt.Errorf("%s: %s", invalid.Reason, invalid.Message)
		}
		reports = append(reports, sidecarValues{sidecar.Namespace + "/" + sidecar.Name, ruled.decision.Environment, values.ListLeaves(), meta.TitleIn(sidecar.Namespace, sidecar.Name)})
	}
	if o.output.isTree() {
		return o.output.print(o.inputs.app.Out, reports)
	}
	for _, report := range reports {
		if err := humanize.Fprintf(o.inputs.app.Out, "# %s, environment %s\n", report.title, report.Environment); err != nil {
			return err
		}
		var rows [][]string
		for _, leaf := range report.Values {
			text, err := json.Marshal(leaf.Value)
			if err != nil {
				return fmt.Errorf("printing %s: %w", leaf.Path, err)
			}
			rows = append(rows, []string{leaf.Path, string(text), leaf.Origin})
		}
		if err := printTable(o.inputs.app.Out, []string{"VALUE", "IS", "FROM"}, rows); err != nil {
			return err
		}
	}
	return nil
}
