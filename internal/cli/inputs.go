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

// Defaults for what a cluster would tell.
const (
	defaultEnvironment = "development"
	defaultKubeVersion = "v1.36.0"
)

// inputs says where the objects of a command come from, according to its flags.
type inputs struct {
	app *app

	renderFlags

	files, sidecars   []string
	recursive         bool
	labels            labelFlag
	operatorNamespace string
	// allNamespaces and selector are for the commands that have these flags.
	allNamespaces bool
	selector      string
	// manifests is true if the workloads of files are printed with the sidecar, to be applied.
	manifests bool
}

// newInputs adds the flags for the objects to a command.
func newInputs(a *app, command *cobra.Command) *inputs {
	s := &inputs{app: a, labels: labelFlag{}}
	flags := command.Flags()
	flags.StringArrayVarP(&s.files, "filename", "f", nil, "file or folder with workloads, ConfigMaps and VectorSidecars, - for the standard input; may be repeated")
	flags.BoolVarP(&s.recursive, "recursive", "R", false, "read the folders in folders, too")
	flags.StringArrayVar(&s.sidecars, "sidecar", nil, "file or folder with VectorSidecars; may be repeated")
	s.addRenderFlags(flags, clusterDefaults)
	flags.Var(s.labels, "label", "label KEY=VALUE to give the workloads first, to see what it would do; may be repeated")
	flags.StringVar(&s.operatorNamespace, "operator-namespace", "", "namespace of the operator, if you may not look for it in all of them")
	a.withCluster(flags)
	for name, complete := range map[string]cobra.CompletionFunc{
		"environment": s.completeEnvironments, "sidecar": completeManifests, "filename": completeManifests, "values": completeManifests,
	} {
		if err := command.RegisterFlagCompletionFunc(name, complete); err != nil {
			panic(err) // The flags are defined above.
		}
	}
	return s
}

// many adds the flags of commands for many workloads.
func (s *inputs) many(command *cobra.Command) {
	command.Flags().BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, "include all namespaces")
	command.Flags().StringVarP(&s.selector, "selector", "l", "", "show only workloads with these labels")
}

// given is the content of the files.
type given struct {
	documents, sidecars []source.Document
	// hasWorkloads and hasSidecars are true if these come from files alone.
	hasWorkloads, hasSidecars bool
}

// open reads the files and, for what they lack, the cluster. names are the workloads that the
// command is about, empty for all.
func (s *inputs) open(ctx context.Context, names ...string) (*session, error) {
	about, err := s.concerning(names)
	if err != nil {
		return nil, err
	}
	input, err := s.read()
	if err != nil {
		return nil, err
	}
	if err := s.app.noteRejections(ctx, slices.Concat(input.sidecars, input.documents)); err != nil {
		return nil, err
	}
	chart, err := s.chart()
	if err != nil {
		return nil, err
	}
	scene := &session{inputs: s, about: about, documents: input.documents, sources: slices.Concat(input.sidecars, input.documents)}
	if input.hasWorkloads && input.hasSidecars {
		scene.World = source.NewWorld(nil)
		scene.namespace = *s.app.kube.Namespace
	} else if err := scene.load(ctx, input); err != nil {
		return nil, err
	}
	if err := scene.add(ctx, input); err != nil {
		return nil, err
	}
	if err := scene.prepare(ctx, chart); err != nil {
		return nil, err
	}
	return scene, nil
}

// read reads the files and finds out which kinds of objects they hold.
func (s *inputs) read() (*given, error) {
	if err := readOnce(s.files, s.sidecars, s.values.files); err != nil {
		return nil, err
	}
	files := source.Files{Stdin: s.app.In, Recursive: s.recursive, Schemas: s.app.builtin.schemaOf}
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
	input := &given{documents: documents, sidecars: sidecars}
	input.hasSidecars = holdsSidecars(documents, sidecars)
	if len(s.sidecars) > 0 && !holdsSidecars(sidecars) {
		return nil, fmt.Errorf("%s has no VectorSidecar", strings.Join(s.sidecars, ", "))
	}
	// A file with only VectorSidecars is meant for the workloads of the cluster.
	input.hasWorkloads = len(s.files) > 0 && (slices.ContainsFunc(documents, isWorkload) || !holdsSidecars(documents))
	return input, nil
}

// holdsSidecars reports whether there are VectorSidecars or ClusterVectorSidecars.
func holdsSidecars(lists ...[]source.Document) bool {
	return holds[*v1alpha1.VectorSidecar](lists...) || holds[*v1alpha1.ClusterVectorSidecar](lists...)
}

func holds[T client.Object](lists ...[]source.Document) bool {
	for _, list := range lists {
		if slices.ContainsFunc(list, func(d source.Document) bool { _, is := d.Object.(T); return is }) {
			return true
		}
	}
	return false
}

// chart returns the files of the sidecar chart. A directory without Chart.yaml, or with one that has only annotations, has
// the files that differ from the built-in chart, as the ConfigMap of a template set may.
func (s *inputs) chart() (fs.FS, error) {
	if s.templates == "" {
		return s.app.chart, nil
	}
	if info, err := os.Stat(s.templates); err != nil {
		return nil, fmt.Errorf("reading the sidecar chart: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("reading the sidecar chart: %s is not a folder", s.templates)
	}
	folder, err := openFolder(s.templates)
	if err != nil {
		return nil, err
	}
	card, err := bounded.Chart().File(folder, "Chart.yaml")
	hasSomeFiles := errors.Is(err, fs.ErrNotExist) || err == nil && !render.IsWholeChart(card)
	if !hasSomeFiles {
		return folder, nil // What is wrong with it, if anything, is reported where it is read.
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

// openFolder opens the folder of a chart. No link leads out of it.
func openFolder(name string) (fs.FS, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, fmt.Errorf("reading the sidecar chart: %w", err)
	}
	return root.FS(), nil
}

// isChart reports whether a path is the folder of a sidecar chart.
func isChart(name string) bool {
	root, err := os.OpenRoot(name)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }() // It was only read.
	return lint.IsChart(root.FS())
}

// wanted returns the selector on the command line.
func (s *inputs) wanted() (labels.Selector, error) {
	selector, err := labels.Parse(s.selector)
	if err != nil {
		return nil, fmt.Errorf("--selector: %w", err)
	}
	return selector, nil
}

// label adds the labels on the command line to a workload.
func (s *inputs) label(object workload.Object) {
	labels := maps.Clone(object.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, s.labels)
	object.SetLabels(labels)
}

// namespaceOf returns the namespace for objects without one: that of the command line, else the one
// that all VectorSidecars share, else the current one: that of the kubeconfig if a cluster is asked,
// so that files alone give the same everywhere.
func (g *given) namespaceOf(flag, current string) (string, error) {
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

// readFrom returns the namespace to read the rest of the cluster from: the one of the command line or of all
// workloads and VectorSidecars of the files. What is in others would meet nothing there.
func (g *given) readFrom(flag, current string) (string, error) {
	namespace, err := g.namespaceOf(flag, current)
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

func (g *given) lacksNamespace() bool {
	return slices.ContainsFunc(g.documents, func(d source.Document) bool {
		return isWorkload(d) && d.Object.GetNamespace() == ""
	})
}

func isWorkload(document source.Document) bool {
	_, is := workload.As(document.Object)
	return is
}
