// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// owners finds the owners of workloads that take sidecars out, and VectorSidecars that leave such
// workloads to an API server that puts nothing in. Nothing is said of a cluster without either.
func (d *Diagnosis) owners(ctx context.Context) []Result {
	const check, most = "owners of workloads", 10
	var sidecars v1alpha1.VectorSidecarList
	var clusters v1alpha1.ClusterVectorSidecarList
	var sets v1alpha1.OverlaySetList
	if d.Cluster.List(ctx, &sidecars) != nil {
		return nil // The check of VectorSidecars says so.
	}
	_, _ = d.Cluster.List(ctx, &clusters), d.Cluster.List(ctx, &sets) // Not every cluster has them, nor shows them to everybody.
	isServed := map[string]bool{}
	for i := range sets.Items {
		for _, overlay := range sets.Items[i].Spec.Overlays {
			name, _ := ownerOf(sets.Items[i].Namespace, overlay.VectorSidecar)
			isServed[name] = isServed[name] || overlay.Left == ""
		}
	}
	var taken, unserved []string
	look := func(name string, spec *v1alpha1.VectorSidecarSpec, found []v1alpha1.TakenOut) {
		for i := range found {
			taken = append(taken, fmt.Sprintf("owners of kind %s that of %s out of a %s", found[i].OwnerKind, name, found[i].Kind))
		}
		if spec.Owned() == v1alpha1.OwnedAtAdmission && spec.IsEnabled() && !isServed[name] {
			unserved = append(unserved, name)
		}
	}
	for i := range clusters.Items {
		look(meta.InNamespace(clusters.Items[i].Name), &clusters.Items[i].Spec.VectorSidecarSpec, clusters.Items[i].Status.TakenOut)
	}
	for i := range sidecars.Items {
		look(client.ObjectKeyFromObject(&sidecars.Items[i]).String(), &sidecars.Items[i].Spec, sidecars.Items[i].Status.TakenOut)
	}
	var results []Result
	slices.Sort(taken)
	if taken = slices.Compact(taken); len(taken) > 0 {
		results = append(results, Result{
			check, Warning, "these take sidecars out: " + strings.Join(humanize.First(taken, most, len(taken)), ", "),
			"set spec.ownedWorkloads to AtAdmission or Skip; to have it tried again: kubectl vectorsidecar rollout retry vectorsidecar/NAME",
		})
	}
	if slices.Sort(unserved); len(unserved) > 0 {
		results = append(results, Result{
			check, Warning, "spec.ownedWorkloads is AtAdmission, and the API server puts in nothing of: " + strings.Join(humanize.First(unserved, most, len(unserved)), ", "),
			"switch admissionInjection on, see in the OverlaySet of the namespace what it has left, or set spec.ownedWorkloads to Inject or Skip",
		})
	}
	return results
}
