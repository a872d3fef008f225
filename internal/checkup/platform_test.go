// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// The IP family of the cluster is that of the Service kubernetes.
func TestCheckNetwork_ReadsIPFamilyOfService(t *testing.T) {
	service := func(spec corev1.ServiceSpec) client.Client {
		return clusterOf(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "kubernetes", Namespace: "default"}, Spec: spec})
	}
	for name, test := range map[string]struct {
		cluster client.Client
		state   State
		says    string
	}{
		"by its family":   {service(corev1.ServiceSpec{IPFamilies: []corev1.IPFamily{"IPv6", "IPv4"}}), OK, "the family IPv6: "},
		"by its address":  {service(corev1.ServiceSpec{ClusterIP: "10.96.0.1"}), OK, "the family IPv4: "},
		"without Service": {clusterOf(t), Unknown, "default/kubernetes"},
	} {
		t.Run(name, func(t *testing.T) {
			found := (&Diagnosis{Cluster: test.cluster}).checkNetwork(t.Context())
			require.Equal(t, test.state, found.State)
			require.Contains(t, found.Message, test.says)
		})
	}
}

// A cluster is OpenShift if its API server serves the kinds of OpenShift.
func TestCheckPlatform_DetectsOpenShiftByServedKinds(t *testing.T) {
	version := schema.GroupVersion{Group: "security.openshift.io", Version: "v1"}
	openshift := apimeta.NewDefaultRESTMapper([]schema.GroupVersion{version})
	openshift.Add(version.WithKind("SecurityContextConstraints"), apimeta.RESTScopeRoot)
	for says, kinds := range map[string]apimeta.RESTMapper{
		"OpenShift, which assigns": openshift, "Kubernetes: sidecars run as": apimeta.NewDefaultRESTMapper(nil),
	} {
		found := (&Diagnosis{Cluster: fake.NewClientBuilder().WithRESTMapper(kinds).Build()}).checkPlatform()
		require.Equal(t, OK, found.State)
		require.Contains(t, found.Message, says)
	}
}
