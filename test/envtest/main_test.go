// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/internal/overlayset"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

var (
	world *harness.World
	// running is the operator of all tests. Parallel tests use only their own namespaces.
	running *harness.Operator
	// kubeconfig is the path of the kubeconfig for the tools of application owners.
	kubeconfig string
	options    = operator.Options{
		Namespace: "vector-system", EnvironmentsConfigMap: "environments", ValidationJobs: true, ReadPods: true, ReadNodes: true, ReadServiceAccounts: true, WorkloadKinds: objects.WorkloadKinds,
		ClusterSidecars: true,
	}
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(runAll(m))
}

// runAll runs the tests with an operator that has exactly the permissions of the chart.
func runAll(m *testing.M) int {
	folder, err := os.MkdirTemp("", "audit-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	audit, log, err := auditArgs(folder)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return controlplane.Main(m, controlplane.Options{Nodes: 2, APIServerArgs: audit}, func(c *controlplane.ControlPlane) (func() error, error) {
		if world, err = harness.NewWorld(c.Config()); err != nil {
			return nil, err
		}
		role, err := world.RunAsInstalled(context.Background(), c, options.WorkloadKinds...)
		if err != nil {
			return nil, err
		}
		kubeconfig = c.Kubeconfig()
		// This OverlaySet is left by an operator with admission injection.
		left := &v1alpha1.OverlaySet{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: meta.OverlaySet}, Spec: overlayset.Compose(nil, nil, nil)}
		if err := world.Client.Create(context.Background(), left); err != nil {
			return nil, err
		}
		if err := install(context.Background()); err != nil {
			return nil, err
		}
		running = world.RunOperator(options)
		return func() error { return errors.Join(running.Stop(), requireAllRightsUsed(role, log)) }, nil
	})
}

// install creates a policy that allows pull secrets of sidecars.
func install(ctx context.Context) error {
	policy := objects.NewConfigMap(options.EnvironmentsConfigMap, options.Namespace, desired.PolicyKey, "imagePullSecrets: {allowed: [registry]}")
	return world.ApplyValues(ctx, policy)
}

// isReady reports whether a VectorSidecar is ready with its current spec.
func isReady(vs *v1alpha1.VectorSidecar) bool {
	return vs.Status.ObservedGeneration == vs.Generation && condition(vs, meta.ConditionReady) == "True"
}

// isUpToDate reports whether the only selected Deployment is ready. Right after both were created, the
// VectorSidecar may be ready because it has not read the Deployment yet.
func isUpToDate(vs *v1alpha1.VectorSidecar) bool {
	return isReady(vs) && vs.Status.Total().Ready+vs.Status.WorkloadsWithoutPods == 1
}

func condition(vs *v1alpha1.VectorSidecar, kind string) string {
	for _, c := range vs.Status.Conditions {
		if c.Type == kind {
			return string(c.Status)
		}
	}
	return ""
}

func message(vs *v1alpha1.VectorSidecar, kind string) string {
	for _, c := range vs.Status.Conditions {
		if c.Type == kind {
			return c.Reason + ": " + c.Message
		}
	}
	return ""
}

// hasCondition waits for a condition and for its cause in the message of Ready. A VectorSidecar may have the
// condition for another cause before, for example until the operator has read a ConfigMap that it names.
func hasCondition(kind string, status metav1.ConditionStatus, cause string) func(*v1alpha1.VectorSidecar) bool {
	return func(vs *v1alpha1.VectorSidecar) bool {
		return condition(vs, kind) == string(status) && strings.Contains(message(vs, meta.ConditionReady), cause)
	}
}

func isInjected(d *appsv1.Deployment) bool { return carries(d, "vector") }

func isClean(d *appsv1.Deployment) bool { return !carries(d, "vector") }

func carries(d *appsv1.Deployment, container string) bool {
	pod := &d.Spec.Template.Spec
	for i := range pod.InitContainers {
		if pod.InitContainers[i].Name == container {
			return true
		}
	}
	for i := range pod.Containers {
		if pod.Containers[i].Name == container {
			return true
		}
	}
	return false
}

func isRolledOut(d *appsv1.Deployment) bool {
	return d.Status.ObservedGeneration == d.Generation && d.Status.UpdatedReplicas == *d.Spec.Replicas &&
		d.Status.Replicas == *d.Spec.Replicas && d.Status.AvailableReplicas == *d.Spec.Replicas
}
