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

// valuesOf are the values of one VectorSidecar.
type valuesOf struct {
	VectorSidecar string             `json:"vectorSidecar"`
	Environment   string             `json:"environment"`
	Values        []environment.Leaf `json:"values"`

	title string
}

// printValues prints every value of every VectorSidecar, and its origin.
func (o *renderOptions) printValues(ctx context.Context, scene *session) error {
	all := []valuesOf{}
	for _, sidecar := range scene.Sidecars() {
		taken, err := scene.rule(ctx, sidecar)
		if err != nil {
			return err
		}
		values, invalid, err := desired.MergeValues(ctx, &taken.snapshot.Inputs)
		if err != nil {
			return err
		}
		if invalid != nil {
			return fmt.Errorf("%s: %s", invalid.Reason, invalid.Message)
		}
		all = append(all, valuesOf{sidecar.Namespace + "/" + sidecar.Name, taken.Environment, values.ListLeaves(), meta.TitleIn(sidecar.Namespace, sidecar.Name)})
	}
	if o.output.isTree() {
		return o.output.print(o.app.Out, all)
	}
	for _, of := range all {
		if err := humanize.Fprintf(o.app.Out, "# %s, environment %s\n", of.title, of.Environment); err != nil {
			return err
		}
		var rows [][]string
		for _, leaf := range of.Values {
			text, err := json.Marshal(leaf.Value)
			if err != nil {
				return fmt.Errorf("printing %s: %w", leaf.Path, err)
			}
			rows = append(rows, []string{leaf.Path, string(text), leaf.Origin})
		}
		if err := table(o.app.Out, []string{"VALUE", "IS", "FROM"}, rows); err != nil {
			return err
		}
	}
	return nil
}
