// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/declared"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	operatormeta "kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// interval is the time between two checks of the remaining VectorSidecars.
const interval = time.Second

// BlockedError means that VectorSidecars exist and the policy is Block.
type BlockedError struct {
	Sidecars []metav1.PartialObjectMetadata
}

func (e *BlockedError) Error() string {
	return fmt.Sprintf("not uninstalling, because there still are %s; delete them first, while the operator runs, or set uninstall.policy to eject or orphan", describeSidecars(e.Sidecars))
}

// BeforeUninstall applies the policy to all VectorSidecars in the operator's scope. It returns when all of them
// are deleted and the operator's Lease will be deleted with the release. It reports its progress, one line
// each. With leader election, BeforeUninstall runs a standby replica of the operator, in case the operator does
// not run anymore.
//
// BeforeUninstall changes objects only if the Job of this process shows that the release is being uninstalled.
// It returns no error if the Job came with applied manifests.
func BeforeUninstall(ctx context.Context, config *rest.Config, options Options, progress io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, options.Timeout)
	defer cancel()
	c, err := newClient(config)
	if err != nil {
		return err
	}
	live := cmp.Or(options.Pager, livelist.NewPager()).Client(c)
	if ok, err := isUninstalling(ctx, live, options, progress); err != nil || !ok {
		return err
	}
	writer := apply.New(c)
	values, err := readDeclaringValues(ctx, live, &options.Operator)
	if err != nil {
		return fmt.Errorf("not uninstalling: %w", err)
	}
	if values != nil && options.Policy != Block {
		if err := writer.StopDeclared(ctx, values); err != nil {
			return fmt.Errorf("not uninstalling: %w", err)
		}
		options.notBefore = time.Now().Add(declared.WriteTimeout)
		printLine(progress, "the operator no longer applies the VectorSidecars of the values")
	}
	sidecars, err := listRemaining(ctx, live, &options.Operator)
	switch {
	case err != nil:
		return err
	case len(sidecars) == 0 && options.notBefore.IsZero():
		printLine(progress, "no VectorSidecars exist; nothing to do")
	case options.Policy == Block:
		return &BlockedError{sidecars}
	default:
		stopStandby := startStandby(ctx, options.Operator, progress)
		err = removeSidecars(ctx, writer, live, options, progress)
		stopStandby()
		if err != nil {
			return err
		}
	}
	if err := bindLease(ctx, c, live, options.Operator); err != nil {
		// The Lease only delays other replicas until it expires.
		printLine(progress, "the Lease is not deleted: %v", err)
	}
	return nil
}

// readDeclaringValues returns the ConfigMap of the installation's values if it declares VectorSidecars. It returns nil if
// it does not, or if the Job may not read it: the chart grants that permission only if vectorSidecars.enabled is true.
func readDeclaringValues(ctx context.Context, live *livelist.Client, leaving *Operator) (*corev1.ConfigMap, error) {
	values := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: leaving.Namespace, Name: leaving.ValuesConfigMap}
	_, err := live.Find(ctx, &corev1.ConfigMapList{}, key, values) // Without the ConfigMap, the values are empty.
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("reading ConfigMap %s: %w", key, err)
	}
	if _, isDeclaring := values.Data[declared.Key]; !isDeclaring {
		return nil, nil //nolint:nilnil // Values that declare nothing are not an error.
	}
	return values, nil
}

// newClient returns a client that knows the types that the Job reads and writes.
func newClient(config *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	err := errors.Join(v1alpha1.AddToScheme(scheme), batchv1.AddToScheme(scheme), coordinationv1.AddToScheme(scheme), corev1.AddToScheme(scheme))
	if err != nil {
		return nil, fmt.Errorf("registering types: %w", err)
	}
	config = rest.CopyConfig(config)
	livelist.LimitResponses(config)
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	return c, nil
}

// removeSidecars deletes VectorSidecars until all of them are removed, and at least until options.notBefore.
func removeSidecars(ctx context.Context, writer *apply.Writer, live *livelist.Client, options Options, progress io.Writer) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	previousCount := -1
	for {
		isLast := !time.Now().Before(options.notBefore)
		sidecars, err := listRemaining(ctx, live, &options.Operator)
		if err == nil {
			if len(sidecars) == 0 && isLast {
				printLine(progress, "all VectorSidecars are deleted")
				return nil
			}
			if len(sidecars) != previousCount && len(sidecars) > 0 {
				previousCount = len(sidecars)
				printLine(progress, "waiting for the deletion of %s", describeSidecars(sidecars))
			}
			err = deleteSidecars(ctx, writer, sidecars, options.Policy == Orphan)
		}
		if err != nil && ctx.Err() == nil {
			printLine(progress, "retrying: %v", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the uninstallation timed out after %s; remaining: %s; see the operator's log", options.Timeout, describeStates(ctx, live, sidecars))
		case <-ticker.C:
		}
	}
}

// deleteSidecars deletes VectorSidecars. With orphan, it first sets their deletionPolicy to Orphan.
func deleteSidecars(ctx context.Context, writer *apply.Writer, sidecars []metav1.PartialObjectMetadata, orphan bool) error {
	for i := range sidecars {
		if err := writer.DeleteSidecar(ctx, &sidecars[i], orphan); err != nil {
			return err
		}
	}
	return nil
}

// startStandby runs a standby replica, which waits while the operator that is uninstalled still leads. It returns a
// function that stops the replica. Without leader election, startStandby does nothing, because two replicas would
// write at once.
func startStandby(ctx context.Context, leaving Operator, progress io.Writer) func() {
	if leaving.Lease == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := leaving.Run(ctx); err != nil {
			printLine(progress, "the standby replica of this Job stopped: %v", err)
		}
	}()
	return func() {
		cancel()
		<-done // By then the lease is released.
	}
}

// listRemaining returns references to the VectorSidecars and ClusterVectorSidecars in the scope of an operator.
func listRemaining(ctx context.Context, live *livelist.Client, leaving *Operator) ([]metav1.PartialObjectMetadata, error) {
	namespaces := leaving.WatchNamespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	var sidecars []metav1.PartialObjectMetadata
	for _, namespace := range namespaces {
		matches, err := listSidecars(ctx, live, namespace, leaving.ClusterSidecars)
		if err != nil {
			return nil, err
		}
		sidecars = append(sidecars, matches...)
	}
	return sidecars, nil
}

// maxNamed is the maximum number of VectorSidecars in a message.
const maxNamed = 20

// describeSidecars returns the number and the names of VectorSidecars and ClusterVectorSidecars.
func describeSidecars(sidecars []metav1.PartialObjectMetadata) string {
	var names []string
	for i := range sidecars[:min(maxNamed, len(sidecars))] {
		names = append(names, qualifiedName(&sidecars[i]))
	}
	return countNames(names, len(sidecars))
}

// countNames returns the number of VectorSidecars and the names of the first ones.
func countNames(names []string, total int) string {
	return fmt.Sprintf("%d VectorSidecars: %s", total, strings.Join(humanize.TruncateList(names, maxNamed, total), ", "))
}

// stateTimeout limits describeStates.
const stateTimeout = 10 * time.Second

// describeStates returns the names of VectorSidecars and ClusterVectorSidecars, with the reasons why they are
// not ready. It reads the named objects one by one, even after the end of the context.
func describeStates(ctx context.Context, live *livelist.Client, sidecars []metav1.PartialObjectMetadata) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stateTimeout)
	defer cancel()
	var names []string
	for i := range sidecars[:min(maxNamed, len(sidecars))] {
		names = append(names, qualifiedName(&sidecars[i])+readMessage(ctx, live, &sidecars[i]))
	}
	return countNames(names, len(sidecars))
}

// qualifiedName returns NAMESPACE/NAME of a VectorSidecar, and clustervectorsidecar/NAME of a
// ClusterVectorSidecar.
func qualifiedName(sidecar *metav1.PartialObjectMetadata) string {
	if sidecar.Namespace == "" {
		return operatormeta.ClusterSidecarName(sidecar.Name)
	}
	return sidecar.Namespace + "/" + sidecar.Name
}

// readMessage returns the reason why a VectorSidecar or ClusterVectorSidecar is not ready, or "" if the object
// cannot be read. It uses List because the permissions of the Job include list, but need not include get.
func readMessage(ctx context.Context, live *livelist.Client, reference *metav1.PartialObjectMetadata) string {
	var conditions []metav1.Condition
	var err error
	if key := client.ObjectKeyFromObject(reference); reference.Namespace == "" {
		cluster := &v1alpha1.ClusterVectorSidecar{}
		_, err = live.Find(ctx, &v1alpha1.ClusterVectorSidecarList{}, key, cluster)
		conditions = cluster.Status.Conditions
	} else {
		sidecar := &v1alpha1.VectorSidecar{}
		_, err = live.Find(ctx, &v1alpha1.VectorSidecarList{}, key, sidecar)
		conditions = sidecar.Status.Conditions
	}
	ready := meta.FindStatusCondition(conditions, operatormeta.ConditionReady)
	if err != nil || ready == nil || ready.Message == "" {
		return ""
	}
	return fmt.Sprintf(" (%s: %s)", ready.Reason, ready.Message)
}

// printLine prints a line with escaped arguments. It ignores errors of the output.
func printLine(out io.Writer, format string, arguments ...any) {
	_ = humanize.Fprintf(out, format+"\n", arguments...)
}
