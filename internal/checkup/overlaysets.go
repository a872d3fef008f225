// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// overlaySets finds what the API server would inject for VectorSidecars and ClusterVectorSidecars
// that do not exist.
func (d *Diagnosis) overlaySets(ctx context.Context) []Result {
	const check, most = "injection by the API server", 10
	var sets v1alpha1.OverlaySetList
	err := d.Cluster.List(ctx, &sets)
	switch {
	case apimeta.IsNoMatchError(err) || apierrors.IsNotFound(err):
		return nil // The operator is of a release without.
	case err != nil:
		return []Result{{check, Unknown, err.Error(), "ask someone with permission to list OverlaySets"}}
	case len(sets.Items) == 0:
		return nil
	}
	var sidecars v1alpha1.VectorSidecarList
	if err := d.Cluster.List(ctx, &sidecars); err != nil {
		return []Result{{check, Unknown, err.Error(), ""}}
	}
	var clusters v1alpha1.ClusterVectorSidecarList
	if err := d.Cluster.List(ctx, &clusters); err != nil && !apimeta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
		return []Result{{check, Unknown, err.Error(), "ask someone with permission to list ClusterVectorSidecars"}}
	}
	exists := map[string]bool{}
	for i := range sidecars.Items {
		exists[sidecars.Items[i].Namespace+"/"+sidecars.Items[i].Name] = true
	}
	for i := range clusters.Items {
		exists[meta.InNamespace(clusters.Items[i].Name)] = true
	}
	var strays, left []string
	offered := 0
	for i := range sets.Items {
		for _, overlay := range sets.Items[i].Spec.Overlays {
			name, title := ownerOf(sets.Items[i].Namespace, overlay.VectorSidecar)
			switch {
			case !exists[name]:
				strays = append(strays, title)
			case overlay.Left != "":
				left = append(left, title)
			default:
				offered++
			}
		}
	}
	if slices.Sort(strays); len(strays) > 0 {
		strays = slices.Compact(strays)
		return []Result{{
			check, Warning, "OverlaySets have sidecars of VectorSidecars or ClusterVectorSidecars that do not exist: " + strings.Join(humanize.First(strays, most, len(strays)), ", "),
			"the operator takes them out by itself; if it does not run, delete the OverlaySets: kubectl delete overlaysets --all -n NAMESPACE",
		}}
	}
	return []Result{{check, OK, fmt.Sprintf("%d overlays in %d namespaces; %d times one is left to the operator", offered, len(sets.Items), len(left)), ""}}
}

// ownerOf returns the name of what an overlay of a namespace is of, by which a ClusterVectorSidecar
// is the same in all namespaces, and how to tell it apart there.
func ownerOf(namespace, sidecar string) (name, title string) {
	if _, isCluster := meta.ClusterOf(sidecar); isCluster {
		return sidecar, sidecar + " in namespace " + namespace
	}
	name = namespace + "/" + sidecar
	return name, name
}
