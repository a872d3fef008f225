// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// State is the outcome of a check.
type State string

const (
	// OK means that no problem was found.
	OK State = "ok"
	// Warning means that a user should look at the message.
	Warning State = "warning"
	// Failed means that the operator cannot work.
	Failed State = "failed"
	// Unknown means that the check could not be completed.
	Unknown State = "unknown"
)

// Result is the result of one check.
type Result struct {
	Check   string `json:"check"`
	State   State  `json:"state"`
	Message string `json:"message"`
	// Help describes how to fix the problem, "" if no action is needed.
	Help string `json:"help,omitempty"`
}

// oldest is the first supported version of Kubernetes, native the first version with native sidecars.
var (
	oldest = utilversion.MustParseGeneric("1.25.0")
	native = utilversion.MustParseGeneric(workload.FirstNative)
)

// Diagnosis checks a cluster. Cluster, Catalog, KubeVersion, OldestKubelet, Reject and Now are required.
type Diagnosis struct {
	Cluster client.Client
	// AsOperator returns a client for the same cluster that impersonates the operator's
	// ServiceAccount, by user name.
	AsOperator func(user string) (client.Client, error)
	// Catalog is a new catalog with the built-in sidecar chart.
	Catalog *desired.Catalog
	// KubeVersion of the API server, such as "v1.36.0".
	KubeVersion string
	// OldestKubelet returns the oldest kubelet of the cluster.
	OldestKubelet func(ctx context.Context) (desired.Kubelet, error)
	// Now returns the current time.
	Now func() time.Time
	// Reject returns the reason why the API server would reject the manifest of a VectorSidecar or ClusterVectorSidecar, ""
	// for none.
	Reject func(ctx context.Context, kind string, manifest []byte) string
	// OperatorNamespace is the namespace in which to find installations, "" for all namespaces.
	OperatorNamespace string
}

// Run runs all checks.
func (d *Diagnosis) Run(ctx context.Context) []Result {
	results := []Result{d.checkVersion(), d.checkPlatform(), d.checkNetwork(ctx)}
	served, isServed := d.checkServed(ctx)
	results = append(results, served)
	installation, installationResult := d.findInstallation(ctx)
	results = append(results, installationResult, d.checkKubelets(ctx, installation))
	if installation != nil {
		results = append(results, d.checkValues(installation), d.checkPermissions(ctx, installation), checkOptional(installation))
		results = append(results, d.checkRequiredObjects(ctx, installation)...)
		results = append(results, d.checkWebhook(ctx, installation)...)
		results = append(results, d.checkPreflight(ctx, installation)...)
		results = append(results, d.checkPolicies(ctx, installation)...)
	}
	results = append(results, d.checkInjectors(ctx))
	if isServed {
		results = append(results, d.checkSidecars(ctx))
		results = append(results, d.checkOverlaySets(ctx)...)
		results = append(results, d.checkOwners(ctx)...)
	}
	if isServed && installation != nil {
		results = append(results, d.checkDeclared(ctx, installation)...)
		results = append(results, d.checkRollout(ctx, installation)...)
		results = append(results, d.checkLeftovers(ctx, installation))
	}
	return results
}

// checkVersion checks whether the version of Kubernetes is supported and has native sidecars.
func (d *Diagnosis) checkVersion() Result {
	const check = "Kubernetes version"
	version, err := utilversion.ParseGeneric(d.KubeVersion)
	switch {
	case err != nil:
		return Result{check, Unknown, err.Error(), ""}
	case version.LessThan(oldest):
		return Result{check, Failed, d.KubeVersion + " is too old", "upgrade the cluster to " + oldest.String() + " or later"}
	case version.LessThan(native):
		return Result{check, Warning, d.KubeVersion + " has no native sidecars: Vector is injected as a container", "upgrade the cluster to " + native.String() + " or later, where sidecars start first and stop last"}
	}
	return Result{check, OK, d.KubeVersion + ", with native sidecars", ""}
}

// checkKubelets checks whether native sidecars run on every node, and whether the operator knows the version of the nodes.
func (d *Diagnosis) checkKubelets(ctx context.Context, installation *source.Installation) Result {
	const check = "kubelets"
	assumed := desired.AssumedKubelet(d.KubeVersion)
	oldest, err := d.OldestKubelet(ctx)
	if err != nil {
		return Result{check, Unknown, err.Error(), "ask someone with permission to list nodes"}
	}
	version, err := utilversion.ParseGeneric(oldest.Version)
	if err != nil {
		return Result{check, OK, "no node reports the version of its kubelet", ""}
	}
	message := fmt.Sprintf("the oldest kubelet is %s, of node %s", oldest.Version, oldest.Node)
	switch {
	case version.LessThan(native):
		return Result{check, Warning, message + ", which does not support native sidecars: pods with a native sidecar stay in Init there", "upgrade that node, keep pods with a sidecar off it, or set sidecar.native to Never"}
	case assumed != "" && installation != nil && !installation.ReadsNodes:
		return Result{check, OK, message + "; the operator does not read nodes (rbac.optional.nodes), and assumes kubelets of version " + assumed + " or newer: sidecars are ordinary containers if that version does not support native sidecars", ""}
	}
	return Result{check, OK, message, ""}
}

// checkServed checks whether the API server serves VectorSidecars.
func (d *Diagnosis) checkServed(ctx context.Context) (Result, bool) {
	const check = "VectorSidecars served"
	err := isServed(ctx, d.liveClient(), "VectorSidecar", metav1.NamespaceAll)
	switch {
	case isAbsent(err):
		return Result{check, Failed, "the CustomResourceDefinition is not installed", "install the operator's chart"}, false
	case err != nil:
		return Result{check, Unknown, err.Error(), "ask someone with permission to list VectorSidecars"}, false
	}
	return Result{check, OK, v1alpha1.GroupVersion.String(), ""}, true
}

// findInstallation returns the installation of the operator, or nil for none, and checks whether a replica is
// available.
func (d *Diagnosis) findInstallation(ctx context.Context) (*source.Installation, Result) {
	const check = "operator"
	installation, err := source.FindInstallation(ctx, d.Cluster, d.OperatorNamespace, "")
	switch {
	case err != nil:
		return nil, Result{check, Unknown, err.Error(), "set --operator-namespace, or ask someone with permission to list Deployments"}
	case installation == nil:
		return nil, Result{check, Failed, "not installed in the cluster", "install the chart: helm install vso ./chart -n vector-system --create-namespace"}
	case installation.Available == 0:
		return installation, Result{check, Failed, fmt.Sprintf("none of %d replicas of Deployment %s/%s is available", installation.Replicas, installation.Namespace, installation.Name), "check the pods: kubectl describe deployment " + installation.Name + " -n " + installation.Namespace}
	}
	message := fmt.Sprintf("Deployment %s/%s, %d of %d replicas available, image %s", installation.Namespace, installation.Name, installation.Available, installation.Replicas, installation.Image)
	if len(installation.OtherOperators) > 0 {
		message += "; others are not checked without --operator-namespace: " + strings.Join(installation.OtherOperators, ", ")
	}
	return installation, Result{check, OK, message, ""}
}

// checkValues checks the published templates and values of the installation.
func (d *Diagnosis) checkValues(installation *source.Installation) Result {
	const check = "values of the installation"
	platform := installation.Platform(d.Catalog)
	var faults []string
	for _, mismatch := range installation.ConfigMaps().Mismatches() {
		if mismatch.IsOverdue(d.Now()) {
			faults = append(faults, mismatch.String())
		}
	}
	for _, fault := range platform.Faults() {
		faults = append(faults, fault.Err.Error())
	}
	if len(faults) > 0 {
		return Result{check, Failed, strings.Join(faults, "; "), "correct them and upgrade the installation"}
	}
	return Result{check, OK, "environments " + strings.Join(platform.Environments.Names(), ", ") + ", default " + installation.Environment, ""}
}

// checkSidecars checks the VectorSidecars for errors.
func (d *Diagnosis) checkSidecars(ctx context.Context) Result {
	const check = "VectorSidecars"
	sidecars, err := collectSidecars(ctx, d, metav1.NamespaceAll, func(sidecar *v1alpha1.VectorSidecar) sidecarErrors {
		return newSidecarErrors(sidecar.Namespace+"/"+sidecar.Name, sidecar.Status.Conditions)
	})
	if err != nil {
		return Result{check, Unknown, err.Error(), ""}
	}
	clusters, err := collectClusters(ctx, d, func(cluster *v1alpha1.ClusterVectorSidecar) sidecarErrors {
		return newSidecarErrors(meta.ClusterSidecarName(cluster.Name), cluster.Status.Conditions)
	})
	// ClusterVectorSidecars do not exist without the CRD, and a user of one namespace may not be allowed to list
	// them.
	if err != nil && !isAbsent(err) && !apierrors.IsForbidden(err) {
		return Result{check, Unknown, err.Error(), ""}
	}
	var bad, invalid []string
	for _, errors := range slices.Concat(clusters, sidecars) {
		if errors.condition != "" {
			bad = append(bad, errors.condition)
		}
		if errors.template != "" {
			invalid = append(invalid, errors.template)
		}
	}
	count := len(sidecars) + len(clusters)
	if len(bad) > 0 {
		slices.Sort(bad)
		slices.Sort(invalid)
		message := fmt.Sprintf("%d of %d VectorSidecars have errors: %s", len(bad), count, strings.Join(bad, ", "))
		return Result{check, Warning, strings.Join(append([]string{message}, humanize.TruncateList(invalid, mostInvalid, len(invalid))...), "; "), "kubectl vectorsidecar get -A -o wide"}
	}
	return Result{check, OK, fmt.Sprintf("none of %d VectorSidecars has an error", count), ""}
}

// mostInvalid is the maximum number of VectorSidecars with a quoted template error in a message.
const mostInvalid = 3

// sidecarErrors describes the errors of a VectorSidecar. Each field is "" without an error.
type sidecarErrors struct {
	// condition is the name with the reason of the condition Error.
	condition string
	// template is the name with an error of a template, which has file and line.
	template string
}

// newSidecarErrors reads the errors of a VectorSidecar from its conditions.
func newSidecarErrors(name string, conditions []metav1.Condition) (errors sidecarErrors) {
	if condition := apimeta.FindStatusCondition(conditions, meta.ConditionError); condition != nil && condition.Status == metav1.ConditionTrue {
		errors.condition = fmt.Sprintf("%s (%s)", name, condition.Reason)
	}
	ofTemplates := []string{meta.ReasonInvalidTemplate, meta.ReasonInvalidSidecar}
	if condition := apimeta.FindStatusCondition(conditions, meta.ConditionConfigValid); condition != nil && condition.Status == metav1.ConditionFalse && slices.Contains(ofTemplates, condition.Reason) {
		errors.template = name + ": " + decision.FailureMessage(condition.Message)
	}
	return errors
}
