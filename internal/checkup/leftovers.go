// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// checkLeftovers finds leftover sidecars of VectorSidecars that do not exist, in the namespaces of the installation.
func (d *Diagnosis) checkLeftovers(ctx context.Context, installation *source.Installation) Result {
	const check = "leftovers"
	namespaces := installation.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	var leftovers []companion.Leftover
	for _, namespace := range namespaces {
		namespaceLeftovers, err := d.findLeftovers(ctx, namespace, installation.WrittenBy())
		if err != nil {
			return Result{check, Unknown, err.Error(), "ask someone with permission to list " + workload.Plural() + " and VectorSidecars"}
		}
		leftovers = append(leftovers, namespaceLeftovers...)
	}
	reportable := slices.DeleteFunc(slices.Clone(leftovers), func(f companion.Leftover) bool { return f.Action == companion.Retain })
	if len(reportable) == 0 {
		return Result{check, OK, fmt.Sprintf("no leftover sidecars; sidecars kept by deletionPolicy Orphan: %d", len(leftovers)), ""}
	}
	help := "the operator removes leftovers automatically; if they stay, check the log of the operator"
	if slices.ContainsFunc(reportable, func(f companion.Leftover) bool { return f.Action == companion.Report }) {
		help = "to remove a leftover sidecar, create a VectorSidecar with the name of the deleted one and a selector without matches, then delete it"
	}
	return Result{check, Warning, describeLeftovers(reportable), help}
}

// describeLeftovers names the first findings, and counts the rest.
func describeLeftovers(leftovers []companion.Leftover) string {
	const limit = 10
	var lines []string
	for _, f := range leftovers[:min(len(leftovers), limit)] {
		lines = append(lines, fmt.Sprintf("%s %s/%s has a leftover sidecar of %s, which does not exist: %s", f.Kind, f.Namespace, f.Name, meta.Title(f.Sidecar), f.Reason))
	}
	return strings.Join(humanize.TruncateList(lines, limit, len(leftovers)), "; ")
}

// findLeftovers finds leftovers in a namespace, "" for all namespaces. VectorSidecars are listed after the workloads,
// so a VectorSidecar that is created in between counts as existing.
func (d *Diagnosis) findLeftovers(ctx context.Context, namespace, writtenBy string) ([]companion.Leftover, error) {
	var carriers []companion.Carrier
	for _, kind := range workload.Kinds() {
		listed, err := livelist.Collect(ctx, d.liveClient(), kind.NewList(), func(object client.Object) (carrier companion.Carrier, ok bool) {
			if object, isWorkload := workload.ToObject(object); isWorkload {
				carrier = companion.NewCarrier(object)
			}
			return carrier, len(carrier.Traces) > 0
		}, client.InNamespace(namespace))
		if err != nil && !kind.IsMissingAPI(err) {
			return nil, fmt.Errorf("listing %s: %w", kind.Plural, err)
		}
		carriers = append(carriers, listed...)
	}
	sidecarKeys, err := d.collectNames(ctx, "VectorSidecar", namespace)
	if err != nil {
		return nil, fmt.Errorf("listing VectorSidecars: %w", err)
	}
	clusterKeys, err := d.collectNames(ctx, "ClusterVectorSidecar", metav1.NamespaceAll)
	sidecars, clusters := make([]v1alpha1.VectorSidecar, len(sidecarKeys)), make([]v1alpha1.ClusterVectorSidecar, len(clusterKeys))
	for i, key := range sidecarKeys {
		sidecars[i].Namespace, sidecars[i].Name = key.Namespace, key.Name
	}
	for i, key := range clusterKeys {
		clusters[i].Name = key.Name
	}
	exists := companion.NewExistenceCheck(sidecars, clusters)
	switch {
	case apierrors.IsForbidden(err): // A user of one namespace may not be allowed to list them.
		exists = companion.AssumeClusters(exists)
	case err != nil && !isAbsent(err): // Without the CRD, ClusterVectorSidecars do not exist.
		return nil, fmt.Errorf("listing ClusterVectorSidecars: %w", err)
	}
	return companion.FindLeftovers(slices.Values(carriers), exists, writtenBy), nil
}
