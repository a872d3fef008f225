// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// getOptions are the flags of get.
type getOptions struct {
	app *app

	allNamespaces, watch bool
	selector             string
	output               *format

	// declared contains the state of each object that the installation's values declare. It is nil if they declare
	// none.
	declared map[types.NamespacedName]string
}

// newGet returns the command get.
func newGet(a *app) *cobra.Command {
	options := getOptions{app: a}
	command := &cobra.Command{
		Use:   "get [VECTORSIDECAR... | clustervectorsidecars | clustervectorsidecar/NAME...]",
		Short: "List VectorSidecars with their counts, and why they are not ready",
		Long: `List VectorSidecars with their counts, and why they are not ready.

If the installation's values declare VectorSidecars (vectorSidecars), the column VALUES has the state
of each: Applied, or the reason why the operator does not write it.`,
		Example: `# all of a namespace
kubectl vectorsidecar get -n shop
# all of the cluster, with the messages
kubectl vectorsidecar get -A -o wide
# ClusterVectorSidecars
kubectl vectorsidecar get clustervectorsidecars`,
		RunE: func(command *cobra.Command, names []string) error {
			return options.run(command.Context(), names)
		},
		ValidArgsFunction: a.completeSidecars,
	}
	flags := command.Flags()
	flags.BoolVarP(&options.allNamespaces, "all-namespaces", "A", false, "list all namespaces")
	flags.BoolVarP(&options.watch, "watch", "w", false, "keep watching, and print again after changes")
	flags.StringVarP(&options.selector, "selector", "l", "", "list only VectorSidecars with these labels")
	options.output = addFormat(command, "wide", "json", "yaml", "name")
	a.addClusterFlags(flags)
	return command
}

// run prints the VectorSidecars or ClusterVectorSidecars with the given names, or all of them if no names are given.
func (o *getOptions) run(ctx context.Context, names []string) error {
	if err := o.output.check(); err != nil {
		return err
	}
	selector, err := labels.Parse(o.selector)
	if err != nil {
		return fmt.Errorf("--selector: %w", err)
	}
	cluster, err := o.app.connect()
	if err != nil {
		return err
	}
	ofClusters, isOfClusters, err := parseClusterNames(names)
	if err != nil {
		return err
	}
	namespace := ""
	if !o.allNamespaces && !isOfClusters {
		if namespace, err = o.app.currentNamespace(); err != nil {
			return err
		}
	}
	show := func() ([]byte, error) {
		o.declared = nil
		if isTable := o.output.name == "" || o.output.name == "wide"; isTable {
			o.declared = o.readDeclared(ctx, cluster, namespace, isOfClusters)
		}
		if isOfClusters {
			return o.formatClusters(ctx, cluster, ofClusters, selector)
		}
		sidecars, err := livelist.Collect(ctx, livelist.New(cluster), &v1alpha1.VectorSidecarList{}, o.reduceSidecar,
			client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector})
		if err != nil {
			return nil, explainMissing(err)
		}
		return o.formatSidecars(sidecars, names, namespace)
	}
	switch {
	case o.watch && isOfClusters:
		return o.app.watch(ctx, cluster, show, watchClusterSidecars())
	case o.watch:
		return o.app.watch(ctx, cluster, show, watchSidecars(namespace))
	}
	text, err := show()
	if err != nil {
		return err
	}
	_, err = o.app.Out.Write(text)
	return err
}

// reduceSidecar returns the part of a VectorSidecar that get prints.
func (o *getOptions) reduceSidecar(sidecar *v1alpha1.VectorSidecar) (v1alpha1.VectorSidecar, bool) {
	printed := *sidecar
	printed.ManagedFields = nil
	if !o.output.isTree() {
		printed.Spec = v1alpha1.VectorSidecarSpec{}
	}
	return printed, true
}

// formatSidecars prints the VectorSidecars with the given names, or all of them.
func (o *getOptions) formatSidecars(sidecars []v1alpha1.VectorSidecar, names []string, namespace string) ([]byte, error) {
	sidecars, err := filterByName(sidecars, names, namespace)
	if err != nil {
		return nil, err
	}
	var buffer bytes.Buffer
	switch {
	case len(sidecars) == 0 && !o.output.isTree():
		o.app.printNote("no VectorSidecars found%s", namespacePhrase(namespace))
		return nil, nil
	case o.output.name == "name":
		for i := range sidecars {
			_ = humanize.Fprintf(&buffer, "vectorsidecar.%s/%s\n", v1alpha1.GroupVersion.Group, sidecars[i].Name)
		}
		return buffer.Bytes(), nil
	case o.output.isTree():
		for i := range sidecars {
			sidecars[i].SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("VectorSidecar"))
		}
		err = o.output.print(&buffer, map[string]any{"apiVersion": "v1", "kind": "List", "items": sidecars})
		return buffer.Bytes(), err
	}
	err = o.printSidecarTable(&buffer, sidecars)
	return buffer.Bytes(), err
}

// printSidecarTable prints VectorSidecars in columns, one per row.
func (o *getOptions) printSidecarTable(w io.Writer, sidecars []v1alpha1.VectorSidecar) error {
	header := []string{"NAMESPACE", "NAME", "ENVIRONMENT", "MATCHED", "INJECTED", "UPDATED", "WAITING", "CONFLICTS", "SKIPPED", "FAILED", "READY", "REASON", "AGE"}
	if o.declared != nil {
		header = append(header, "VALUES")
	}
	isWide := o.output.name == "wide"
	if isWide {
		header = append(header, "MESSAGE")
	}
	var rows [][]string
	for i := range sidecars {
		status, total := &sidecars[i].Status, sidecars[i].Status.Total()
		row := []string{sidecars[i].Namespace, sidecars[i].Name, textOrDash(status.Environment)}
		for _, n := range []int32{
			total.Matched, total.Injected, total.Ready, total.Waiting, total.Conflicting, total.Skipped, total.Failed,
		} {
			row = append(row, strconv.Itoa(int(n)))
		}
		state, reason, message := readyState(sidecars[i].Status.Conditions, sidecars[i].Status.ObservedGeneration == sidecars[i].Generation)
		row = append(row, state, reason, formatAge(sidecars[i].CreationTimestamp))
		if o.declared != nil {
			row = append(row, textOrDash(o.declared[client.ObjectKeyFromObject(&sidecars[i])]))
		}
		if isWide {
			row = append(row, message)
		}
		rows = append(rows, row)
	}
	return printTable(w, header, rows)
}

// readyState returns the condition Ready of a status, if the condition is about the current spec.
func readyState(conditions []metav1.Condition, isCurrent bool) (state, reason, message string) {
	ready := apimeta.FindStatusCondition(conditions, meta.ConditionReady)
	switch {
	case ready == nil:
		return "Unknown", "-", "not reconciled by the operator yet"
	case !isCurrent:
		return "Unknown", ready.Reason, "the operator has not reconciled the latest change yet"
	}
	return string(ready.Status), ready.Reason, ready.Message
}

// formatAge returns the time since a start in the format of kubectl, or "-" if the start is zero.
func formatAge(start metav1.Time) string {
	if start.IsZero() {
		return "-"
	}
	return duration.HumanDuration(time.Since(start.Time))
}
