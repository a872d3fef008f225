// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

// hostname is the node's own.
const hostname = "node"

// startTimeout is what a cold, loaded machine may need; a warm one needs 15 s.
const startTimeout = 4 * time.Minute

// Node is a running cluster of one node.
type Node struct {
	*controlplane.ControlPlane

	// Name is the node's, and Address the one of this machine that pods reach.
	Name, Address string
	// Run is the run that the node belongs to, or nil for an existing cluster.
	Run    *Run
	system *system
	// files is a folder for files, and ctr the command of containerd's own client.
	files string
	ctr   []string
}

// Main runs a package's tests on a node of their own, for TestMain: it hands the node to
// prepare (to import images, say), and runs the tests. The result is the exit code. Where
// there can be no node, it prints why, and no test is run.
func Main(m *testing.M, prepare func(context.Context, *Node) error) int {
	return Do(func(ctx context.Context, n *Node) int {
		if err := prepare(ctx, n); err != nil {
			fmt.Fprintln(os.Stderr, "preparing the node:", err)
			return 1
		}
		return m.Run()
	})
}

// Do starts a node, does something with it, and ends it. It runs this program a second
// time, in namespaces of the run: what comes before it is done in both. Where the variable
// NODE_KUBECONFIG names a cluster, it is done with that one.
func Do(use func(context.Context, *Node) int) int {
	ctx := context.Background()
	code, err := do(ctx, use)
	var missing Missing
	if errors.As(err, &missing) {
		fmt.Println("SKIPPED: there can be no real node here:", missing)
		return 0
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func do(ctx context.Context, use func(context.Context, *Node) int) (int, error) {
	if os.Getenv(kubeconfigVariable) != "" {
		return visit(ctx, use)
	}
	s, err := find()
	if err != nil {
		return 1, err
	}
	id := os.Getenv(inside)
	if id == "" {
		return enter(ctx)
	}
	r := &Run{ID: id}
	if err := r.settle(s); err != nil {
		var missing Missing
		if !errors.As(err, &missing) {
			missing = Missing(fmt.Sprintf("a node needs mounts and links of its own (%v): run it as root of the machine, and not of a container", err))
		}
		return 1, missing
	}
	n, err := start(ctx, r, s)
	if err != nil {
		return 1, err
	}
	code := use(ctx, n)
	// Its programs end when what they are started by is collected as garbage.
	runtime.KeepAlive(n)
	return code, nil // Everything ends with this process: see enter.
}

func start(ctx context.Context, r *Run, s *system) (*Node, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	began := time.Now()
	plane, err := controlplane.Start(ctx, controlplane.Options{
		Dir: filepath.Join(r.Dir(), "cluster"), Scheduler: true, Address: net.JoinHostPort(s.network.apiServer, "443"), Log: os.Stdout,
		APIServerArgs: map[string]string{
			"allow-privileged": "true", "kubelet-preferred-address-types": "InternalIP", "service-cluster-ip-range": s.network.services,
		},
	})
	if err != nil {
		return nil, err
	}
	n := &Node{ControlPlane: plane, Name: hostname, Address: s.network.own, Run: r, system: s, files: r.Dir()}
	n.ctr = []string{s.ctr, "--address", n.socket()}
	for _, step := range []func(context.Context) error{n.runContainerd, n.importPrograms, n.runKubelet, n.runProxy, n.runCoreDNS, n.ready} {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("starting a node: %w", err)
		}
	}
	fmt.Printf("the node of run %s is ready (%s)\n", r.ID, time.Since(began).Round(100*time.Millisecond))
	return n, nil
}

// Shell is a command that starts a shell in the node's network.
func (n *Node) Shell() string {
	if n.Run == nil {
		return "bash" // It is the machine's own.
	}
	return fmt.Sprintf("sudo nsenter --target %d --net", n.Run.Process)
}

// dir makes a folder of the run.
func (n *Node) dir(name string) (string, error) {
	dir := filepath.Join(n.Run.Dir(), name)
	return dir, os.MkdirAll(dir, 0o755)
}

// write writes a program's configuration, and returns its path.
func (n *Node) write(name, text string) (string, error) {
	path := filepath.Join(n.Run.Dir(), name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// ready waits until the node takes pods.
func (n *Node) ready(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(n.Config())
	if err != nil {
		return err
	}
	for {
		node, err := client.CoreV1().Nodes().Get(ctx, hostname, metav1.GetOptions{})
		if err == nil && len(node.Spec.Taints) == 0 && isReady(node) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for Node %q to be ready: %w", hostname, errors.Join(ctx.Err(), err))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func isReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// answers is what is asked at url: 200 means yes.
func answers(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return errors.New(response.Status)
		}
		return nil
	}
}
