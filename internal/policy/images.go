// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"reflect"
	"slices"
	"strings"

	"github.com/distribution/reference"
)

// checkImage checks the reference of an image, which it parses as the kubelet does. Short names are
// compared literally.
func (c *checker) checkImage(pos position, field reflect.Value, _ *Line) {
	image := field.String()
	parsed, err := reference.Parse(image)
	named, isNamed := parsed.(reference.Named)
	if err != nil || !isNamed {
		c.report(pos, "image %q is not a valid reference, such as registry.example.com/vector:1.0", image)
		return
	}
	isFrom := func(registry string) bool {
		return image == registry || named.Name() == registry || strings.HasPrefix(named.Name(), strings.TrimSuffix(registry, "/")+"/")
	}
	if len(c.policy.Images.Registries) > 0 && !slices.ContainsFunc(c.policy.Images.Registries, isFrom) {
		c.report(pos, "image %q is from a registry that is not allowed; the platform allows %s (policy.images.registries)", image, strings.Join(c.policy.Images.Registries, ", "))
	}
	_, isDigested := parsed.(reference.Digested)
	if c.policy.Images.RequireDigest && !isDigested {
		c.report(pos, "image %q has no digest, such as @sha256:… (policy.images.requireDigest)", image)
	}
	tagged, isTagged := parsed.(reference.Tagged)
	if c.policy.Images.RequireTag && !isDigested && (!isTagged || tagged.Tag() == "latest") {
		c.report(pos, "image %q has no tag, or the tag latest, so the running version is unknown (policy.images.requireTag)", image)
	}
}
