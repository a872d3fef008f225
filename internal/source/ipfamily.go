// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// IPFamily reads the IP family of a cluster from its Service kubernetes: the family of the first addresses of Services
// and pods. Pods get the same address in KUBERNETES_SERVICE_HOST.
func IPFamily(ctx context.Context, cluster client.Reader) (string, error) {
	service := &corev1.Service{}
	if err := cluster.Get(ctx, types.NamespacedName{Namespace: metav1.NamespaceDefault, Name: "kubernetes"}, service); err != nil {
		return "", fmt.Errorf("reading Service %s/kubernetes: %w", metav1.NamespaceDefault, err)
	}
	for _, family := range service.Spec.IPFamilies {
		return string(family), nil
	}
	return ParseIPFamily(service.Spec.ClusterIP), nil
}

// ParseIPFamily returns the IP family of an address, or "" for a host name.
func ParseIPFamily(host string) string {
	address, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return ""
	case address.Unmap().Is4():
		return render.IPv4
	}
	return render.IPv6
}
