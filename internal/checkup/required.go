// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// checkRequiredObjects checks whether the objects of the chart exist that the operator depends on. Objects with a check of their
// own are left out: the objects of admission injection, preflight and the webhook. It returns nothing for a release
// without the flag.
func (d *Diagnosis) checkRequiredObjects(ctx context.Context, installation *source.Installation) []Result {
	const check = "objects of the installation"
	var existing, missing, unserved []string
	for _, text := range installation.Required {
		object, err := source.ParseRequiredObject(text)
		if err != nil || hasOwnCheck(object) {
			continue // A later release may have other kinds.
		}
		presence, err := object.Presence(ctx, d.Cluster, installation.Namespace)
		switch presence {
		case source.ObjectPresent:
			existing = append(existing, object.String())
		case source.ObjectMissing:
			missing = append(missing, object.String())
		case source.ObjectNotServed:
			unserved = append(unserved, object.String())
		case source.ObjectNotRead:
			return []Result{{check, Unknown, err.Error(), "ask someone with permission to get these objects"}}
		}
	}
	switch {
	case len(missing) > 0:
		return []Result{{check, Failed, "missing: " + strings.Join(missing, ", "), "upgrade the installation; see docs/runbooks/VectorSidecarObjectsMissing.md"}}
	case len(unserved) > 0:
		return []Result{{check, Warning, "not served by the API server: " + strings.Join(unserved, ", "), "see docs/runbooks/VectorSidecarObjectsMissing.md"}}
	case len(existing) > 0:
		return []Result{{check, OK, strings.Join(existing, ", "), ""}}
	}
	return nil
}

// hasOwnCheck reports whether another check names the object if it is missing.
func hasOwnCheck(object source.RequiredObject) bool {
	switch object.Kind {
	case "ConfigMap":
		return false
	case "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding":
		return strings.HasSuffix(object.Name, ".overlaysets") || strings.HasSuffix(object.Name, ".preflight")
	}
	return true
}
