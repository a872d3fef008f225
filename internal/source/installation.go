// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Installation describes how the operator of a cluster was installed.
type Installation struct {
	// Namespace and Name identify the operator's Deployment.
	Namespace, Name string
	Image           string
	ServiceAccount  string
	// Replicas is the desired number of replicas, and Available the number of available ones.
	Replicas, Available int32
	// Namespaces are the namespaces that the operator watches; nil for all.
	Namespaces []string
	// OtherOperators are the names of other operators in the cluster that match the search, as NAMESPACE/NAME.
	OtherOperators []string
	// Kinds are the enabled kinds of workloads.
	Kinds []string
	// LeaderElectionID is the name of the operator's Lease, or "" if it is not set.
	LeaderElectionID string
	// Environment is the default environment.
	Environment string
	// ValuesFrom is the name of the ConfigMap of the installation's values. Values is its content by file,
	// ENVIRONMENT.yaml.
	ValuesFrom string
	Values     map[string]string
	// LacksValues is true if that ConfigMap does not exist.
	LacksValues bool
	// Annotations are the annotations of that ConfigMap. ManagedFields contain the time when they were written.
	Annotations   map[string]string
	ManagedFields []metav1.ManagedFieldsEntry
	// TemplateSets are the ConfigMaps with template sets.
	TemplateSets []corev1.ConfigMap
	// Published is the record of the last published revision, or nil for none. PublishedErr explains why it could not
	// be read, or is nil.
	Published    *fleet.Publication
	PublishedErr error
	// Webhook is the operator's admission webhook, or nil for none.
	Webhook *Webhook
	// EnablesClusters reports whether ClusterVectorSidecars are enabled in the installation.
	EnablesClusters bool
	// Preflight reports whether the operator makes dry runs of sidecars before it writes them.
	Preflight bool
	// Required are the objects of the chart that the operator depends on, as KIND/NAME.
	Required []string
	// Injects reports whether the operator writes OverlaySets, so that the API server injects sidecars.
	Injects bool
	// RunsJobs reports whether the operator may run Jobs that validate a configuration.
	RunsJobs bool
	// ReadsPods reports whether the operator reads the pods of workloads.
	ReadsPods bool
	// ReadsNodes reports whether the operator reads the versions of kubelets.
	ReadsNodes bool
	// ReadsAccounts reports whether the operator reads ServiceAccounts.
	ReadsAccounts bool
}

// Webhook is the configuration of the admission webhook.
type Webhook struct {
	// Secret is the name of the Secret with the certificate, in the operator's namespace.
	Secret string
	// Configuration is the ValidatingWebhookConfiguration that the operator maintains, with the certificate. It is ""
	// if the operator does not maintain it.
	Configuration string
}

// Flags that identify the operator.
const (
	flagEnvironment = "--environment"
	flagValues      = "--environments-configmap"
	flagNamespaces  = "--watch-namespaces"
	flagKinds       = "--workload-kinds"
	flagLease       = "--leader-election-id"
	flagPods        = "--read-pods"
	flagNodes       = "--read-nodes"
	flagClusters    = "--cluster-sidecars"
	flagPreflight   = "--preflight"
	flagInjection   = "--admission-injection"
	flagRequired    = "--required-objects"
	flagJobs        = "--validation-jobs"
	flagAccounts    = "--read-service-accounts"

	flagWebhook              = "--webhook-bind-address"
	flagWebhookSecret        = "--webhook-certificate-secret" //nolint:gosec // the name of a flag
	flagWebhookConfiguration = "--webhook-configuration"
)

// FindInstallation finds the operator's Deployment by the label and the flags that the installation chart sets. Of
// several operators, it prefers one that watches the given namespace, and then one with the roles of the chart. It
// returns nil if there is no Deployment.
//
// If the user may read only the Deployment, it returns an error, and the Installation without values and template sets.
// If the user may not read the template sets, the Installation has the values and the record of the published revision.
func FindInstallation(ctx context.Context, cluster client.Reader, namespace, watched string) (*Installation, error) {
	labels := client.MatchingLabels{"app.kubernetes.io/component": "operator"}
	installations, err := livelist.Collect(ctx, livelist.New(cluster), &appsv1.DeploymentList{}, func(deployment *appsv1.Deployment) (*Installation, bool) {
		installation := newInstallation(deployment)
		return installation, installation != nil
	}, client.InNamespace(namespace), labels)
	if err != nil {
		return nil, fmt.Errorf("finding the operator: %w", err)
	}
	isElsewhere := func(installation *Installation) bool { return !installation.Watches(watched) }
	if fitting := slices.DeleteFunc(slices.Clone(installations), isElsewhere); watched != "" && len(fitting) > 0 {
		installations = fitting
	}
	if len(installations) == 0 {
		return nil, nil
	}
	if len(installations) > 1 { // Users can create a Deployment with this label and these flags in their own namespaces.
		var bound, unbound []*Installation
		for _, installation := range installations {
			if installation.isBound(ctx, cluster, watched) {
				bound = append(bound, installation)
			} else {
				unbound = append(unbound, installation)
			}
		}
		installations = slices.Concat(bound, unbound)
	}
	for _, installation := range installations[1:] {
		installations[0].OtherOperators = append(installations[0].OtherOperators, installation.Title())
	}
	return installations[0], installations[0].readConfigMaps(ctx, cluster)
}

// isBound reports whether the ServiceAccount of the Deployment has the roles of the installation chart, for all
// namespaces or for the watched one. Only users with permissions in a namespace can bind roles there. It returns false
// if the user may not read the bindings, or if the roles have other names.
func (i *Installation) isBound(ctx context.Context, cluster client.Reader, watched string) bool {
	binding := client.ObjectKey{Name: i.Namespace + ":" + i.Name}
	if cluster.Get(ctx, binding, &rbacv1.ClusterRoleBinding{}) == nil {
		return true
	}
	binding.Namespace = watched
	return watched != "" && cluster.Get(ctx, binding, &rbacv1.RoleBinding{}) == nil
}

// Watches reports whether the operator watches a namespace.
func (i *Installation) Watches(namespace string) bool {
	return len(i.Namespaces) == 0 || slices.Contains(i.Namespaces, namespace)
}

// Title returns the name of the operator for messages: NAMESPACE/NAME.
func (i *Installation) Title() string { return i.Namespace + "/" + i.Name }

// newInstallation returns the installation of an operator's Deployment, or nil if no container has the argument for
// the ConfigMap of values.
func newInstallation(deployment *appsv1.Deployment) *Installation {
	for _, container := range deployment.Spec.Template.Spec.Containers {
		installation := &Installation{
			Namespace: deployment.Namespace, Name: deployment.Name, Image: container.Image,
			ServiceAccount: deployment.Spec.Template.Spec.ServiceAccountName,
			Replicas:       1, Available: deployment.Status.AvailableReplicas,
			Kinds: []string{workload.Default().Kind}, // The default of releases without the flag.
		}
		if deployment.Spec.Replicas != nil {
			installation.Replicas = *deployment.Spec.Replicas
		}
		installation.parseArguments(container.Args)
		if installation.ValuesFrom != "" {
			return installation
		}
	}
	return nil
}

// parseArguments reads the operator's arguments.
func (i *Installation) parseArguments(arguments []string) {
	webhook := &Webhook{}
	for _, argument := range arguments {
		flag, value, _ := strings.Cut(argument, "=")
		switch flag {
		case flagEnvironment:
			i.Environment = value
		case flagValues:
			i.ValuesFrom = value
		case flagNamespaces:
			i.Namespaces = strings.Split(value, ",")
		case flagKinds:
			i.Kinds = strings.Split(value, ",")
		case flagLease:
			i.LeaderElectionID = value
		case flagClusters:
			i.EnablesClusters = value != "false"
		case flagPreflight:
			i.Preflight = value != "false"
		case flagInjection:
			i.Injects = value != "false"
		case flagRequired:
			i.Required = strings.Split(value, ",")
		case flagJobs:
			i.RunsJobs = value != "false"
		case flagPods:
			i.ReadsPods = value != "false"
		case flagNodes:
			i.ReadsNodes = value != "false"
		case flagAccounts:
			i.ReadsAccounts = value != "false"
		case flagWebhook:
			if value != "0" {
				i.Webhook = webhook
			}
		case flagWebhookSecret:
			webhook.Secret = value
		case flagWebhookConfiguration:
			webhook.Configuration = value
		}
	}
}

// WrittenBy returns the name that this installation writes into its objects, "" if the name is not known.
func (i *Installation) WrittenBy() string {
	if i.LeaderElectionID == "" {
		return ""
	}
	return i.Namespace + "/" + i.LeaderElectionID
}

// readConfigMaps reads the ConfigMap of values, the record of the published revision, and the template sets.
func (i *Installation) readConfigMaps(ctx context.Context, cluster client.Reader) error {
	object := &corev1.ConfigMap{}
	err := cluster.Get(ctx, i.ValuesName(), object)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading the installation's values: %w", err)
	}
	i.LacksValues = apierrors.IsNotFound(err)
	i.Values, i.Annotations, i.ManagedFields = object.Data, object.Annotations, object.ManagedFields
	if i.Values == nil {
		i.Values = map[string]string{}
	}
	i.Published, i.PublishedErr = ReadPublication(ctx, cluster, i.ValuesName())
	if i.LacksValues && i.Published == nil && i.PublishedErr == nil { // The record is deleted with the values.
		i.PublishedErr = fmt.Errorf("ConfigMap %s does not exist", i.ValuesName())
	}
	i.TemplateSets, err = livelist.Collect(ctx, livelist.New(cluster), &corev1.ConfigMapList{}, func(listed *corev1.ConfigMap) (corev1.ConfigMap, bool) {
		return *listed, true
	}, client.InNamespace(i.Namespace), client.HasLabels{meta.LabelTemplateSet})
	if err != nil {
		return fmt.Errorf("listing template sets: %w", err)
	}
	return nil
}
