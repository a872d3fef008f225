// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/lint"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Defaults for properties of a cluster.
const (
	defaultEnvironment = "development"
	defaultKubeVersion = "v1.36.0"
)

// inputs are the flags that select the objects for a command: files, a namespace, or workloads of the cluster.
type inputs struct {
	app *app

	renderFlags

	files, sidecars   []string
	recursive         bool
	labels            labelFlag
	operatorNamespace string
	// allNamespaces and selector are set only by commands with these flags.
	allNamespaces bool
	selector      string
	// manifests is true if the command prints the workloads from files with the sidecar, so that users apply them.
	manifests bool
}

// newInputs adds the flags for the objects to a command.
func newInputs(a *app, command *cobra.Command) *inputs {
	s := &inputs{app: a, labels: labelFlag{}}
	flags := command.Flags()
	flags.StringArrayVarP(&s.files, "filename", "f", nil, "file or directory with workloads, ConfigMaps and VectorSidecars, - for the standard input; may be repeated")
	flags.BoolVarP(&s.recursive, "recursive", "R", false, "also read subdirectories")
	flags.StringArrayVar(&s.sidecars, "sidecar", nil, "file or directory with VectorSidecars; may be repeated")
	s.addRenderFlags(flags, clusterDefaults)
	flags.Var(s.labels, "label", "label KEY=VALUE to set on the workloads first, to preview its effect; may be repeated")
	flags.StringVar(&s.operatorNamespace, "operator-namespace", "", "namespace of the operator, if you may not read all namespaces")
	a.addClusterFlags(flags)
	for name, complete := range map[string]cobra.CompletionFunc{
		"environment": s.completeEnvironments, "sidecar": completeManifests, "filename": completeManifests, "values": completeManifests,
	} {
		if err := command.RegisterFlagCompletionFunc(name, complete); err != nil {
			panic(err) // The flags are defined above.
		}
	}
	return s
}

// addWorkloadFlags adds the flags of commands that process many workloads.
func (s *inputs) addWorkloadFlags(command *cobra.Command) {
	command.Flags().BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, "include all namespaces")
	command.Flags().StringVarP(&s.selector, "selector", "l", "", "show only workloads with these labels")
}

// parsedInputs contains the objects of the input files.
type parsedInputs struct {
	documents, sidecars []source.Document
	// hasWorkloads and hasSidecars are true if the files contain these objects, so that they are not read from the
	// cluster.
	hasWorkloads, hasSidecars bool
}

// openSession reads the files, and reads the objects that they do not contain from the cluster. names are the workloads
// to which the command applies, or none for all.
func (s *inputs) openSession(ctx context.Context, names ...string) (*session, error) {
	filter, err := s.parseFilter(names)
	if err != nil {
		return nil, err
	}
	input, err := s.parseInputs()
	if err != nil {
		return nil, err
	}
	if err := s.app.noteRejections(ctx, slices.Concat(input.sidecars, input.documents)); err != nil {
		return nil, err
	}
	chart, err := s.openChart()
	if err != nil {
		return nil, err
	}
	scene := &session{inputs: s, filter: filter, documents: input.documents, sources: slices.Concat(input.sidecars, input.documents)}
	if input.hasWorkloads && input.hasSidecars {
		scene.objects = source.NewObjectOverlay(nil)
		scene.namespace = *s.app.kube.Namespace
	} else if err := scene.loadInputs(ctx, input); err != nil {
		return nil, err
	}
	if err := scene.addDocuments(ctx, input); err != nil {
		return nil, err
	}
	if err := scene.loadEvaluator(ctx, chart); err != nil {
		return nil, err
	}
	return scene, nil
}

// parseInputs reads the files and determines which kinds of objects they contain.
func (s *inputs) parseInputs() (*parsedInputs, error) {
	if err := requireOneStdin(s.files, s.sidecars, s.values.files); err != nil {
		return nil, err
	}
	files := source.Files{Stdin: s.app.In, Recursive: s.recursive, Schemas: s.app.builtin.schemaFor}
	if s.app.files != nil {
		files.ReadFile = s.app.readFile
	}
	documents, err := files.Read(s.files...)
	if err != nil {
		return nil, err
	}
	sidecars, err := files.Read(s.sidecars...)
	if err != nil {
		return nil, err
	}
	input := &parsedInputs{documents: documents, sidecars: sidecars}
	input.hasSidecars = containsSidecars(documents, sidecars)
	if len(s.sidecars) > 0 && !containsSidecars(sidecars) {
		return nil, fmt.Errorf("--sidecar %s: no VectorSidecar or ClusterVectorSidecar in the file", strings.Join(s.sidecars, ", "))
	}
	// A file with only VectorSidecars is meant for the workloads of the cluster.
	input.hasWorkloads = len(s.files) > 0 && (slices.ContainsFunc(documents, isWorkload) || !containsSidecars(documents))
	return input, nil
}

// containsSidecars reports whether the documents contain VectorSidecars or ClusterVectorSidecars.
func containsSidecars(lists ...[]source.Document) bool {
	return hasObject[*v1alpha1.VectorSidecar](lists...) || hasObject[*v1alpha1.ClusterVectorSidecar](lists...)
}

// hasObject reports whether the documents contain an object of a type.
func hasObject[T client.Object](lists ...[]source.Document) bool {
	for _, list := range lists {
		if slices.ContainsFunc(list, func(d source.Document) bool { _, ok := d.Object.(T); return ok }) {
			return true
		}
	}
	return false
}

// openChart returns the files of the sidecar chart. A directory without Chart.yaml, or with a Chart.yaml of annotations
// only, contains the files that differ from the built-in chart, as the ConfigMap of a template set does.
func (s *inputs) openChart() (fs.FS, error) {
	if s.templates == "" {
		return s.app.chart, nil
	}
	if info, err := os.Stat(s.templates); err != nil {
		return nil, fmt.Errorf("reading the sidecar chart: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("reading the sidecar chart: %s is not a directory", s.templates)
	}
	folder, err := openFolder(s.templates)
	if err != nil {
		return nil, err
	}
	card, err := bounded.Chart().ReadFile(folder, "Chart.yaml")
	hasSomeFiles := errors.Is(err, fs.ErrNotExist) || err == nil && !render.IsWholeChart(card)
	if !hasSomeFiles {
		return folder, nil // An error in it is reported where it is read.
	}
	builtin, err := render.ReadFiles(s.app.chart)
	if err != nil {
		return nil, err
	}
	files, err := builtin.WithDirectory(folder)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.templates, err)
	}
	return files.FS()
}

// openFolder opens the directory of a chart. Symbolic links in it cannot refer to files outside.
func openFolder(name string) (fs.FS, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, fmt.Errorf("reading the sidecar chart: %w", err)
	}
	return root.FS(), nil
}

// isChart reports whether a path is the directory of a sidecar chart.
func isChart(name string) bool {
	root, err := os.OpenRoot(name)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }() // It was only read.
	return lint.IsChart(root.FS())
}

// labelSelector returns the selector on the command line.
func (s *inputs) labelSelector() (labels.Selector, error) {
	selector, err := labels.Parse(s.selector)
	if err != nil {
		return nil, fmt.Errorf("--selector: %w", err)
	}
	return selector, nil
}

// addLabels adds the labels on the command line to a workload.
func (s *inputs) addLabels(object workload.Object) {
	labels := maps.Clone(object.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, s.labels)
	object.SetLabels(labels)
}

// defaultNamespace returns the namespace for objects of files that do not have one: the namespace of the flag, or the
// namespace that all VectorSidecars in the files have, or the current namespace. The kubeconfig defines the current
// namespace only if a cluster is read, so that files without a cluster have the same result everywhere.
func (g *parsedInputs) defaultNamespace(flag, current string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	namespaces := map[string]bool{}
	for _, document := range slices.Concat(g.sidecars, g.documents) {
		if sidecar, ok := document.Object.(*v1alpha1.VectorSidecar); ok && sidecar.Namespace != "" {
			namespaces[sidecar.Namespace] = true
			current = sidecar.Namespace
		}
	}
	if len(namespaces) > 1 && g.lacksNamespace() {
		return "", errors.New("the workloads have no namespace, and the VectorSidecars have several: set one with --namespace")
	}
	if current == "" {
		current = metav1.NamespaceDefault
	}
	return current, nil
}

// inputNamespace returns the namespace from which objects of the cluster are read: the namespace of the flag, or the
// namespace that all workloads and VectorSidecars in the files have. Objects of other namespaces would not belong to
// the files.
func (g *parsedInputs) inputNamespace(flag, current string) (string, error) {
	namespace, err := g.defaultNamespace(flag, current)
	if err != nil || flag != "" {
		return namespace, err
	}
	namespaces := map[string]bool{}
	for _, document := range slices.Concat(g.sidecars, g.documents) {
		if _, isSidecar := document.Object.(*v1alpha1.VectorSidecar); isSidecar || isWorkload(document) {
			namespaces[cmp.Or(document.Object.GetNamespace(), namespace)] = true
		}
	}
	names := slices.Sorted(maps.Keys(namespaces))
	switch len(names) {
	case 0:
		return namespace, nil
	case 1:
		return names[0], nil
	}
	return "", fmt.Errorf("the files have objects of the namespaces %s: set one with --namespace, or take all with --all-namespaces (plan, diff, tree)", strings.Join(names, ", "))
}

// lacksNamespace reports whether a workload in the files has no namespace.
func (g *parsedInputs) lacksNamespace() bool {
	return slices.ContainsFunc(g.documents, func(d source.Document) bool {
		return isWorkload(d) && d.Object.GetNamespace() == ""
	})
}

// isWorkload reports whether a document contains a workload.
func isWorkload(document source.Document) bool {
	_, ok := workload.ToObject(document.Object)
	return ok
}
