// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

const (
	// inEach is the number of Deployments in a namespace.
	inEach = 2
	// wideLabel is the label of the namespaces that a ClusterVectorSidecar selects.
	wideLabel = "wide"
	// joining is the number of namespaces that get the label later, one after the other.
	joining = 20
)

// spaces are namespaces with Deployments, whose names are unique in all of them.
type spaces []string

// spacesOf creates namespaces that a ClusterVectorSidecar with a name selects.
func (b *bench) spacesOf(ctx context.Context, count int, name string) (spaces, error) {
	made := make(spaces, count)
	return made, each(ctx, count, func(ctx context.Context, n int) error {
		made[n] = fmt.Sprintf("%s-%d", name, n)
		object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: made[n], Labels: map[string]string{wideLabel: name}}}
		_, err := b.cluster.set.CoreV1().Namespaces().Create(ctx, object, metav1.CreateOptions{})
		return err
	})
}

func (s spaces) seed(ctx context.Context, b *bench) error {
	return each(ctx, len(s)*inEach, func(ctx context.Context, n int) error {
		object := application(appName(n), s[n/inEach])
		scaledDown(n, object)
		_, err := b.cluster.set.AppsV1().Deployments(s[n/inEach]).Create(ctx, object, metav1.CreateOptions{FieldManager: "helm"})
		return err
	})
}

// empty deletes the objects of a round.
func (s spaces) empty(ctx context.Context, b *bench) error {
	return each(ctx, len(s), func(ctx context.Context, n int) error {
		return errors.Join(b.cluster.clear(ctx, s[n]),
			b.cluster.set.CoreV1().ConfigMaps(s[n]).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	})
}

// floor makes the minimal requests: in each namespace one ConfigMap, and one server-side apply for each Deployment.
func (s spaces) floor(ctx context.Context, b *bench) (round, error) {
	o, err := newOverlay(ctx, logs("NAMESPACE"), nil, b.kubeVersion)
	if err != nil {
		return round{}, err
	}
	body, err := o.manifest("NAMESPACE", "NAME")
	if err != nil {
		return round{}, err
	}
	return b.measure(ctx, metav1.NamespaceAll, len(s)*inEach, os.Getpid(), func(ctx context.Context) error {
		return each(ctx, len(s), func(ctx context.Context, n int) error {
			for i := range o.companions {
				companion := o.companions[i].DeepCopy()
				companion.Namespace = s[n]
				if _, err := b.cluster.set.CoreV1().ConfigMaps(s[n]).Create(ctx, companion, metav1.CreateOptions{}); err != nil {
					return err
				}
			}
			for i := range inEach {
				name := appName(n*inEach + i)
				patch := bytes.Replace(body, []byte("\"NAMESPACE\""), []byte("\""+s[n]+"\""), 1)
				patch = bytes.Replace(patch, []byte("\"NAME\""), []byte("\""+name+"\""), 1)
				if _, err := b.cluster.set.AppsV1().Deployments(s[n]).Patch(ctx, name, types.ApplyPatchType, patch, metav1.PatchOptions{FieldManager: "floor"}); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// operator creates a ClusterVectorSidecar while an operator runs, and afterwards labels further namespaces, one
// after the other.
func (s spaces) operator(ctx context.Context, b *bench, name string) (made round, joined []time.Duration, err error) {
	operator, err := b.program.start(ctx)
	if err != nil {
		return made, nil, err
	}
	defer func() { err = errors.Join(err, operator.stop()) }()
	wide := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: name}}
	wide.Spec.VectorSidecarSpec = logs("").Spec
	wide.Spec.NamespaceSelector = metav1.LabelSelector{MatchLabels: map[string]string{wideLabel: name}}
	profiling := b.profile(ctx, operator)
	made, err = b.measure(ctx, metav1.NamespaceAll, len(s)*inEach, operator.pid(), func(ctx context.Context) error {
		return b.cluster.Client.Create(ctx, wide)
	})
	if err == nil {
		err = profiling()
	}
	if err != nil {
		return made, nil, err
	}
	if made.memory, err = harness.Memory(operator.pid(), "VmHWM"); err != nil {
		return made, nil, err
	}
	if joined, err = b.join(ctx, name); err != nil {
		return made, nil, err
	}
	patch := client.RawPatch("application/merge-patch+json", []byte("{\"metadata\":{\"finalizers\":null}}"))
	return made, joined, errors.Join(b.cluster.Client.Patch(ctx, wide, patch), b.cluster.Client.Delete(ctx, wide))
}

// join labels namespaces, and returns the time until the Deployment in each was injected.
func (b *bench) join(ctx context.Context, label string) ([]time.Duration, error) {
	var took []time.Duration
	for range joining {
		namespace, err := b.cluster.namespace(ctx, "joins")
		if err != nil {
			return nil, err
		}
		if err := b.cluster.seed(ctx, namespace, 1, scaledDown); err != nil {
			return nil, err
		}
		seen, err := b.cluster.observe(ctx, namespace)
		if err != nil {
			return nil, err
		}
		patch := fmt.Appendf(nil, `{"metadata": {"labels": {%q: %q}}}`, wideLabel, label)
		began := time.Now()
		_, err = b.cluster.set.CoreV1().Namespaces().Patch(ctx, namespace, types.MergePatchType, patch, metav1.PatchOptions{})
		if err == nil {
			err = seen.count(ctx, 1)
		}
		took = append(took, time.Since(began))
		seen.stop()
		if err := errors.Join(err, b.cluster.clear(ctx, namespace)); err != nil {
			return nil, err
		}
	}
	return took, nil
}

// spread measures one ClusterVectorSidecar for the Deployments of many namespaces.
func (s sizes) spread(ctx context.Context, b *bench) error {
	c := &contest{count: s.namespaces, order: []string{byFloor, byOperator}, rounds: map[string][]round{}}
	var joined []time.Duration
	before := b.program.arguments
	defer func() { b.program.arguments = before }()
	b.program.arguments = slices.Concat(before, []string{"--cluster-sidecars"})
	theirs, err := b.spacesOf(ctx, s.namespaces, "floors")
	if err != nil {
		return err
	}
	ours, err := b.spacesOf(ctx, s.namespaces, "ours")
	if err != nil {
		return err
	}
	for n := range s.rounds {
		if err := theirs.seed(ctx, b); err != nil {
			return err
		}
		floor, err := theirs.floor(ctx, b)
		if err := errors.Join(err, theirs.empty(ctx, b)); err != nil {
			return err
		}
		if err := ours.seed(ctx, b); err != nil {
			return err
		}
		made, took, err := ours.operator(ctx, b, "ours")
		if err := errors.Join(err, ours.empty(ctx, b)); err != nil {
			return err
		}
		joined = append(joined, took...)
		c.rounds[byFloor], c.rounds[byOperator] = append(c.rounds[byFloor], floor), append(c.rounds[byOperator], made)
		b.tell("%d namespaces, round %d: floor in %s; operator in %s, %s CPU, %s; %s", s.namespaces, n+1, rounded(floor.wall), rounded(made.wall), rounded(made.cpu), mebibytes(made.memory), made.calls)
	}
	t := c.table()
	t.title = fmt.Sprintf("Fan-out to %d namespaces with %d Deployments each", s.namespaces, inEach)
	b.tables = append(b.tables, t)
	ratio := c.ratio(byOperator, byFloor)
	b.find(finding{fmt.Sprintf("fan-out to %d namespaces of %d Deployments", s.namespaces, inEach), "≤ 1.10 × the floor", fmt.Sprintf("%.2f ×", ratio), ratio <= 1.10, ratio})
	const goal = 200 << 20
	peak := int64(0)
	for _, r := range c.rounds[byOperator] {
		peak = max(peak, r.memory)
	}
	b.find(finding{fmt.Sprintf("fan-out to %d namespaces: resident memory at most", s.namespaces), "≤ " + mebibytes(goal), mebibytes(peak), peak <= goal, 0})
	slices.Sort(joined)
	last := joined[len(joined)-1]
	b.find(finding{fmt.Sprintf("a label on a namespace, among %d, to the sidecar", s.namespaces), "≤ 2 s",
		fmt.Sprintf("median %s, at most %s", rounded(median(joined)), rounded(last)), last <= 2*time.Second, 0})
	return nil
}
