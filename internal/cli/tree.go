// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
)

// treeOptions are the flags of tree.
type treeOptions struct {
	inputs *inputs

	watch  bool
	output *format
}

// node is a line of the tree, with its children.
type node struct {
	Kind     string  `json:"kind"`
	Name     string  `json:"name"`
	State    string  `json:"state,omitempty"`
	Reason   string  `json:"reason,omitempty"`
	Message  string  `json:"message,omitempty"`
	Children []*node `json:"children,omitempty"`
}

// newTree returns the command tree.
func newTree(a *app) *cobra.Command {
	options := treeOptions{}
	command := &cobra.Command{
		Use:   "tree [-n NAMESPACE | -A]",
		Short: "Show environments, their templates, VectorSidecars and workloads, with their state",
		Long: `Show environments, their templates, the VectorSidecars of each, their workloads, and the state of
all of these.`,
		Example: `# a namespace
kubectl vectorsidecar tree -n shop
# files
kubectl vectorsidecar tree -f docs/samples/app/deployment.yaml --sidecar docs/samples/02-logs.yaml --label logs=vector`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return options.run(command.Context()) },
	}
	options.inputs = newInputs(a, command)
	options.inputs.addWorkloadFlags(command)
	command.Flags().BoolVarP(&options.watch, "watch", "w", false, "keep watching, and show it again when something changes")
	options.output = addFormat(command, "json", "yaml")
	return command
}

// run prints the tree once, or again after each change.
func (o *treeOptions) run(ctx context.Context) error {
	if err := o.output.check(); err != nil {
		return err
	}
	first, err := o.inputs.openSession(ctx)
	if err != nil {
		return err
	}
	if o.watch && first.cluster == nil {
		return fmt.Errorf("--watch needs a cluster")
	}
	if o.watch {
		targets := watchWorkloads(first.namespace)
		if !containsSidecars(first.sources) { // VectorSidecars of files replace all VectorSidecars of the cluster.
			targets = append(targets, watchSidecars(first.namespace), watchClusterSidecarsIfAny())
		}
		show := func() ([]byte, error) {
			scene, err := o.inputs.openSession(ctx)
			if err != nil {
				return nil, err
			}
			return o.formatTree(ctx, scene)
		}
		return o.inputs.app.watch(ctx, first.cluster, show, targets...)
	}
	text, err := o.formatTree(ctx, first)
	if err != nil {
		return err
	}
	_, err = o.inputs.app.Out.Write(text)
	return err
}

// formatTree returns the tree of a session as text, JSON or YAML.
func (o *treeOptions) formatTree(ctx context.Context, scene *session) ([]byte, error) {
	root, err := scene.buildTree(ctx)
	if err != nil {
		return nil, err
	}
	var buffer bytes.Buffer
	if o.output.isTree() {
		err := o.output.print(&buffer, root)
		return buffer.Bytes(), err
	}
	for _, environment := range root {
		environment.print(&buffer, "", "")
	}
	return buffer.Bytes(), nil
}

// buildTree evaluates every VectorSidecar, and returns the tree of environments, template sets, VectorSidecars and
// workloads.
func (s *session) buildTree(ctx context.Context) ([]*node, error) {
	roots := []*node{}
	for _, sidecar := range s.objects.Sidecars() {
		ruled, err := s.evaluateSidecar(ctx, sidecar)
		if err != nil {
			return nil, err
		}
		environment := findOrAddChild(&roots, "environment", textOrDash(ruled.decision.Environment))
		templates := findOrAddChild(&environment.Children, "templates", s.templatesName(ruled))
		sidecarNode := findOrAddChild(&templates.Children, "VectorSidecar", sidecar.Namespace+"/"+sidecar.Name)
		sidecarNode.State = fmt.Sprintf("%d matched", ruled.decision.Matched)
		if ruled.decision.Invalid != nil {
			sidecarNode.Reason, sidecarNode.Message = ruled.decision.Invalid.Reason, ruled.decision.Invalid.Message
		}
		for i := range ruled.decision.Plans {
			p := &ruled.decision.Plans[i]
			if deployment := s.objects.Workload(p.Target); deployment == nil || !s.filter.matches(deployment) {
				continue
			}
			workloadNode := findOrAddChild(&sidecarNode.Children, p.Target.Kind, p.Target.Name)
			workloadNode.State, workloadNode.Reason, workloadNode.Message = string(p.State()), p.Reason(), p.Message()
		}
	}
	slices.SortStableFunc(roots, func(a, b *node) int { return strings.Compare(a.Name, b.Name) })
	return roots, nil
}

// findOrAddChild returns the child with a name, and creates it if necessary.
func findOrAddChild(siblings *[]*node, kind, name string) *node {
	for _, existing := range *siblings {
		if existing.Kind == kind && existing.Name == name {
			return existing
		}
	}
	added := &node{Kind: kind, Name: name}
	*siblings = append(*siblings, added)
	return added
}

// print writes the node and its children. lead precedes the node's own line, and indent the lines of its children.
func (n *node) print(buffer *bytes.Buffer, lead, indent string) {
	text := n.Kind + " " + n.Name
	for _, detail := range []string{n.State, n.Reason} {
		if detail != "" {
			text += "  " + detail
		}
	}
	if n.Message != "" {
		text += ": " + n.Message
	}
	_ = humanize.Fprintf(buffer, "%s%s\n", lead, text)
	for i, child := range n.Children {
		if i == len(n.Children)-1 {
			child.print(buffer, indent+"└─ ", indent+"   ")
		} else {
			child.print(buffer, indent+"├─ ", indent+"│  ")
		}
	}
}
