// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package naive injects a sidecar with the simplest algorithm. The benchmark compares the operator's cost with it.
// It is not part of the product.
package naive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Client limits that controller-runtime had until it dropped them.
const (
	qps   = 20
	burst = 30
)

// Injector adds a pod template's containers and volumes to Deployments.
type Injector struct {
	client      kubernetes.Interface
	sidecar     *corev1.PodTemplateSpec
	annotations map[string]string
}

// New returns an Injector with its own request limits. The annotations are added to those of each Deployment.
func New(config *rest.Config, sidecar *corev1.PodTemplateSpec, annotations map[string]string) (*Injector, error) {
	limited := rest.CopyConfig(config)
	limited.QPS, limited.Burst = qps, burst
	client, err := kubernetes.NewForConfig(limited)
	if err != nil {
		return nil, fmt.Errorf("making the naive client: %w", err)
	}
	return &Injector{client: client, sidecar: sidecar, annotations: annotations}, nil
}

// hashKey is the annotation with the hash of the injected sidecar.
const hashKey = "naive.bench/hash"

// Run lists all Deployments, and reads and updates those that differ, one after the other.
func (i *Injector) Run(ctx context.Context, namespace string) error {
	deployments := i.client.AppsV1().Deployments(namespace)
	all, err := deployments.List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing Deployments: %w", err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v", i.sidecar))
	hash := hex.EncodeToString(sum[:])
	for n := range all.Items {
		if all.Items[n].Annotations[hashKey] == hash {
			continue
		}
		live, err := deployments.Get(ctx, all.Items[n].Name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading a Deployment: %w", err)
		}
		pod := &live.Spec.Template.Spec
		pod.InitContainers = append(i.sidecar.Spec.InitContainers, pod.InitContainers...)
		pod.Containers = append(pod.Containers, i.sidecar.Spec.Containers...)
		pod.Volumes = append(pod.Volumes, i.sidecar.Spec.Volumes...)
		metav1.SetMetaDataAnnotation(&live.ObjectMeta, hashKey, hash)
		for key, value := range i.annotations {
			metav1.SetMetaDataAnnotation(&live.ObjectMeta, key, value)
		}
		if _, err := deployments.Update(ctx, live, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("updating a Deployment: %w", err)
		}
	}
	return nil
}
