// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

// patienceOnNode is the patience on a real node, where containers have to start and stop.
const patienceOnNode = 3 * time.Minute

// realNode is a cluster with one node that runs containers.
type realNode struct {
	plane *controlplane.ControlPlane
	// shell is the command that starts a shell in the cluster's network.
	shell string
}

// stepsOnNode returns the steps for a real node, which runs the pods of the chart.
func stepsOnNode() []step {
	return []step{
		{"Start a Kubernetes cluster of one real node", func(d *demo, ctx context.Context) error { return d.connect(ctx, d.node.plane, 1) }},
		{"Install the operator with helm, for production", (*demo).install},
		{"Deploy an application that knows nothing of Vector", (*demo).deployApplication},
		{"Find the operators in their pods", (*demo).findOperator},
		{"Ask for a sidecar wherever a label says so", (*demo).applySidecar},
		{"Label the application: its pods get the sidecar", (*demo).inject},
		{"See a line of the application come out of Vector", (*demo).seeLine},
		{"Restart the operators: nothing is written", (*demo).restartPods},
		{"Change one value: exactly one rollout", (*demo).changeLogLevel},
		{"Take it out: not a trace is left", (*demo).remove},
		{"Uninstall the operator", (*demo).uninstallRelease},
	}
}

// findOperator shows the operator's pods, of which one leads.
func (d *demo) findOperator(ctx context.Context) error {
	if _, err := d.kubectl(ctx, "get", "pods", "-n", namespace); err != nil {
		return err
	}
	pod, err := d.leadingPod(ctx)
	if err != nil {
		return err
	}
	d.ok("Pod %s/%s leads", namespace, pod.Name)
	return nil
}

// leadingPod returns the operator's pod that is the leader.
func (d *demo) leadingPod(ctx context.Context) (*corev1.Pod, error) {
	deployment, err := d.operatorDeployment(ctx)
	if err != nil {
		return nil, err
	}
	identity, err := d.leader(ctx, deployment.Spec.Template.Spec.Containers[0].Args)
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(identity, "_")
	var pod corev1.Pod
	if err := d.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &pod); err != nil {
		return nil, fmt.Errorf("looking for the leader %q: %w", identity, err)
	}
	return &pod, nil
}

// seeLine shows the line that Vector prints without a configured sink.
func (d *demo) seeLine(ctx context.Context) error {
	args := []string{"logs", "deployment/" + cart.Name, "-n", cart.Namespace, "-c", "vector", "--tail=1"}
	d.command(append([]string{"kubectl"}, args...)...)
	var output string
	err := d.wait(ctx, cartObject, "a line of the application in the sidecar's log", func(ctx context.Context) (finding, error) {
		var err error
		output, err = d.quietly(ctx, "kubectl", args...)
		return finding{done: strings.Contains(output, "cart served"), state: "no line yet"}, err
	})
	d.block(output)
	return err
}

// restartPods is restartOperator on a real node: it replaces all pods, also the leader's.
func (d *demo) restartPods(ctx context.Context) error {
	return d.restart(ctx, func(ctx context.Context) (address string, err error) {
		deployment, err := d.operatorDeployment(ctx)
		if err != nil {
			return "", err
		}
		if _, err := d.kubectl(ctx, "rollout", "restart", "deployment/"+deployment.Name, "-n", namespace); err != nil {
			return "", err
		}
		if _, err := d.kubectl(ctx, "rollout", "status", "deployment/"+deployment.Name, "-n", namespace, "--timeout="+d.patience.String()); err != nil {
			return "", err
		}
		if err := d.onlyNewPods(ctx); err != nil {
			return "", err
		}
		pod, err := d.leadingPod(ctx)
		if err != nil {
			return "", err
		}
		_, port, err := net.SplitHostPort(value(deployment.Spec.Template.Spec.Containers[0].Args, "--metrics-bind-address"))
		if err != nil {
			return "", fmt.Errorf("looking for the port of the metrics: %w", err)
		}
		d.ok("Pod %s/%s leads", namespace, pod.Name)
		return net.JoinHostPort(pod.Status.PodIP, port), nil
	})
}

// onlyNewPods waits until the operator has the expected number of pods, and no terminating pod, which may be the
// leader.
func (d *demo) onlyNewPods(ctx context.Context) error {
	return d.wait(ctx, "release "+release, "the pods of before to be gone", func(ctx context.Context) (finding, error) {
		deployment, err := d.operatorDeployment(ctx)
		if err != nil {
			return finding{}, err
		}
		var pods corev1.PodList
		if err := d.client.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabels(deployment.Spec.Selector.MatchLabels)); err != nil {
			return finding{}, err
		}
		return rollout(deployment, pods.Items, 1), nil
	})
}

// showNode shows the pods on the node, and the last lines of the operator's log.
func (d *demo) showNode(ctx context.Context) {
	if d.client == nil {
		return
	}
	_, _ = d.kubectl(ctx, "get", "pods", "-A")
	_, _ = d.kubectl(ctx, "logs", "-n", namespace, "--selector=app.kubernetes.io/instance="+release, "--tail=15")
}

// stayOnNode is stay on a real node.
func (d *demo) stayOnNode(ctx context.Context) error {
	d.title("It stays up for you to try")
	if err := d.install(ctx); err != nil {
		return err
	}
	d.title("In another terminal, in this folder")
	d.suggest(append([]string{d.node.shell}, d.suggestions()...))
	d.line("Ctrl-C ends everything that was started here")
	<-ctx.Done()
	d.line("")
	return nil
}
