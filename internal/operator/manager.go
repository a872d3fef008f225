// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecar"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// gracePeriod is the time that work in progress may continue after the signal to stop.
const gracePeriod = 10 * time.Second

// newScheme returns the scheme of Kubernetes' own kinds and the operator's kinds.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err) // Compiled-in types always register.
		}
	}
	return scheme
}

// informerOptions configure how informers list and store objects.
type informerOptions struct {
	workloads *workloadcache.Cache
	pager     *livelist.Pager
}

// managerOptions returns the options of the manager. The context is canceled by the signal to stop.
func managerOptions(ctx context.Context, options Options, caching informerOptions) ctrl.Options {
	return ctrl.Options{
		Scheme:   newScheme(),
		Cache:    cacheOptions(options, caching),
		NewCache: newShutdownCache(ctx),
		Metrics: metricsserver.Options{
			BindAddress:    options.MetricsBindAddress,
			SecureServing:  true,
			CertDir:        options.MetricsCertDir,
			FilterProvider: authorizeMetrics,
			// HTTP/2 is disabled, because it allows a single client to put more load on the server
			// than scraping needs.
			TLSOpts: []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }},
		},
		HealthProbeBindAddress:        options.HealthProbeBindAddress,
		PprofBindAddress:              options.PprofBindAddress,
		LeaderElection:                options.LeaderElect,
		LeaderElectionID:              options.LeaderElectionID,
		LeaderElectionNamespace:       options.Namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 ptr.To(cmp.Or(options.LeaseDuration, defaultLeaseDuration)),
		RenewDeadline:                 ptr.To(cmp.Or(options.RenewDeadline, defaultRenewDeadline)),
		RetryPeriod:                   ptr.To(cmp.Or(options.RetryPeriod, defaultRetryPeriod)),
		GracefulShutdownTimeout:       ptr.To(gracePeriod),
	}
}

// checkCertificates checks the metrics certificate, because the metrics server would silently
// replace an invalid one with its own.
func (o *Options) checkCertificates() error {
	if o.MetricsCertDir == "" || o.MetricsBindAddress == "0" {
		return nil
	}
	_, err := tls.LoadX509KeyPair(filepath.Join(o.MetricsCertDir, "tls.crt"), filepath.Join(o.MetricsCertDir, "tls.key"))
	if err != nil {
		return fmt.Errorf("--metrics-cert-dir: %w", err)
	}
	return nil
}

// cacheOptions returns the options of the cache, which restrict it to the objects that the controller reads.
func cacheOptions(options Options, caching informerOptions) cache.Options {
	workloads := caching.workloads
	// Every namespace has a ConfigMap with this name, which never contains Vector configuration.
	configMaps := cache.ByObject{
		Field:     fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt"),
		Transform: sidecar.DigestConfigMaps(options.Namespace),
	}
	settings := cache.Options{DefaultTransform: newTransform(workloads), NewInformer: newInformer(caching)}
	if len(options.WatchNamespaces) > 0 {
		settings.DefaultNamespaces = map[string]cache.Config{}
		configMaps.Namespaces = map[string]cache.Config{}
		for _, name := range options.WatchNamespaces {
			settings.DefaultNamespaces[name] = cache.Config{}
			configMaps.Namespaces[name] = cache.Config{}
		}
		if options.Namespace != "" { // The operator namespace has the platform team's ConfigMaps.
			configMaps.Namespaces[options.Namespace] = cache.Config{}
		}
	}
	// The name of the operator's label is always valid.
	validation, _ := labels.NewRequirement(meta.LabelValidation, selection.Exists, nil)
	settings.ByObject = map[client.Object]cache.ByObject{
		&v1alpha1.VectorSidecar{}:            {Transform: sidecar.DropLargeContent},
		&corev1.ConfigMap{}:                  configMaps,
		clusterwide.NewNamespaceMetadata(""): {Transform: reduceNamespace},
	}
	if options.ClusterSidecars {
		settings.ByObject[&v1alpha1.ClusterVectorSidecar{}] = cache.ByObject{Transform: sidecar.DropLargeContent}
	}
	jobs := cache.ByObject{Label: labels.NewSelector().Add(*validation), Transform: transformJobs(nil)}
	for _, kind := range workloads.Kinds() {
		if _, isJob := kind.New().(*batchv1.Job); isJob {
			jobs = cache.ByObject{Transform: transformJobs(workloads.Transform)}
			continue
		}
		if !kind.Traits.OptionalAPI { // The cache cannot start with kinds that the cluster lacks.
			settings.ByObject[kind.New()] = cache.ByObject{Transform: workloads.Transform}
		}
	}
	settings.ByObject[&batchv1.Job{}] = jobs
	if options.AdmissionInjection {
		settings.ByObject[&v1alpha1.OverlaySet{}] = cache.ByObject{Transform: dropOtherOverlaySets}
	}
	options.Webhook.addToCache(&settings, options.Namespace)
	return settings
}

// newWorkloadCache returns the cache of the enabled kinds of workloads.
func (o *Options) newWorkloadCache() *workloadcache.Cache {
	workloads := workloadcache.New(o.kinds()...)
	if o.Preflight {
		workloads.KeepShapes()
	}
	return workloads
}

// newTransform returns the function that reduces objects before the cache stores them. It converts workloads of
// optional APIs to records, and removes managedFields from other objects.
func newTransform(workloads *workloadcache.Cache) toolscache.TransformFunc {
	strip := cache.TransformStripManagedFields()
	return func(object any) (any, error) {
		if workloadObject, ok := workload.ToObject(object); ok && workload.HasOptionalAPI(workloadObject) {
			return workloads.Transform(object)
		}
		return strip(object)
	}
}

// transformJobs returns the function that reduces Jobs before the cache stores them, for an operator with Jobs as an
// enabled kind. The cache has one selector for all Jobs. Jobs that validate a configuration keep the fields that the
// operator reads, and other complete Jobs keep only their names. Workload Jobs are watched as metadata, which workloads
// transforms.
func transformJobs(workloads toolscache.TransformFunc) toolscache.TransformFunc {
	return func(object any) (any, error) {
		job, isWhole := object.(*batchv1.Job)
		if !isWhole {
			return workloads(object)
		}
		reduced := &batchv1.Job{ObjectMeta: reduceMetadata(&job.ObjectMeta)}
		if job.Labels[meta.LabelValidation] == "" {
			return reduced, nil
		}
		reduced.Labels = map[string]string{meta.LabelValidation: job.Labels[meta.LabelValidation], meta.LabelValidated: job.Labels[meta.LabelValidated]}
		for _, condition := range job.Status.Conditions {
			if isEnd := condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed; isEnd && len(reduced.Status.Conditions) < 2 {
				reduced.Status.Conditions = append(reduced.Status.Conditions, batchv1.JobCondition{
					Type: condition.Type, Status: condition.Status,
					Reason: humanize.ShortenMessage(condition.Reason, mostOfText), Message: humanize.ShortenMessage(condition.Message, mostOfText),
				})
			}
		}
		return reduced, nil
	}
}

// mostOfText is the maximum length of a cached reason or message of a Job, and of an annotation of a Namespace.
const mostOfText = 1000

// dropOtherOverlaySets is the transform function for OverlaySets. The operator reads one OverlaySet of each namespace.
// Others, which users may create, are reduced to their names.
func dropOtherOverlaySets(object any) (any, error) {
	set, isSet := object.(*v1alpha1.OverlaySet)
	if !isSet || set.Name == meta.OverlaySet {
		return cache.TransformStripManagedFields()(object)
	}
	return &v1alpha1.OverlaySet{ObjectMeta: reduceMetadata(&set.ObjectMeta)}, nil
}

// namespaceAnnotations are the annotations of Namespaces that the operator reads.
var namespaceAnnotations = []string{meta.AnnotationInject, policy.UserRangeAnnotation}

// reduceNamespace is the transform function for the metadata of Namespaces. It keeps the labels, which VectorSidecars and
// waves may select by.
func reduceNamespace(object any) (any, error) {
	namespace, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	reduced := &metav1.PartialObjectMetadata{TypeMeta: namespace.TypeMeta, ObjectMeta: reduceMetadata(&namespace.ObjectMeta)}
	reduced.CreationTimestamp, reduced.Labels = namespace.CreationTimestamp, namespace.Labels
	for _, name := range namespaceAnnotations {
		if value, exists := namespace.Annotations[name]; exists {
			metav1.SetMetaDataAnnotation(&reduced.ObjectMeta, name, strings.Clone(value[:min(len(value), mostOfText)]))
		}
	}
	return reduced, nil
}

// reduceMetadata returns the identity and the version of an object.
func reduceMetadata(object *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: object.Namespace, Name: object.Name, UID: object.UID, ResourceVersion: object.ResourceVersion, DeletionTimestamp: object.DeletionTimestamp,
	}
}

// newInformer returns a constructor of informers, which list page by page. Informers of workloads
// have no index, because workloads are looked up in the workload cache. The informer of Jobs keeps
// its index, from which Jobs that validate a configuration are listed.
func newInformer(caching informerOptions) func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer {
	return func(listerWatcher toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		paged := caching.pager.Source(listerWatcher)
		if _, isWorkload := workload.ToObject(example); isWorkload {
			if _, isJob := example.(*batchv1.Job); !isJob {
				indexers = toolscache.Indexers{}
			}
		}
		return paged.Informer(toolscache.NewSharedIndexInformer(paged, example, resync, indexers))
	}
}
