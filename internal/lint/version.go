// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// vectorImage returns an image with the linter's version of Vector. It returns "" if the linter does not have a
// version, because a Vector configuration does not name a version.
func (l *Linter) vectorImage() string {
	if l.VectorVersion == "" {
		return ""
	}
	return replaceTag("vector", l.VectorVersion)
}

// setImageTag changes the tag of the sidecar's image in a snapshot to the linter's version of Vector. It does nothing
// if the linter does not have a version.
func (l *Linter) setImageTag(ctx context.Context, snapshot *decision.Input) error {
	if l.VectorVersion == "" {
		return nil
	}
	values, invalid, err := desired.MergeValues(ctx, &snapshot.Inputs)
	if err != nil || invalid != nil {
		return err // The decision reports invalid values.
	}
	image, _ := tree.MapAt(values.Tree, "sidecar")["image"].(string)
	if image == "" {
		return nil
	}
	sidecar := snapshot.Sidecar.DeepCopy()
	if sidecar.Spec.Sidecar == nil {
		sidecar.Spec.Sidecar = &v1alpha1.SidecarSpec{}
	}
	sidecar.Spec.Sidecar.Image = replaceTag(image, l.VectorVersion)
	snapshot.Sidecar = sidecar
	return nil
}

// replaceTag returns an image with another tag. It keeps the digest if the image has one.
func replaceTag(image, tag string) string {
	name, digest, hasDigest := strings.Cut(image, "@")
	path := strings.LastIndexByte(name, '/') + 1
	if base, _, isTagged := strings.Cut(name[path:], ":"); isTagged {
		name = name[:path] + base
	}
	name += ":" + strings.TrimPrefix(tag, "v")
	if hasDigest {
		name += "@" + digest
	}
	return name
}
