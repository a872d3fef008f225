// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"fmt"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/declared"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// mostDeclared is the maximum number of declared objects in a message.
const mostDeclared = 10

// checkDeclared reports the state of the VectorSidecars and ClusterVectorSidecars that the values of the installation
// declare. It returns nothing if they declare none.
func (d *Diagnosis) checkDeclared(ctx context.Context, installation *source.Installation) []Result {
	const check = "VectorSidecars of the values"
	if !declaresObjects(installation) {
		return nil
	}
	isStopped := desired.FindStop(installation.ConfigMaps().Installation).IsActive()
	sidecars, err := installation.DeclaredSidecars(ctx, d.Cluster, installation.Values, isStopped, d.Reject)
	if err != nil {
		return []Result{{check, Unknown, err.Error(), ""}}
	}
	var texts []string
	applied, needsUser := 0, false
	for _, sidecar := range sidecars {
		if sidecar.State == declared.Applied {
			applied++
			continue
		}
		texts = append(texts, fmt.Sprintf("%s is %s: %s", declared.Title(sidecar.Key), sidecar.State, sidecar.Message))
		needsUser = needsUser || !sidecar.State.EndsByItself()
	}
	message := fmt.Sprintf("%d of %d declared objects are applied", applied, len(sidecars))
	message = strings.Join(append([]string{message}, humanize.TruncateList(texts, mostDeclared, len(texts))...), "; ")
	switch {
	case declared.IsUninstalling(installation.Annotations):
		help := fmt.Sprintf("finish the uninstallation, or run kubectl annotate configmap %s -n %s %s-", installation.ValuesFrom, installation.Namespace, meta.AnnotationUninstalling)
		return []Result{{check, Warning, message, help}}
	case needsUser:
		return []Result{{check, Warning, message, "correct vectorSidecars in the installation's values, or the objects"}}
	}
	return []Result{{check, OK, message, ""}}
}
