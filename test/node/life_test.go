// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package node

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// podRuns makes a pod, and waits until its container runs: what is killed then has links,
// mounts and cgroups.
func podRuns(ctx context.Context, n *Node) error {
	client, err := kubernetes.NewForConfig(n.Config())
	if err != nil {
		return err
	}
	pods := client.CoreV1().Pods("default")
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "pause", Image: Programs, Args: []string{"pause"}}}}}
	pod.Name = "stays"
	if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		found, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		if err == nil && found.Status.Phase == corev1.PodRunning {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("pod: %+v", found.Status), err, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// another is this program as a node.
func another(t *testing.T, as string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])
	command.Env = append(os.Environ(), role+"="+as)
	return command
}

// stayer is a node that stays until it is killed, by what it prints of itself.
type stayer struct {
	*exec.Cmd

	id, process, kubeconfig, socket string
}

// staying starts a node, and returns it when a pod runs on it.
func staying(t *testing.T) *stayer {
	t.Helper()
	command := another(t, "stay")
	printed, err := command.StdoutPipe()
	require.NoError(t, err)
	command.Stderr = os.Stderr
	require.NoError(t, command.Start())
	t.Cleanup(func() { _, _ = command.Process.Kill(), command.Wait() })
	for lines := bufio.NewScanner(printed); lines.Scan(); {
		t.Log(lines.Text())
		skipWithoutNode(t, lines.Text())
		if words := strings.Fields(lines.Text()); len(words) == 5 && words[0] == "staying" {
			go func() { _, _ = io.Copy(io.Discard, printed) }()
			return &stayer{Cmd: command, id: words[1], process: words[2], kubeconfig: words[3], socket: words[4]}
		}
	}
	require.FailNow(t, "the node did not come up")
	return nil
}

// skipWithoutNode skips a test where the kernel lets no node be, as it has printed.
func skipWithoutNode(t *testing.T, printed string) {
	t.Helper()
	if strings.Contains(printed, "SKIPPED") {
		t.Skip(printed)
	}
}

// When a test process exits, its node leaves no process, mount, directory or network interface.
func TestNode_RemovesEverythingAtExit(t *testing.T) {
	before := machineNetwork(t)
	for range 2 {
		printed, err := another(t, "once").CombinedOutput()
		require.NoError(t, err, "%s", printed)
		skipWithoutNode(t, string(printed))
		id := regexp.MustCompile(`the node of run (\w+) is ready`).FindSubmatch(printed)
		require.Len(t, id, 2, "%s", printed)
		require.Empty(t, left(t, string(id[1])))
	}
	require.Equal(t, before, machineNetwork(t))
}

// A killed test process has left a node. RemoveDead removes it, and keeps nodes of test processes that still run.
func TestRemoveDead_RemovesKilledNode(t *testing.T) {
	before := machineNetwork(t)
	other := staying(t)
	id := other.id
	require.NotEmpty(t, left(t, id), "what is to be removed")
	visits(t, other)

	// A run that lives is none of another one's business.
	removed, err := RemoveDead()
	require.NoError(t, err)
	require.NotContains(t, removed, id)

	require.NoError(t, other.Process.Kill())
	_ = other.Wait()
	// The processes end without anybody's help; folder and cgroups wait for the next run.
	require.Eventually(t, func() bool { return len(processes(t, id)) == 0 }, removalTimeout, 20*time.Millisecond)
	require.DirExists(t, filepath.Join(Runs, id))
	_, err = RemoveDead()
	require.NoError(t, err)
	require.Empty(t, left(t, id))
	require.Equal(t, before, machineNetwork(t))
}

// visits uses a node that is there as one of kind's is used, and leaves it as it is.
func visits(t *testing.T, other *stayer) {
	t.Helper()
	command := another(t, "once")
	path, err := exec.LookPath("nsenter")
	require.NoError(t, err)
	command.Path = path
	command.Args = append([]string{"nsenter", "--target", other.process, "--net", "--"}, command.Args...)
	command.Env = append(command.Env, kubeconfigVariable+"="+other.kubeconfig, ctrVariable+"=ctr --address "+other.socket, addressVariable+"="+networks["IPv4"].own)
	printed, err := command.CombinedOutput()
	require.NoError(t, err, "%s", printed)
	require.Contains(t, string(printed), "the node is "+hostname+" of "+other.kubeconfig)
}

// Directories and cgroups without a record are kept, even if their names have the prefix of a run.
func TestRemoveDead_KeepsUnrecordedDirectories(t *testing.T) {
	all, err := hierarchies()
	require.NoError(t, err)
	foreign := filepath.Join(all[0], Prefix+"foreign")
	if err := os.Mkdir(foreign, 0o755); err != nil {
		t.Skip("SKIPPED: cgroups cannot be changed here:", err)
	}
	t.Cleanup(func() { require.NoError(t, os.Remove(foreign)) })
	_, err = RemoveDead()
	require.NoError(t, err)
	require.DirExists(t, foreign)
}

// left is what there is of a run, seen from outside of it.
func left(t *testing.T, id string) []string {
	t.Helper()
	found := processes(t, id)
	all, err := hierarchies()
	require.NoError(t, err)
	for _, dir := range append(all, Runs, "/run/netns") {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		for _, entry := range entries {
			if strings.Contains(entry.Name(), id) {
				found = append(found, filepath.Join(dir, entry.Name()))
			}
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, id) {
			found = append(found, line)
		}
	}
	return found
}

// processes are those that a run has started, by the variable that all of them inherit,
// and those that its containers run in its cgroups.
func processes(t *testing.T, id string) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	var found []string
	for _, process := range all {
		environment, _ := os.ReadFile(process + "/environ") // It may have ended.
		groups, _ := os.ReadFile(process + "/cgroup")
		if strings.Contains(string(environment), inside+"="+id) || strings.Contains(string(groups), Prefix+id) {
			found = append(found, process)
		}
	}
	return found
}

// machineNetwork is what the machine's own network has of what a node makes: links, and chains.
func machineNetwork(t *testing.T) string {
	t.Helper()
	links, err := exec.CommandContext(t.Context(), "ip", "-oneline", "link").Output()
	require.NoError(t, err)
	var names strings.Builder
	for line := range strings.Lines(string(links)) {
		names.WriteString(strings.Fields(line)[1])
	}
	return names.String() + chains(t)
}

func chains(t *testing.T) string {
	t.Helper()
	var names strings.Builder
	for _, table := range []string{"nat", "filter"} {
		printed, err := exec.CommandContext(t.Context(), "iptables", "--table="+table, "--list-rules").Output()
		require.NoError(t, err)
		names.Write(printed)
	}
	return names.String()
}

// A run of tests holds a lock until it ends, so that another run does not remove its nodes.
func TestRun_ReleasesLockAtItsEnd(t *testing.T) {
	r, err := NewRun()
	require.NoError(t, err)
	again := &Run{ID: r.ID}
	held, err := again.acquire()
	require.NoError(t, err)
	require.False(t, held)
	require.NoError(t, syscall.Flock(int(r.lock.Fd()), syscall.LOCK_UN))
	require.NoError(t, r.Remove())
	require.NoDirExists(t, r.Dir())
}

func TestRemoveDead_KeepsDirectoriesOfNewRuns(t *testing.T) {
	var runs errgroup.Group
	for range 4 {
		runs.Go(func() error {
			for range 200 {
				if _, err := RemoveDead(); err != nil {
					return err
				}
				r, err := NewRun()
				if err != nil {
					return err
				}
				if err := r.Remove(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, runs.Wait())
}
