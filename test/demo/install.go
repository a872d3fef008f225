// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/freeport"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

const (
	nodes     = 3
	release   = "vso"
	namespace = "vector-system"
	values    = "values/production.yaml"
	container = "operator"
)

func (d *demo) startControlPlane(ctx context.Context) error {
	progress := d.working("starting etcd, kube-apiserver, controllers, scheduler and nodes")
	plane, err := controlplane.Start(ctx, controlplane.Options{Dir: d.dir, Nodes: nodes, Log: lines(d.block)})
	progress.end()
	if err != nil {
		return err
	}
	if err := d.connect(ctx, plane, nodes); err != nil || !d.hasRollouts {
		return err
	}
	return d.runRollouts(ctx)
}

// connect connects the demo to a control plane, and shows its nodes.
func (d *demo) connect(ctx context.Context, plane *controlplane.ControlPlane, nodes int) error {
	d.plane = plane
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(known); err != nil {
			return fmt.Errorf("registering types: %w", err)
		}
	}
	var err error
	if d.client, err = client.NewWithWatch(plane.Config(), client.Options{Scheme: known}); err != nil {
		return fmt.Errorf("making the administrator's client: %w", err)
	}
	output, err := d.kubectl(ctx, "get", "nodes")
	if err != nil {
		return err
	}
	return expect("control plane", "Ready nodes:", nodes, strings.Count(output, " Ready "))
}

// kinds returns the enabled kinds.
func (d *demo) kinds() []string {
	served := []string{"Deployment", "StatefulSet", "DaemonSet", "CronJob"}
	if d.hasRollouts {
		served = append(served, "Rollout")
	}
	return served
}

// install installs the chart. The first request for a kind of the new
// CustomResourceDefinition must not come before the API server serves it.
func (d *demo) install(ctx context.Context) error {
	args := []string{"install", release, "./chart", "-n", namespace, "--create-namespace", "-f", values, "--set", "workloads.kinds={" + strings.Join(d.kinds(), ",") + "}"}
	if d.node != nil {
		args = append(args, "--wait")
	}
	d.command(append([]string{"helm"}, args...)...)
	progress := d.working("installing")
	output, err := d.quietly(ctx, "helm", args...)
	progress.end()
	if err != nil {
		return err
	}
	_, notes, _ := strings.Cut(output, "NOTES:\n")
	d.block(head(notes, 5))
	return d.wait(ctx, "API server", "VectorSidecars to be served", func(ctx context.Context) (finding, error) {
		return finding{done: true}, d.client.List(ctx, &v1alpha1.VectorSidecarList{})
	})
}

// runOperator runs the operator's binary with the ServiceAccount and arguments of its Deployment, because the
// Deployment's pods are simulated.
func (d *demo) runOperator(ctx context.Context) error {
	deployment, err := d.operatorDeployment(ctx)
	if err != nil {
		return err
	}
	object := "Deployment " + client.ObjectKeyFromObject(deployment).String()
	pod := &deployment.Spec.Template.Spec
	if len(pod.Containers) != 1 {
		return mismatch{object, "one container", fmt.Sprint(len(pod.Containers))}
	}
	d.line("%s has simulated pods, so its program runs here, with its rights and its arguments", object)
	d.line("ServiceAccount %s/%s", namespace, pod.ServiceAccountName)
	d.addresses, err = freeAddresses()
	if err != nil {
		return err
	}
	config, err := d.configuration(ctx, deployment.Name)
	if err != nil {
		return err
	}
	d.runHooks(ctx)
	d.arguments = d.addresses.replaceIn(pod.Containers[0].Args, config)
	kubeconfig, err := d.plane.KubeconfigFor(ctx, namespace, pod.ServiceAccountName)
	if err != nil {
		return err
	}
	d.environment = []string{"KUBECONFIG=" + kubeconfig, "POD_NAMESPACE=" + namespace}
	d.command(append([]string{"bin/operator"}, d.arguments...)...)
	return d.startOperator(ctx)
}

// runHooks runs the programs of the pods of helm test and helm uninstall, as runOperator does for the operator's.
func (d *demo) runHooks(ctx context.Context) {
	d.hooks = &harness.StandIn{Plane: d.plane, Client: d.client, Namespace: namespace, Metrics: d.addresses.metrics}
	ctx, d.endHooks = context.WithCancel(ctx)
	go d.hooks.RunHooks(ctx, d.dir)
}

// configuration writes the operator's configuration to a file, as a kubelet would
// mount it, and returns its path.
func (d *demo) configuration(ctx context.Context, operator string) (string, error) {
	var mounted corev1.ConfigMap
	if err := d.client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: operator + "-config"}, &mounted); err != nil {
		return "", fmt.Errorf("reading the operator's configuration: %w", err)
	}
	path := filepath.Join(d.dir, "config.yaml")
	return path, os.WriteFile(path, []byte(mounted.Data["config.yaml"]), 0o600)
}

// startOperator starts the operator with the settings of runOperator, and waits until it is ready and the leader.
func (d *demo) startOperator(ctx context.Context) error {
	path, err := d.plane.Bin("operator")
	if err != nil {
		return err
	}
	began := time.Now()
	d.operator, err = startProcess(path, d.arguments, d.environment, filepath.Join(d.dir, "logs", "operator.log"))
	if err != nil {
		return err
	}
	err = d.wait(ctx, "operator process", "200 OK from /readyz", func(ctx context.Context) (finding, error) {
		return isReady(ctx, "http://"+d.addresses.health+"/readyz")
	})
	if err != nil {
		return err
	}
	if _, err := d.leader(ctx, d.arguments); err != nil {
		return err
	}
	d.ok("ready and leading after %.1f s", time.Since(began).Seconds())
	return nil
}

// leader waits until an operator with these arguments is the leader, and returns its identity.
func (d *demo) leader(ctx context.Context, arguments []string) (identity string, err error) {
	lease := types.NamespacedName{Namespace: namespace, Name: value(arguments, "--leader-election-id")}
	err = d.wait(ctx, "Lease "+lease.String(), "a leader", func(ctx context.Context) (finding, error) {
		var found coordinationv1.Lease
		if err := d.client.Get(ctx, lease, &found); err != nil {
			return finding{}, err
		}
		holder := found.Spec.HolderIdentity
		if holder == nil || *holder == "" {
			return finding{state: "no leader yet"}, nil
		}
		identity = *holder
		return finding{done: true, state: "leader: " + identity}, nil
	})
	return identity, err
}

func (d *demo) operatorDeployment(ctx context.Context) (*appsv1.Deployment, error) {
	var found appsv1.DeploymentList
	labels := client.MatchingLabels{"app.kubernetes.io/instance": release}
	if err := d.client.List(ctx, &found, client.InNamespace(namespace), labels); err != nil {
		return nil, fmt.Errorf("looking for the operator's Deployment: %w", err)
	}
	if err := expect("release "+release, "Deployments:", 1, len(found.Items)); err != nil {
		return nil, err
	}
	return &found.Items[0], nil
}

// addresses are the addresses on which the operator listens. Outside a pod they must be free.
type addresses struct{ metrics, health string }

// freeAddresses returns addresses on which no process listens.
func freeAddresses() (addresses, error) {
	metrics, metricsErr := freeport.Loopback()
	health, healthErr := freeport.Loopback()
	return addresses{metrics: metrics, health: health}, errors.Join(metricsErr, healthErr)
}

// replaceIn replaces the values of a pod in arguments: addresses, and the path of the configuration.
func (a addresses) replaceIn(args []string, config string) []string {
	replaced := make([]string, len(args))
	for i, arg := range args {
		switch name, _, _ := strings.Cut(arg, "="); name {
		case "--metrics-bind-address":
			replaced[i] = name + "=" + a.metrics
		case "--health-probe-bind-address":
			replaced[i] = name + "=" + a.health
		case "--config":
			replaced[i] = name + "=" + config
		default:
			replaced[i] = arg
		}
	}
	return replaced
}

// value returns the value of a flag in arguments.
func value(args []string, flag string) string {
	for _, arg := range args {
		if name, value, _ := strings.Cut(arg, "="); name == flag {
			return value
		}
	}
	return ""
}

func isReady(ctx context.Context, url string) (finding, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return finding{}, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return finding{}, err
	}
	defer response.Body.Close()
	return finding{done: response.StatusCode == http.StatusOK, state: "/readyz: " + response.Status}, nil
}
