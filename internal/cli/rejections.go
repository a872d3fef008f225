// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"

	"kontroloop.ai/vector-sidecar-operator/internal/definition"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// definitionFor returns the definition of a custom kind, nil for other kinds.
func (b *Builtin) definitionFor(kind string) (*definition.Definition, error) {
	switch {
	case kind == "VectorSidecar" && b.definition != nil:
		return b.definition()
	case kind == "ClusterVectorSidecar" && b.clusterDefinition != nil:
		return b.clusterDefinition()
	}
	return nil, nil //nolint:nilnil // Most kinds have no definition.
}

// schemaFor implements source.Schemas.
func (b *Builtin) schemaFor(kind string) (source.Schema, error) {
	kindDefinition, err := b.definitionFor(kind)
	if kindDefinition == nil || err != nil {
		return nil, err
	}
	return kindDefinition, nil
}

// rejectionReason returns the reason why the API server would reject a manifest, "" for none.
func (b *Builtin) rejectionReason(ctx context.Context, kind string, manifest []byte) string {
	kindDefinition, err := b.definitionFor(kind)
	if kindDefinition == nil || err != nil {
		return ""
	}
	rejections := kindDefinition.Validate(ctx, manifest)
	return cmp.Or(rejections.CreateText(), rejections.ApplyText())
}

// noteRejections prints a note for each VectorSidecar or ClusterVectorSidecar in the files that the API server would
// reject, or that has duplicate keys.
func (a *app) noteRejections(ctx context.Context, documents []source.Document) error {
	if a.files != nil {
		return nil // Notes of scenarios are not printed.
	}
	for i := range documents {
		document := &documents[i]
		kindDefinition, err := a.builtin.definitionFor(document.Kind)
		if err != nil {
			return err
		}
		if kindDefinition == nil {
			continue
		}
		title := document.Source + ": " + document.Kind + " " + document.Object.GetName()
		if document.Duplicates != nil {
			a.printNote("%s has duplicate keys, of which kubectl uses the last ones: %v", title, document.Duplicates)
		}
		rejections := kindDefinition.Validate(ctx, document.Text)
		for _, text := range []string{rejections.CreateText(), rejections.ApplyText()} {
			if text != "" {
				a.printNote("%s: %s", title, text)
			}
		}
	}
	return nil
}
