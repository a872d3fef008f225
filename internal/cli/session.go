// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// session contains all objects and settings that a command needs for decisions.
type session struct {
	objects *source.ObjectOverlay

	inputs *inputs
	filter *workloadFilter
	// documents are the documents of the files, in their order.
	documents []source.Document
	// sources are the documents of the files and of --sidecar.
	sources []source.Document
	// namespace is the namespace of the command, or "" for all namespaces. filesNamespace is the namespace for objects
	// of files that do not have one.
	namespace, filesNamespace string
	// cluster is the client of the cluster, or nil if the files contain all objects. installation is nil if the
	// operator is not installed, or if the user may not read it.
	cluster      client.WithWatch
	installation *source.Installation
	// valuesErr explains why the installation's values could not be read, or is nil if they were read.
	valuesErr   error
	kubeVersion string
	// values are the values of the command line, or nil for none.
	values *desired.InstallationValues
	// renderCluster contains the properties of the cluster that templates read.
	renderCluster render.Cluster
	kubelet       desired.Kubelet
	// noted contains the notes that were already printed.
	noted map[string]bool
	// asksVector is true if the command runs Vector to validate the rendered configurations.
	asksVector bool

	taker source.Snapshotter
	cache *desired.Cache
}

// result is a VectorSidecar and the decision about it.
type result struct {
	sidecar  *v1alpha1.VectorSidecar
	input    *decision.Input
	decision *decision.Decision

	// assumed describes the assumption that was made because the installation's values could not be read. It is "" if
	// they were read.
	assumed string
}

// restConfig returns the client configuration of the cluster that the flags name. It raises client-go's limit of five
// requests per second: with that limit, the command check would take several seconds for the operator's permissions.
func (a *app) restConfig() (*rest.Config, error) {
	config, err := a.kube.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w", err)
	}
	config.QPS, config.Burst = 50, 100
	livelist.LimitResponses(config)
	return config, nil
}

// connect returns a client for the cluster that the flags name.
func (a *app) connect() (client.WithWatch, error) {
	if a.cluster != nil {
		return a.cluster, nil
	}
	config, err := a.restConfig()
	if err != nil {
		return nil, err
	}
	scheme := kruntime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	cluster, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return cluster, nil
}

// oldestKubelet returns the oldest kubelet of the cluster.
func (a *app) oldestKubelet(ctx context.Context) (desired.Kubelet, error) {
	config, err := a.restConfig()
	if err != nil {
		return desired.Kubelet{}, err
	}
	nodes, err := source.NewNodes(config)
	if err != nil {
		return desired.Kubelet{}, err
	}
	return nodes.OldestKubelet(ctx)
}

// currentNamespace returns the namespace of the command line or of the kubeconfig.
func (a *app) currentNamespace() (string, error) {
	namespace, _, err := a.kube.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return namespace, nil
}

// loadInputs reads the objects from the cluster that the files do not contain.
func (s *session) loadInputs(ctx context.Context, input *parsedInputs) error {
	current, err := s.inputs.app.currentNamespace()
	if err != nil {
		return err
	}
	if s.cluster, err = s.inputs.app.connect(); err != nil {
		return err
	}
	if !s.inputs.allNamespaces {
		if s.namespace, err = input.inputNamespace(*s.inputs.app.kube.Namespace, current); err != nil {
			return err
		}
	}
	var notRead []string
	s.objects, notRead, err = source.Load(ctx, s.cluster, source.Scope{
		Namespace: s.namespace, WithoutWorkloads: input.hasWorkloads, WithoutSidecars: input.hasSidecars,
	})
	if err != nil {
		return explainMissing(err)
	}
	for _, text := range notRead {
		s.addNote("could not read: " + text)
	}
	if err := s.loadInstallation(ctx); err != nil {
		return err
	}
	return s.readCluster(ctx)
}

// readCluster reads the properties of the cluster that templates read, unless the command line sets them.
func (s *session) readCluster(ctx context.Context) (err error) {
	if s.inputs.ofCluster.ipFamily.value == "" {
		s.renderCluster.IPFamily, err = source.IPFamily(ctx, s.cluster)
		if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
			s.addNote(fmt.Sprintf("could not detect the IP family of the cluster, assuming %s; set another one with --ip-family: %v", render.IPv4, err))
			err = nil
		}
	}
	if err == nil && s.inputs.ofCluster.platform.value == "" {
		s.renderCluster.Platform, err = source.Platform(s.cluster.RESTMapper())
	}
	return err
}

// explainMissing adds a hint to the error of a cluster that does not serve VectorSidecars.
func explainMissing(err error) error {
	if apierrors.IsNotFound(err) || isNoMatch(err) {
		return fmt.Errorf("the cluster does not serve VectorSidecars: install the operator, or pass one with --sidecar: %w", err)
	}
	return err
}

// loadInstallation reads the configuration of the installed operator.
func (s *session) loadInstallation(ctx context.Context) error {
	installation, err := source.FindInstallation(ctx, s.cluster, s.inputs.operatorNamespace, s.namespace)
	switch {
	case apierrors.IsForbidden(err):
		s.valuesErr = err
		s.addNote(fmt.Sprintf("could not read the values of the installation: %v; set --operator-namespace, or --environment and --values", err))
	case err != nil:
		return err
	case installation == nil && s.inputs.environment == "":
		s.addNote(fmt.Sprintf("operator not found%s: using the built-in values, and environment %s if no other environment is set or reported; set another one with --environment",
			cmp.Or(namespacePhrase(s.inputs.operatorNamespace), " in the cluster"), defaultEnvironment))
	}
	if s.installation = installation; installation != nil && len(installation.OtherOperators) > 0 {
		s.addNote(fmt.Sprintf("found several operators: showing the decisions of %s; choose another operator with --operator-namespace: %s", installation.Title(), strings.Join(installation.OtherOperators, ", ")))
	}
	if s.inputs.kubeVersion == "" {
		discovery, err := s.inputs.app.kube.ToDiscoveryClient()
		if err != nil {
			return fmt.Errorf("getting the API server's version: %w", err)
		}
		version, err := discovery.ServerVersion()
		if err != nil {
			return fmt.Errorf("getting the API server's version: %w", err)
		}
		s.kubeVersion = version.GitVersion
	}
	return s.readOldestKubelet(ctx)
}

// readOldestKubelet reads the version of the oldest kubelet if the operator also reads it, so that the session renders
// like the operator. Without the permission, the session assumes a version.
func (s *session) readOldestKubelet(ctx context.Context) error {
	if s.inputs.kubeletVersion != "" || s.installation == nil || !s.installation.ReadsNodes {
		return nil
	}
	kubelet, err := s.inputs.app.oldestKubelet(ctx)
	if apierrors.IsForbidden(err) {
		return nil // prepare prints the assumed version.
	}
	s.kubelet = kubelet
	return err
}

// addDocuments adds the objects of the files. They replace objects of the cluster with the same name.
func (s *session) addDocuments(ctx context.Context, input *parsedInputs) error {
	namespace, err := input.defaultNamespace(*s.inputs.app.kube.Namespace, s.namespace)
	if err != nil {
		return err
	}
	s.filesNamespace = namespace
	locations := map[workload.Ref]string{}
	for _, document := range slices.Concat(input.sidecars, input.documents) {
		object := document.Object
		if object == nil {
			continue
		}
		if !isClusterScoped(object) && object.GetNamespace() == "" {
			object.SetNamespace(namespace)
		}
		switch o := object.(type) {
		case *v1alpha1.ClusterVectorSidecar:
			if err := s.objects.ReplaceCluster(ctx, o); err != nil {
				return err
			}
		case *v1alpha1.VectorSidecar:
			if err := s.objects.ReplaceSidecar(ctx, o); err != nil {
				return err
			}
		default:
			if workloadObject, ok := workload.ToObject(o); ok {
				workload.SetFinishedStatus(workloadObject)
				if err := requireUnique(locations, document, workload.NewRef(workloadObject)); err != nil {
					return err
				}
			}
			s.objects.Put(o)
		}
	}
	for _, deployment := range s.objects.Workloads() {
		s.inputs.addLabels(deployment)
	}
	unknownNamespaces, err := s.objects.Expand(ctx, s.operatorNamespace(), s.namespace)
	if len(unknownNamespaces) > 0 {
		s.addNote(fmt.Sprintf("the labels of these namespaces are unknown, because the files do not contain them, and a ClusterVectorSidecar that requires a label does not select them: %s",
			strings.Join(humanize.TruncateList(unknownNamespaces, mostNamed, len(unknownNamespaces)), ", ")))
	}
	return err
}

// requireUnique returns an error if the files contain a workload twice. Otherwise, only one of the two copies would be
// evaluated. locations are the positions of the workloads so far.
func requireUnique(locations map[workload.Ref]string, document source.Document, ref workload.Ref) error {
	ref.UID = ""
	location := fmt.Sprintf("%s: document %d", document.Source, document.Number)
	if firstLocation, isThere := locations[ref]; isThere {
		return fmt.Errorf("%s: %s %s/%s is also in %s: remove one of them", location, ref.Kind, ref.Namespace, ref.Name, firstLocation)
	}
	locations[ref] = location
	return nil
}

// mostNamed is the maximum number of namespaces in a note.
const mostNamed = 10

// isClusterScoped reports whether an object is cluster-scoped.
func isClusterScoped(object client.Object) bool {
	switch object.(type) {
	case *corev1.Namespace, *v1alpha1.ClusterVectorSidecar:
		return true
	}
	return false
}

// operatorNamespace returns the operator namespace, or "" if it is unknown.
func (s *session) operatorNamespace() string {
	if s.installation != nil {
		return s.installation.Namespace
	}
	return s.inputs.operatorNamespace
}

// addNote prints a note about the session, unless the same note was printed before.
func (s *session) addNote(text string) {
	if s.noted[text] {
		return
	}
	if s.noted == nil {
		s.noted = map[string]bool{}
	}
	s.noted[text] = true
	s.inputs.app.printNote("%s", text)
}

// loadEvaluator sets the platform and the default environment for evaluations.
func (s *session) loadEvaluator(ctx context.Context, chart fs.FS) error {
	s.taker = source.Snapshotter{Source: accounts{source.Reader{Reader: s.objects}, s}, Settings: desired.Settings{Home: s.operatorNamespace()}, Now: s.inputs.app.clock.Now(), WorkloadKinds: decision.WorkloadKinds{MissingKinds: s.objects.MissingKinds, Manifests: s.inputs.manifests}}
	installed := source.Installation{}
	if s.installation != nil {
		installed = *s.installation
		s.taker.WrittenBy, s.taker.Served = installed.WrittenBy(), installed.Kinds
	}
	values, err := s.inputs.readValues(ctx, s.inputs.environment, installed.Environment, defaultEnvironment)
	if err != nil {
		return err
	}
	s.taker.DefaultEnvironment = cmp.Or(s.inputs.environment, installed.Environment, defaultEnvironment)
	if values != nil {
		s.taker.DefaultEnvironment = cmp.Or(s.inputs.environment, values.Environment)
	}
	switch {
	case s.inputs.environment != "":
		s.taker.DefaultFrom = "--environment"
	case s.cluster == nil || s.installation != nil || values != nil:
	case s.valuesErr != nil:
		s.taker.DefaultAssumed = "the operator's default is unknown, because you may not read the installation's values"
	default:
		s.taker.DefaultAssumed = "the default is unknown, because no operator was found"
	}
	s.taker.KubeVersion = cmp.Or(s.inputs.kubeVersion, s.kubeVersion, defaultKubeVersion)
	s.taker.Cluster = s.inputs.ofCluster.mergeInto(s.renderCluster)
	s.taker.OldestKubelet = s.kubelet
	if flag := s.inputs.kubelet(); flag.Version != "" {
		s.taker.OldestKubelet = flag
	}
	if assumed := desired.AssumedKubelet(s.taker.KubeVersion); assumed != "" && s.taker.OldestKubelet.Version == "" {
		s.addNote(fmt.Sprintf("assuming kubelets of version %s or newer: set the oldest with --kubelet-version", assumed))
	}
	s.values, s.cache = values, desired.NewCache()
	s.taker.Platform, s.taker.PlatformAt, err = s.inputs.loadPlatform(ctx, chart, s.cluster, &installed, values)
	return err
}

// evaluateSidecar evaluates one VectorSidecar and prints notes about assumptions. One assumption is that Vector accepts
// every configuration.
func (s *session) evaluateSidecar(ctx context.Context, sidecar *v1alpha1.VectorSidecar) (*result, error) {
	input, err := s.taker.Observe(ctx, sidecar)
	if err != nil {
		return nil, err
	}
	if installation := s.installation; installation != nil && !installation.Watches(sidecar.Namespace) {
		s.addNote(fmt.Sprintf("the operator %s does not watch namespace %s (watchNamespaces), so nothing changes there", installation.Title(), sidecar.Namespace))
	}
	if currentRevision, publishedRevision := input.Platform.Revision, s.taker.Platform.Target.Revision; s.taker.PlatformAt != nil && currentRevision != publishedRevision && publishedRevision != "" {
		s.addNote(fmt.Sprintf("VectorSidecar %s/%s has revision %s of the installation's templates and values, and waits for revision %s: kubectl vectorsidecar rollout status",
			sidecar.Namespace, sidecar.Name, currentRevision, publishedRevision))
	}
	if text := lastgood.RevertMessage(sidecar); text != "" {
		s.addNote(meta.OwnTitle(sidecar.Namespace, sidecar.Name) + ": " + text) // A ClusterVectorSidecar reverts in all namespaces.
	}
	input.Renderers, input.ValidatesAlways = runtime.GOMAXPROCS(0), s.asksVector
	onNodes := s.objects.OnEveryNode()
	input.OnNodes = func() []*workloadcache.Record { return onNodes }
	// The command does not wait for Vector's validation: it assumes that the configuration is valid.
	input.Verdict = func(string) decision.Verdict { return decision.Verdict{State: decision.VerdictValid} }
	decided, err := decision.Decide(ctx, input, s.cache)
	if err != nil {
		return nil, err
	}
	if defaultFrom := input.DefaultFrom; s.cluster != nil && defaultFrom == decided.EnvironmentFrom && s.inputs.environment == "" && defaultFrom != "" {
		s.addNote(fmt.Sprintf("namespace %s has environment %s, which is from %s", sidecar.Namespace, decided.Environment, defaultFrom))
	}
	ruled := &result{sidecar: sidecar, input: input, decision: decided}
	return ruled, s.applyReport(ruled)
}
