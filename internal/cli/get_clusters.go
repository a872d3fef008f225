// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// parseClusterNames returns the names of ClusterVectorSidecars in the arguments of a command, which have the form
// clustervectorsidecar/NAME. The argument clustervectorsidecars stands for all. isAsked is false if the arguments name
// no ClusterVectorSidecars.
func parseClusterNames(arguments []string) (names []string, isAsked bool, err error) {
	isAll, otherCount := false, 0
	for _, argument := range arguments {
		name, _ := parseSidecarName(argument)
		switch ofCluster, isCluster := meta.ParseClusterName(name); {
		case isCluster:
			names = append(names, ofCluster)
		case isKind(argument, clusterVectorSidecars):
			isAll = true
		default:
			otherCount++
		}
	}
	isAsked = isAll || len(names) > 0
	if isAsked && otherCount > 0 {
		return nil, true, errors.New("arguments name both VectorSidecars and ClusterVectorSidecars: name one kind at a time")
	}
	if isAll {
		names = nil
	}
	return names, isAsked, nil
}

// formatClusters prints the ClusterVectorSidecars with these names, or all of them.
func (o *getOptions) formatClusters(ctx context.Context, cluster client.Reader, names []string, selector labels.Selector) ([]byte, error) {
	clusters, err := livelist.Collect(ctx, livelist.New(cluster), &v1alpha1.ClusterVectorSidecarList{}, func(listed *v1alpha1.ClusterVectorSidecar) (v1alpha1.ClusterVectorSidecar, bool) {
		listed.ManagedFields = nil
		return *listed, len(names) == 0 || slices.Contains(names, listed.Name)
	}, client.MatchingLabelsSelector{Selector: selector})
	if err != nil {
		return nil, explainMissing(err)
	}
	for _, name := range names {
		if !slices.ContainsFunc(clusters, func(sidecar v1alpha1.ClusterVectorSidecar) bool { return sidecar.Name == name }) {
			return nil, fmt.Errorf("ClusterVectorSidecar %q not found", name)
		}
	}
	var buffer bytes.Buffer
	switch {
	case len(clusters) == 0 && !o.output.isTree():
		o.app.printNote("no ClusterVectorSidecars found")
		return nil, nil
	case o.output.name == "name":
		for i := range clusters {
			_ = humanize.Fprintf(&buffer, "clustervectorsidecar.%s/%s\n", v1alpha1.GroupVersion.Group, clusters[i].Name)
		}
		return buffer.Bytes(), nil
	case o.output.isTree():
		for i := range clusters {
			clusters[i].SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ClusterVectorSidecar"))
		}
		err = o.output.print(&buffer, map[string]any{"apiVersion": "v1", "kind": "List", "items": clusters})
		return buffer.Bytes(), err
	}
	err = o.printClusterTable(&buffer, clusters)
	return buffer.Bytes(), err
}

// printClusterTable prints ClusterVectorSidecars in columns, one per row.
func (o *getOptions) printClusterTable(w io.Writer, clusters []v1alpha1.ClusterVectorSidecar) error {
	header := []string{"NAME", "NAMESPACES", "DONE", "MATCHED", "INJECTED", "UPDATED", "READY", "REASON", "AGE"}
	if o.declared != nil {
		header = append(header, "VALUES")
	}
	isWide := o.output.name == "wide"
	if isWide {
		header = append(header, "MESSAGE")
	}
	var rows [][]string
	for i := range clusters {
		status := &clusters[i].Status
		row := []string{clusters[i].Name}
		for _, n := range []int32{status.SelectedNamespaces, status.ReadyNamespaces, status.MatchedWorkloads, status.InjectedWorkloads, status.ReadyWorkloads} {
			row = append(row, strconv.Itoa(int(n)))
		}
		state, reason, message := readyState(status.Conditions, status.ObservedGeneration == clusters[i].Generation)
		row = append(row, state, reason, formatAge(clusters[i].CreationTimestamp))
		if o.declared != nil {
			row = append(row, textOrDash(o.declared[client.ObjectKeyFromObject(&clusters[i])]))
		}
		if isWide {
			row = append(row, message)
		}
		rows = append(rows, row)
	}
	return printTable(w, header, rows)
}
