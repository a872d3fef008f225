// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cart is the Deployment of docs/samples/app/deployment.yaml.
var cart = types.NamespacedName{Namespace: "shop", Name: "cart"}

const cartObject = "Deployment shop/cart"

// application is a state of the Deployment, for comparison.
type application struct {
	resourceVersion string
	generation      int64
	annotations     map[string]string
	managers        []string
	// template is .spec.template as the API server sends it.
	template json.RawMessage
	// replicaSet runs the pods; replicaSets are all there are, in order.
	replicaSet  string
	replicaSets []string
}

func (a *application) digest() string {
	sum := sha256.Sum256(a.template)
	return hex.EncodeToString(sum[:])
}

// application returns the current state of the Deployment.
func (d *demo) application(ctx context.Context) (application, error) {
	text, err := d.quietly(ctx, "kubectl", "get", "--raw", "/apis/apps/v1/namespaces/"+cart.Namespace+"/deployments/"+cart.Name)
	if err != nil {
		return application{}, err
	}
	var object struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Spec     struct {
			Template json.RawMessage `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		return application{}, fmt.Errorf("reading %s: %w", cartObject, err)
	}
	now := application{
		resourceVersion: object.Metadata.ResourceVersion, generation: object.Metadata.Generation,
		annotations: object.Metadata.Annotations, template: object.Spec.Template,
	}
	for _, entry := range object.Metadata.ManagedFields {
		now.managers = append(now.managers, entry.Manager)
	}
	var found appsv1.ReplicaSetList
	if err := d.client.List(ctx, &found, client.InNamespace(cart.Namespace)); err != nil {
		return now, fmt.Errorf("listing the ReplicaSets of %s: %w", cartObject, err)
	}
	for i := range found.Items {
		set := &found.Items[i]
		now.replicaSets = append(now.replicaSets, set.Name)
		if set.Spec.Replicas != nil && *set.Spec.Replicas > 0 {
			now.replicaSet = set.Name
		}
	}
	slices.Sort(now.replicaSets)
	return now, nil
}

// rolledOut waits until the Deployment has rolled out, each of its pods is ready with that number of containers,
// and no old pod is left. Then it shows the pods.
func (d *demo) rolledOut(ctx context.Context, containers int) error {
	expected := fmt.Sprintf("all pods to be %d/%d ready", containers, containers)
	err := d.wait(ctx, cartObject, expected, func(ctx context.Context) (finding, error) {
		var deployment appsv1.Deployment
		if err := d.client.Get(ctx, cart, &deployment); err != nil {
			return finding{}, err
		}
		var pods corev1.PodList
		if err := d.client.List(ctx, &pods, client.InNamespace(cart.Namespace), client.MatchingLabels(deployment.Spec.Selector.MatchLabels)); err != nil {
			return finding{}, err
		}
		return rollout(&deployment, pods.Items, containers), nil
	})
	if err != nil {
		return err
	}
	return d.showPods(ctx, containers)
}

// rollout returns the progress of a rollout. The Deployment's status is about a generation only after its
// controller has observed it.
func rollout(deployment *appsv1.Deployment, pods []corev1.Pod, containers int) finding {
	wanted := int(*deployment.Spec.Replicas)
	ready := 0
	for i := range pods {
		if has, of := readiness(&pods[i]); has == containers && of == containers && pods[i].DeletionTimestamp == nil {
			ready++
		}
	}
	status := &deployment.Status
	isCurrent := status.ObservedGeneration >= deployment.Generation
	isComplete := int(status.UpdatedReplicas) == wanted && int(status.AvailableReplicas) == wanted && int(status.Replicas) == wanted
	return finding{
		done:  isCurrent && isComplete && ready == wanted && len(pods) == wanted,
		state: fmt.Sprintf("%d of %d pods are %d/%d ready, %d pods in all", ready, wanted, containers, containers, len(pods)),
	}
}

// readiness counts containers as kubectl does: native sidecars are among them.
func readiness(pod *corev1.Pod) (ready, of int) {
	of = len(pod.Spec.Containers)
	native := map[string]bool{}
	for i := range pod.Spec.InitContainers {
		if policy := pod.Spec.InitContainers[i].RestartPolicy; policy != nil && *policy == corev1.ContainerRestartPolicyAlways {
			native[pod.Spec.InitContainers[i].Name] = true
			of++
		}
	}
	for _, status := range pod.Status.InitContainerStatuses {
		if native[status.Name] && status.Ready {
			ready++
		}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if status.Ready {
			ready++
		}
	}
	return ready, of
}

// showPods shows kubectl's output about the pods, and checks its columns.
func (d *demo) showPods(ctx context.Context, containers int) error {
	output, err := d.kubectl(ctx, "get", "pods", "-n", cart.Namespace)
	if err != nil {
		return err
	}
	expected := fmt.Sprintf("%d/%d", containers, containers)
	for _, line := range strings.Split(strings.TrimSpace(output), "\n")[1:] {
		fields := strings.Fields(line)
		if err := expect("Pod shop/"+fields[0], "READY", expected, fields[1]); err != nil {
			return err
		}
	}
	return nil
}
