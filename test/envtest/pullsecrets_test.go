// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// pulls are the names in a Deployment's imagePullSecrets.
func pulls(d *appsv1.Deployment) []string {
	var names []string
	for _, secret := range d.Spec.Template.Spec.ImagePullSecrets {
		names = append(names, secret.Name)
	}
	return names
}

// A pod gets the pull secrets of its ServiceAccount only if it lists none, a list by name has
// several owners, and what one of them lists too stays when the sidecar goes.
func TestAPullSecretComesAndGoesAndTakesNothingWithIt(t *testing.T) {
	give(t, objects.NewConfigMap(options.EnvironmentsConfigMap, options.Namespace, desired.PolicyKey, "imagePullSecrets: {allowed: [registry]}"))
	pulling := "      imagePullSecrets: [{name: apps}]\n      volumes:"
	both := "      imagePullSecrets: [{name: apps}, {name: registry}]\n      volumes:"
	with := func(list string) string {
		return strings.Replace(manifest("1"), "      volumes:", "      serviceAccountName: cart\n"+list, 1)
	}
	for name, test := range map[string]struct {
		// deploy and then add are what the owner does before and after the sidecar comes.
		deploy, add func(t *testing.T, ns string)
		mounts      bool
		with, left  []string
	}{
		"the application lists its own": {
			deploy: func(t *testing.T, ns string) { run(t, ns, "kubectl", "apply", "-f", file(t, with(pulling))) },
			with:   []string{"apps", "registry"}, left: []string{"apps"},
		},
		"it lists its own, and a patch takes the sidecar out": {
			deploy: func(t *testing.T, ns string) { run(t, ns, "kubectl", "apply", "-f", file(t, with(pulling))) },
			mounts: true, with: []string{"apps", "registry"}, left: []string{"apps"},
		},
		"it lists the same": {
			deploy: func(t *testing.T, ns string) { run(t, ns, "kubectl", "apply", "-f", file(t, with(both))) },
			with:   []string{"apps", "registry"}, left: []string{"apps", "registry"},
		},
		"it lists the same, and a patch takes the sidecar out": {
			deploy: func(t *testing.T, ns string) { run(t, ns, "kubectl", "apply", "-f", file(t, with(both))) },
			mounts: true, with: []string{"apps", "registry"}, left: []string{"apps", "registry"},
		},
		"it lists the same later, applied on the server": {
			deploy: func(t *testing.T, ns string) {
				run(t, ns, "kubectl", "apply", "--server-side", "-f", file(t, with(pulling)))
			},
			add: func(t *testing.T, ns string) {
				run(t, ns, "kubectl", "apply", "--server-side", "-f", file(t, with(both)))
			},
			with: []string{"apps", "registry"}, left: []string{"apps", "registry"},
		},
		"it lists the same later, by a tool that sends differences": {
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

			require.NoError(t, world.Client.Delete(t.Context(), vs))
			harness.Until(t, world, deployment, "the sidecar and its managed fields to be gone", func(d *appsv1.Deployment) bool {
				isOurs := func(entry metav1.ManagedFieldsEntry) bool { return meta.IsManager(entry.Manager) }
				return isClean(d) && !slices.ContainsFunc(d.ManagedFields, isOurs)
			})
			require.Equal(t, test.left, pulls(deployment))
		})
	}
}
