// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// ownedState is the part of a VectorSidecar or ClusterVectorSidecar that concerns workloads with a controller owner.
// isAtAdmission is true if only the API server injects into them.
type ownedState struct {
	name          string
	removals      []v1alpha1.OwnerRemoval
	isAtAdmission bool
}

// newOwnedState returns the part of a VectorSidecar that concerns workloads with a controller owner.
func newOwnedState(name string, spec *v1alpha1.VectorSidecarSpec, removals []v1alpha1.OwnerRemoval) ownedState {
	return ownedState{name, removals, spec.Owned() == v1alpha1.OwnedAtAdmission && spec.IsEnabled()}
}

// checkOwners finds controller owners that remove sidecars from their workloads, and VectorSidecars with
// spec.ownedWorkloads AtAdmission if the API server injects nothing for them. It returns nothing if it finds neither.
func (d *Diagnosis) checkOwners(ctx context.Context) []Result {
	const check, limit = "owners of workloads", 10
	sidecars, err := collectSidecars(ctx, d, metav1.NamespaceAll, func(sidecar *v1alpha1.VectorSidecar) ownedState {
		return newOwnedState(client.ObjectKeyFromObject(sidecar).String(), &sidecar.Spec, sidecar.Status.RemovedByOwners)
	})
	if err != nil {
		return nil // The check of VectorSidecars reports the error.
	}
	// Not every cluster has ClusterVectorSidecars and OverlaySets, and not every user may list them.
	clusters, _ := collectClusters(ctx, d, func(cluster *v1alpha1.ClusterVectorSidecar) ownedState {
		return newOwnedState(meta.ClusterSidecarName(cluster.Name), &cluster.Spec.VectorSidecarSpec, cluster.Status.RemovedByOwners)
	})
	sets, _ := d.listOverlays(ctx)
	isServed := map[string]bool{}
	for _, set := range sets {
		for _, overlay := range set {
			isServed[overlay.name] = isServed[overlay.name] || !overlay.isLeft
		}
	}
	var removalTexts, unserved []string
	for _, state := range slices.Concat(clusters, sidecars) {
		for i := range state.removals {
			removalTexts = append(removalTexts, fmt.Sprintf("controller owners of kind %s remove the sidecar of %s from workloads of kind %s", state.removals[i].OwnerKind, state.name, state.removals[i].Kind))
		}
		if state.isAtAdmission && !isServed[state.name] {
			unserved = append(unserved, state.name)
		}
	}
	var results []Result
	slices.Sort(removalTexts)
	if removalTexts = slices.Compact(removalTexts); len(removalTexts) > 0 {
		results = append(results, Result{
			check, Warning, "sidecars removed by controller owners: " + strings.Join(humanize.TruncateList(removalTexts, limit, len(removalTexts)), ", "),
			"set spec.ownedWorkloads to AtAdmission or Skip; to retry, run kubectl vectorsidecar rollout retry vectorsidecar/NAME",
		})
	}
	if slices.Sort(unserved); len(unserved) > 0 {
		results = append(results, Result{
			check, Warning, "spec.ownedWorkloads is AtAdmission, but the API server does not inject the sidecars of: " + strings.Join(humanize.TruncateList(unserved, limit, len(unserved)), ", "),
			"enable admissionInjection, check skipReason in the OverlaySet of the namespace, or set spec.ownedWorkloads to Inject or Skip",
		})
	}
	return results
}
