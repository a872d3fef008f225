// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

var (
	world *harness.World
	plane *controlplane.ControlPlane
	// running is the operator of all tests. Tests that stop it are not parallel and run first.
	running *harness.Operator
	kinds   = []string{"Deployment", "StatefulSet", "DaemonSet", "CronJob", "Rollout"}
	options = operator.Options{
		Namespace: harness.AccountNamespace, EnvironmentsConfigMap: "environments", WorkloadKinds: kinds, Preflight: true, ReadServiceAccounts: true, ClusterSidecars: true,
	}
)

// byDefault is the Pod Security level of namespaces without labels. The operator reads only labels.
const byDefault = `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
  - name: PodSecurity
    configuration:
      apiVersion: pod-security.admission.config.k8s.io/v1
      kind: PodSecurityConfiguration
      defaults: {enforce: baseline, enforce-version: latest}
`

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(runAll(m))
}

func runAll(m *testing.M) int {
	folder, err := os.MkdirTemp("", "preflight-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	security := filepath.Join(folder, "admission.yaml")
	if err := os.WriteFile(security, []byte(byDefault), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	start := controlplane.Options{Nodes: 2, APIServerArgs: map[string]string{"admission-control-config-file": security}}
	return controlplane.Main(m, start, func(c *controlplane.ControlPlane) (func() error, error) {
		plane = c
		if world, err = harness.NewWorld(c.Config()); err != nil {
			return nil, err
		}
		ctx := context.Background()
		if _, err = envtest.InstallCRDs(c.Config(), envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{rollouts()}}); err != nil {
			return nil, err
		}
		if _, err = world.RunAsInstalled(ctx, c, kinds...); err != nil {
			return nil, err
		}
		if err := world.Preflight(ctx, c, kinds...); err != nil {
			return nil, err
		}
		if err := world.ApplyValues(ctx, objects.NewConfigMap("environments", harness.AccountNamespace, desired.PolicyKey, "podSecurity: privileged\nimagePullSecrets: {allowed: [registry]}")); err != nil {
			return nil, err
		}
		running = world.RunOperator(options)
		return func() error { return running.Stop() }, nil
	})
}

// rollouts returns a definition of Argo Rollouts with the fields that the operator reads. As in the original, all
// lists are atomic.
func rollouts() *apiextensionsv1.CustomResourceDefinition {
	anything := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "rollouts.argoproj.io"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "argoproj.io", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Rollout", ListKind: "RolloutList", Plural: "rollouts", Singular: "rollout"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1alpha1", Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &anything,
				}},
			}},
		},
	}
}

// logs builds a VectorSidecar that selects workloads with the label logs=vector.
func logs(namespace string) *objects.VectorSidecar {
	return objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithMaxConcurrent("100%")
}

// cart builds a selected Deployment with resource requests for its only container.
func cart(namespace string) *objects.Deployment {
	return objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Pod(func(spec *corev1.PodSpec) {
		spec.Containers[0].Resources = *objects.Requests("10m", "16Mi")
	})
}

func has(d *appsv1.Deployment) bool {
	spec := &d.Spec.Template.Spec
	for _, c := range append(append([]corev1.Container{}, spec.InitContainers...), spec.Containers...) {
		if c.Name == "vector" {
			return true
		}
	}
	return false
}

// awaitRejection waits until the status reports rejected dry runs, and returns the message.
func awaitRejection(t *testing.T, vs *v1alpha1.VectorSidecar) string {
	t.Helper()
	said := ""
	harness.Until(t, world, vs, "a rejection", func(vs *v1alpha1.VectorSidecar) bool {
		ready := apimeta.FindStatusCondition(vs.Status.Conditions, meta.ConditionReady)
		if ready == nil || ready.Reason != meta.ReasonPreflightRejected {
			return false
		}
		said = ready.Message
		return apimeta.IsStatusConditionTrue(vs.Status.Conditions, meta.ConditionStalled) && apimeta.IsStatusConditionTrue(vs.Status.Conditions, meta.ConditionError)
	})
	require.NotEmpty(t, vs.Status.Workloads)
	require.Equal(t, v1alpha1.StateBlocked, vs.Status.Workloads[0].State)
	require.Equal(t, meta.ReasonPreflightRejected, vs.Status.Workloads[0].Reason)
	return said
}

// requireUnchanged requires that nothing was written to a Deployment.
func requireUnchanged(t *testing.T, deployment *appsv1.Deployment) {
	t.Helper()
	world.Get(t, deployment)
	require.False(t, has(deployment))
	require.EqualValues(t, 1, deployment.Generation)
	require.Empty(t, deployment.Annotations[meta.AnnotationInjected])
}

// requestReconcile requests a reconcile at once.
func requestReconcile(t *testing.T, vs *v1alpha1.VectorSidecar, text string) {
	t.Helper()
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationReconcileAt, text)
	})
}

type vectorSidecar = v1alpha1.VectorSidecar

// conditionOf returns a condition, or an empty one.
func conditionOf(vs *vectorSidecar, kind string) metav1.Condition {
	if found := apimeta.FindStatusCondition(vs.Status.Conditions, kind); found != nil {
		return *found
	}
	return metav1.Condition{}
}

// dryRunOf sends a dry run of a template's pod as the administrator.
func dryRunOf(t *testing.T, namespace string, template *corev1.PodTemplateSpec) error {
	t.Helper()
	trial := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "trial"}, Spec: *template.Spec.DeepCopy()}
	return world.Client.Create(t.Context(), trial, client.DryRunAll)
}

// countRequests counts the operator's dry runs and writes for objects of a namespace.
func countRequests(o *harness.Operator, namespace, resource string) (tried, written int) {
	for _, request := range o.Requests.Writes("/namespaces/" + namespace + "/" + resource) {
		if request.DryRun {
			tried++
			continue
		}
		written++
	}
	return tried, written
}
