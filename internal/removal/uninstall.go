// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	operatormeta "kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// interval is how often remaining VectorSidecars are checked.
const interval = time.Second

// BlockedError says that there are VectorSidecars and the policy is Block.
type BlockedError struct{ Left []client.Object }

func (e *BlockedError) Error() string {
	return fmt.Sprintf("not uninstalling: there are %s; delete them first, while the operator runs, or set uninstall.policy to eject or orphan", describe(e.Left, nil))
}

// BeforeUninstall applies the policy to all VectorSidecars in the operator's scope. It
// returns when none is left and the operator's Lease will be deleted with the release. It
// reports its progress, one line each. With leader election, BeforeUninstall is a standby
// replica for the operator, in case that is dead. It changes nothing unless the Job that it
// runs in shows that the release is being uninstalled; it returns no error if the Job came
// with applied manifests.
func BeforeUninstall(ctx context.Context, config *rest.Config, options Options, progress io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, options.Timeout)
	defer cancel()
	c, err := newClient(config)
	if err != nil {
		return err
	}
	if is, err := isUninstalling(ctx, c, options, progress); err != nil || !is {
		return err
	}
	left, err := list(ctx, c, &options.Operator)
	switch {
	case err != nil:
		return err
	case len(left) == 0:
		tell(progress, "there are no VectorSidecars: nothing to do")
	case options.Policy == Block:
		return &BlockedError{left}
	default:
		standIn := standBy(ctx, options.Operator, progress)
		err = empty(ctx, c, options, progress)
		standIn()
		if err != nil {
			return err
		}
	}
	if err := bindLease(ctx, c, options.Operator); err != nil {
		// It only delays others until it expires.
		tell(progress, "the Lease is left: %v", err)
	}
	return nil
}

func newClient(config *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	err := errors.Join(v1alpha1.AddToScheme(scheme), batchv1.AddToScheme(scheme), coordinationv1.AddToScheme(scheme), corev1.AddToScheme(scheme))
	if err != nil {
		return nil, fmt.Errorf("registering types: %w", err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	return c, nil
}

// empty deletes VectorSidecars until none is left.
func empty(ctx context.Context, c client.Client, options Options, progress io.Writer) error {
	writer := apply.New(c)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	before := -1
	for {
		left, err := list(ctx, c, &options.Operator)
		if err == nil {
			if len(left) == 0 {
				tell(progress, "all VectorSidecars are deleted")
				return nil
			}
			if len(left) != before {
				before = len(left)
				tell(progress, "left: %s", describe(left, nil))
			}
			err = retire(ctx, writer, left, options.Policy == Orphan)
		}
		if err != nil && ctx.Err() == nil {
			tell(progress, "retrying: %v", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %s there are still %s; see the operator's log", options.Timeout, describe(left, message))
		case <-ticker.C:
		}
	}
}

func retire(ctx context.Context, writer *apply.Writer, left []client.Object, orphan bool) error {
	for i := range left {
		if err := writer.Retire(ctx, left[i], orphan); err != nil {
			return err
		}
	}
	return nil
}

// standBy runs a standby replica, which waits while the operator being uninstalled still
// leads, and returns a function that ends it. Without leader election two replicas would
// write at once, so it does nothing.
func standBy(ctx context.Context, leaving Operator, progress io.Writer) func() {
	if leaving.Lease == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := leaving.Run(ctx); err != nil {
			tell(progress, "no longer on standby: %v", err)
		}
	}()
	return func() {
		cancel()
		<-ended // By then the lease is released.
	}
}

// list lists the VectorSidecars and ClusterVectorSidecars that concern an operator.
func list(ctx context.Context, c client.Client, leaving *Operator) ([]client.Object, error) {
	namespaces := leaving.WatchNamespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	var all []client.Object
	for _, namespace := range namespaces {
		found, err := listSidecars(ctx, c, namespace, leaving.ClusterSidecars)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// maxNamed is how many VectorSidecars a message names.
const maxNamed = 20

// describe names VectorSidecars and ClusterVectorSidecars, each with an optional text.
func describe(left []client.Object, also func(client.Object) string) string {
	var names []string
	for i := range left[:min(maxNamed, len(left))] {
		name := nameOf(left[i])
		if also != nil {
			name += also(left[i])
		}
		names = append(names, name)
	}
	return fmt.Sprintf("%d VectorSidecars: %s", len(left), strings.Join(humanize.First(names, maxNamed, len(left)), ", "))
}

// nameOf returns NAMESPACE/NAME of a VectorSidecar, and clustervectorsidecar/NAME of a
// ClusterVectorSidecar.
func nameOf(sidecar client.Object) string {
	if sidecar.GetNamespace() == "" {
		return operatormeta.InNamespace(sidecar.GetName())
	}
	return sidecar.GetNamespace() + "/" + sidecar.GetName()
}

// message says why a VectorSidecar or ClusterVectorSidecar is not ready.
func message(sidecar client.Object) string {
	var conditions []metav1.Condition
	switch o := sidecar.(type) {
	case *v1alpha1.VectorSidecar:
		conditions = o.Status.Conditions
	case *v1alpha1.ClusterVectorSidecar:
		conditions = o.Status.Conditions
	}
	ready := meta.FindStatusCondition(conditions, operatormeta.ConditionReady)
	if ready == nil || ready.Message == "" {
		return ""
	}
	return fmt.Sprintf(" (%s: %s)", ready.Reason, ready.Message)
}

func tell(to io.Writer, format string, arguments ...any) {
	_ = humanize.Fprintf(to, format+"\n", arguments...)
}
