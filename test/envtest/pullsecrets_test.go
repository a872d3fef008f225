// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/internal/removal"
	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// pulls returns the names in a Deployment's imagePullSecrets.
func pulls(d *appsv1.Deployment) []string {
	var names []string
	for _, secret := range d.Spec.Template.Spec.ImagePullSecrets {
		names = append(names, secret.Name)
	}
	return names
}

// A pod uses the pull secrets of its ServiceAccount only if it lists none itself. So the operator lists these, too. The
// removal keeps those that the application also lists.
func TestHasPullSecret_KeepsOtherPullSecrets(t *testing.T) {
	t.Parallel()
	pulling := "      imagePullSecrets: [{name: apps}]\n      volumes:"
	both := "      imagePullSecrets: [{name: apps}, {name: registry}]\n      volumes:"
	with := func(list string) string {
		return strings.Replace(manifest("1"), "      volumes:", "      serviceAccountName: cart\n"+list, 1)
	}
	for name, test := range map[string]struct {
		// deploy runs before the injection, and add after it.
		deploy, add func(t *testing.T, ns string)
		mounts      bool
		with, left  []string
		// ejected is the result of cleaning a file without managed fields, if it is not left.
		ejected []string
	}{
		"the application lists its own": {
			deploy: func(t *testing.T, ns string) { run(t, ns, "kubectl", "apply", "-f", file(t, with(pulling))) },
			with:   []string{"apps", "registry"}, left: []string{"apps"},
		},
		"it lists its own and a patch takes the sidecar out": {
			deploy: func(t *testing.T, ns string) { run(t, ns, "kubectl", "apply", "-f", file(t, with(pulling))) },
			mounts: true, with: []string{"apps", "registry"}, left: []string{"apps"},
		},
		"it lists the same": {
			deploy: func(t *testing.T, ns string) { run(t, ns, "kubectl", "apply", "-f", file(t, with(both))) },
			with:   []string{"apps", "registry"}, left: []string{"apps", "registry"},
		},
		"it lists the same and a patch takes the sidecar out": {
			deploy: func(t *testing.T, ns string) { run(t, ns, "kubectl", "apply", "-f", file(t, with(both))) },
			mounts: true, with: []string{"apps", "registry"}, left: []string{"apps", "registry"},
		},
		"it lists the same later and applies on the server": {
			deploy: func(t *testing.T, ns string) {
				run(t, ns, "kubectl", "apply", "--server-side", "-f", file(t, with(pulling)))
			},
			add: func(t *testing.T, ns string) {
				run(t, ns, "kubectl", "apply", "--server-side", "-f", file(t, with(both)))
			},
			with: []string{"apps", "registry"}, left: []string{"apps", "registry"}, ejected: []string{"apps"},
		},
		"it lists the same later and sends differences": {
			deploy: func(t *testing.T, ns string) { run(t, ns, "kubectl", "apply", "-f", file(t, with(pulling))) },
			add:    func(t *testing.T, ns string) { run(t, ns, "kubectl", "apply", "-f", file(t, with(both))) },
			with:   []string{"apps", "registry"}, left: []string{"apps", "registry"},
		},
		"it pulls with what its ServiceAccount has": {
			deploy: func(t *testing.T, ns string) { run(t, ns, "kubectl", "apply", "-f", file(t, with("      volumes:"))) },
			with:   []string{"of-the-account", "registry"},
		},
		"it begins to list its own": {
			deploy: func(t *testing.T, ns string) { run(t, ns, "kubectl", "apply", "-f", file(t, with("      volumes:"))) },
			add:    func(t *testing.T, ns string) { run(t, ns, "kubectl", "apply", "-f", file(t, with(pulling))) },
			with:   []string{"apps", "registry"}, left: []string{"apps"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := world.Namespace(t)
			world.Create(t, &corev1.ServiceAccount{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cart"}, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "of-the-account"}},
			})
			test.deploy(t, namespace)
			deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cart"}}
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Sidecar(func(s *v1alpha1.SidecarSpec) {
				s.ImagePullSecrets = []string{"registry"}
				if test.mounts {
					s.Logs = &v1alpha1.LogsSpec{Path: "/var/log/app", Containers: []string{"app"}}
				}
			}).Build()
			world.Create(t, vs)
			harness.Until(t, world, deployment, "the sidecar", isInjected)
			if test.add != nil {
				harness.Until(t, world, vs, "readiness", isUpToDate)
				test.add(t, namespace)
			}
			harness.Until(t, world, deployment, "its pull secrets", func(d *appsv1.Deployment) bool {
				return len(pulls(d)) == len(test.with)
			})
			require.ElementsMatch(t, test.with, pulls(deployment))
			settle(t, deployment, vs)
			require.ElementsMatch(t, test.with, pulls(deployment))
			if test.ejected == nil {
				test.ejected = test.left
			}
			require.Equal(t, test.ejected, pulls(cleaned(t, deployment)))

			require.NoError(t, world.Client.Delete(t.Context(), vs))
			harness.Until(t, world, deployment, "the sidecar and its managed fields to be gone", func(d *appsv1.Deployment) bool {
				isOurs := func(entry metav1.ManagedFieldsEntry) bool { return meta.IsManager(entry.Manager) }
				return isClean(d) && !slices.ContainsFunc(d.ManagedFields, isOurs)
			})
			require.Equal(t, test.left, pulls(deployment))
		})
	}
}

// cleaned returns a Deployment as eject cleans that of a file without managed fields.
func cleaned(t *testing.T, of *appsv1.Deployment) *appsv1.Deployment {
	t.Helper()
	merger, err := simulate.New()
	require.NoError(t, err)
	file := of.DeepCopy()
	file.ManagedFields = nil
	stripped, had, err := removal.Strip(merger, file)
	require.NoError(t, err)
	require.True(t, had)
	return stripped.(*appsv1.Deployment)
}

// The ServiceAccount does not exist or cannot be read, so the pod's pull secrets are unknown. The operator does not
// inject until it can read them, and follows later changes.
func TestHasPullSecret_WaitsForServiceAccount(t *testing.T) {
	namespace := world.Namespace(t)
	account := &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cart"}, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "apps"}},
	}
	world.Create(t, account)
	deployed := func(name, account string) *appsv1.Deployment {
		return objects.NewDeployment(name, namespace).Labeled("logs", "vector").Pod(func(pod *corev1.PodSpec) { pod.ServiceAccountName = account }).Build()
	}
	cart, ghost := deployed("cart", "cart"), deployed("ghost", "ghost")
	require.NoError(t, running.Stop())
	restart := func(with operator.Options) { running = world.RunOperator(with) }
	t.Cleanup(func() {
		require.NoError(t, running.Stop())
		restart(options)
	})
	blind := options
	blind.ReadServiceAccounts = false
	restart(blind)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Sidecar(func(s *v1alpha1.SidecarSpec) {
		s.ImagePullSecrets = []string{"registry"}
	}).Build()
	world.Create(t, cart, ghost, vs)
	said := func(name string) func(*v1alpha1.VectorSidecar) bool {
		return func(vs *v1alpha1.VectorSidecar) bool {
			return slices.ContainsFunc(vs.Status.Workloads, func(of v1alpha1.WorkloadStatus) bool {
				return of.Name == name && of.Reason == meta.ReasonPullSecrets && strings.Contains(of.Message, "rbac.optional.serviceAccounts")
			})
		}
	}
	harness.Until(t, world, vs, "the reason", said("cart"))
	world.Get(t, cart)
	require.True(t, isClean(cart))

	require.NoError(t, running.Stop())
	restart(options)
	harness.Until(t, world, cart, "the sidecar", isInjected)
	require.Equal(t, []string{"apps", "registry"}, pulls(cart))
	harness.Until(t, world, vs, "the missing ServiceAccount in the message", said("ghost"))
	world.Get(t, ghost)
	require.True(t, isClean(ghost))

	require.NoError(t, running.Stop())
	harness.Change(t, world, account, func(a *corev1.ServiceAccount) {
		a.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "mirror"}}
	})
	restart(options)
	harness.Until(t, world, cart, "the current pull secrets of the ServiceAccount", func(d *appsv1.Deployment) bool {
		return slices.Equal(pulls(d), []string{"registry", "mirror"}) || slices.Equal(pulls(d), []string{"mirror", "registry"})
	})
	require.NoError(t, world.Client.Delete(t.Context(), vs))
	harness.Until(t, world, cart, "the removal of the sidecar", func(d *appsv1.Deployment) bool { return isClean(d) && len(pulls(d)) == 0 })
	require.Eventually(t, func() bool { // The operator's last write for it is not the next operator's first.
		return apierrors.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(vs), vs))
	}, harness.Patience, 50*time.Millisecond, "the VectorSidecar to be gone")
}

// The operator reads a ServiceAccount once for all workloads, and not again for the next change.
func TestHasPullSecret_ReadsServiceAccountOnce(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	world.Create(t, &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cart"}, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "apps"}},
	})
	const many = 40
	for n := range many {
		world.Create(t, objects.NewDeployment(fmt.Sprintf("cart-%d", n), namespace).WithReplicas(0).Labeled("logs", "vector").
			Pod(func(pod *corev1.PodSpec) { pod.ServiceAccountName = "cart" }).Build())
	}
	accounts := "/namespaces/" + namespace + "/serviceaccounts"
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithMaxConcurrent("100%").Sidecar(func(s *v1alpha1.SidecarSpec) {
		s.ImagePullSecrets = []string{"registry"}
	}).Build()
	world.Create(t, vs)
	isDone := func(vs *v1alpha1.VectorSidecar) bool { return isReady(vs) && vs.Status.WorkloadsWithoutPods == many }
	harness.Until(t, world, vs, "all sidecars", isDone)
	require.Len(t, running.Requests.Reads(accounts), 1)

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.LogLevel = "trace" })
	harness.Until(t, world, vs, "the change in all workloads", isDone)
	require.Len(t, running.Requests.Reads(accounts), 1)

	require.NoError(t, world.Client.Delete(t.Context(), vs))
	require.Eventually(t, func() bool { // Nobody's policy is left to it.
		return apierrors.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(vs), vs))
	}, harness.Patience, 50*time.Millisecond, "the VectorSidecar to be gone")
}

// The API server denies the read of a ServiceAccount. Its pull secrets are unknown, not empty.
func TestReader_ReportsForbiddenServiceAccount(t *testing.T) {
	t.Parallel()
	config := rest.CopyConfig(world.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:vector-system:stranger", Groups: []string{"system:authenticated"}}
	stranger, err := client.New(config, client.Options{Scheme: world.Client.Scheme()})
	require.NoError(t, err)
	found, err := source.Reader{Reader: stranger}.GetServiceAccount(t.Context(), types.NamespacedName{Namespace: "default", Name: "default"})
	require.NoError(t, err)
	require.True(t, found.IsForbidden)
	require.NotEmpty(t, found.Unread)
}
