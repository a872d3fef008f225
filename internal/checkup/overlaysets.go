// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// checkOverlaySets finds overlays of the API server for VectorSidecars and ClusterVectorSidecars that do not exist.
func (d *Diagnosis) checkOverlaySets(ctx context.Context) []Result {
	const check, limit = "admission injection", 10
	sets, err := d.listOverlays(ctx)
	switch {
	case isAbsent(err):
		return nil // The operator is of a release without.
	case err != nil:
		return []Result{{check, Unknown, err.Error(), "ask someone with permission to list OverlaySets"}}
	case len(sets) == 0:
		return nil
	}
	sidecars, err := d.collectNames(ctx, "VectorSidecar", metav1.NamespaceAll)
	if err != nil {
		return []Result{{check, Unknown, err.Error(), ""}}
	}
	clusters, err := d.collectNames(ctx, "ClusterVectorSidecar", metav1.NamespaceAll)
	if err != nil && !isAbsent(err) {
		return []Result{{check, Unknown, err.Error(), "ask someone with permission to list ClusterVectorSidecars"}}
	}
	exists := map[string]bool{}
	for _, key := range sidecars {
		exists[key.Namespace+"/"+key.Name] = true
	}
	for _, key := range clusters {
		exists[meta.ClusterSidecarName(key.Name)] = true
	}
	var strays, skipped []string
	offered := 0
	for _, set := range sets {
		for _, overlay := range set {
			switch {
			case !exists[overlay.name]:
				strays = append(strays, overlay.title)
			case overlay.isLeft:
				skipped = append(skipped, overlay.title)
			default:
				offered++
			}
		}
	}
	if slices.Sort(strays); len(strays) > 0 {
		strays = slices.Compact(strays)
		return []Result{{
			check, Warning, "OverlaySets have sidecars of VectorSidecars or ClusterVectorSidecars that do not exist: " + strings.Join(humanize.TruncateList(strays, limit, len(strays)), ", "),
			"the operator removes these overlays automatically; if it does not run, delete the OverlaySets: kubectl delete overlaysets --all -n NAMESPACE",
		}}
	}
	return []Result{{check, OK, fmt.Sprintf("the API server injects %d overlays in %d namespaces; the operator injects %d more sidecars itself", offered, len(sets), len(skipped)), ""}}
}

// foundOverlay is an overlay in an OverlaySet, with the name and the title of its VectorSidecar (see overlayOwner).
// isLeft is true if the operator injects instead of the API server.
type foundOverlay struct {
	name, title string
	isLeft      bool
}

// listOverlays returns the overlays of each OverlaySet.
func (d *Diagnosis) listOverlays(ctx context.Context) ([][]foundOverlay, error) {
	return livelist.Collect(ctx, d.liveClient(), &v1alpha1.OverlaySetList{}, func(set *v1alpha1.OverlaySet) (overlays []foundOverlay, ok bool) {
		for i := range set.Spec.Overlays {
			name, title := overlayOwner(set.Namespace, set.Spec.Overlays[i].VectorSidecar)
			overlays = append(overlays, foundOverlay{name, title, set.Spec.Overlays[i].SkipReason != ""})
		}
		return overlays, true
	})
}

// overlayOwner returns the name of the owner of an overlay, and a title that is unique in the cluster. A
// ClusterVectorSidecar has the same name in all namespaces.
func overlayOwner(namespace, sidecar string) (name, title string) {
	if _, isCluster := meta.ParseClusterName(sidecar); isCluster {
		return sidecar, sidecar + " in namespace " + namespace
	}
	name = namespace + "/" + sidecar
	return name, name
}
