// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package harness is what tests on a real API server share: the CRD installed, a
// namespace for each test, the operator started and stopped, its requests
// counted. It asserts nothing of the product.
package harness

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// Patience is how long a condition may take on a slow machine. Conditions are
// polled, so that a fast machine does not wait for it.
const (
	Patience = 60 * time.Second
	poll     = 50 * time.Millisecond
)

// World is a cluster with the CRD, seen as its administrator.
type World struct {
	Client client.Client
	Config *rest.Config
	// Operator is what operators run with; nil for the administrator's.
	Operator *rest.Config
	// Chart is what operators have built in; nil for what this one has.
	Chart fs.FS
	// Version is that of operators; "" for none.
	Version string
}

// NewWorld installs the CRD that the chart installs.
func NewWorld(config *rest.Config) (*World, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1alpha1.AddToScheme, apiextensionsv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	root, err := Root()
	if err != nil {
		return nil, err
	}
	_, err = envtest.InstallCRDs(config, envtest.CRDInstallOptions{
		Scheme: scheme, Paths: []string{filepath.Join(root, "chart", "files", "crds")}, ErrorIfPathMissing: true,
	})
	if err != nil {
		return nil, fmt.Errorf("installing the CRD: %w", err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &World{Client: c, Config: config}, nil
}

// Root is the folder of the repository.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no go.mod above the working folder")
}

// Namespace makes a namespace for a test, with labels given as key, value pairs.
func (w *World) Namespace(t testing.TB, labels ...string) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	for i := 0; i+1 < len(labels); i += 2 {
		metav1.SetMetaDataLabel(&namespace.ObjectMeta, labels[i], labels[i+1])
	}
	require.NoError(t, w.Client.Create(t.Context(), namespace))
	t.Cleanup(func() {
		// What later tests count must not include what this one left.
		ctx := context.WithoutCancel(t.Context())
		require.NoError(t, w.Client.DeleteAllOf(ctx, &v1alpha1.VectorSidecar{}, client.InNamespace(namespace.Name)))
		require.NoError(t, w.Client.DeleteAllOf(ctx, &appsv1.Deployment{}, client.InNamespace(namespace.Name)))
	})
	return namespace.Name
}

// Create creates objects.
func (w *World) Create(t testing.TB, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		require.NoError(t, w.Client.Create(t.Context(), object))
	}
}

// Delete deletes an object.
func (w *World) Delete(t testing.TB, object client.Object) {
	t.Helper()
	require.NoError(t, w.Client.Delete(t.Context(), object))
}

// Get reads an object again.
func (w *World) Get(t testing.TB, object client.Object) {
	t.Helper()
	require.NoError(t, w.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object))
}

// Change changes an object as the person that last applied it would: with a patch
// of the difference.
func Change[T client.Object](t testing.TB, w *World, object T, change func(T)) {
	t.Helper()
	w.Get(t, object)
	before, ok := object.DeepCopyObject().(client.Object)
	require.True(t, ok)
	change(object)
	require.NoError(t, w.Client.Patch(t.Context(), object, client.MergeFrom(before)))
}

// Until reads an object until the condition is met.
func Until[T client.Object](t testing.TB, w *World, object T, what string, met func(T) bool) {
	t.Helper()
	isMet := until(t, Patience, func() bool {
		w.Get(t, object)
		return met(object)
	})
	if !isMet {
		require.FailNow(t, "timed out", "waiting for %s of %T %s; current state: %s%s", what, object, object.GetName(), describe(object), w.describeNamespace(t, object.GetNamespace()))
	}
}

// Eventually waits for a condition that involves more than one object.
func Eventually(t testing.TB, what string, met func() bool) {
	t.Helper()
	EventuallyWithin(t, Patience, what, met)
}

// EventuallyWithin is Eventually with another Patience.
func EventuallyWithin(t testing.TB, patience time.Duration, what string, met func() bool) {
	t.Helper()
	if !until(t, patience, met) {
		require.FailNow(t, "timed out", "waiting for %s", what)
	}
}

// until polls until a condition is met, and reports whether the condition was met in time. The interval grows with the
// elapsed time, because polls slow down the tested program. So the delay is at most a tenth of the elapsed time.
func until(t testing.TB, patience time.Duration, met func() bool) bool {
	t.Helper()
	for began := time.Now(); !met(); {
		if time.Since(began) > patience {
			return false
		}
		pauseFor(t.Context(), min(poll+time.Since(began)/10, 5*poll))
	}
	return true
}

// describeNamespace returns the VectorSidecars and Deployments of a namespace, one per line, for the message of a
// failed test.
func (w *World) describeNamespace(t testing.TB, namespace string) string {
	t.Helper()
	var sidecars v1alpha1.VectorSidecarList
	require.NoError(t, w.Client.List(t.Context(), &sidecars, client.InNamespace(namespace)))
	var deployments appsv1.DeploymentList
	require.NoError(t, w.Client.List(t.Context(), &deployments, client.InNamespace(namespace)))
	var b strings.Builder
	for i := range sidecars.Items {
		fmt.Fprintf(&b, "\nVectorSidecar %s: %s", sidecars.Items[i].Name, describe(&sidecars.Items[i]))
	}
	for i := range deployments.Items {
		fmt.Fprintf(&b, "\nDeployment %s: %s", deployments.Items[i].Name, describe(&deployments.Items[i]))
	}
	return b.String()
}

func pause(ctx context.Context) { pauseFor(ctx, poll) }

func pauseFor(ctx context.Context, long time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(long):
	}
}

// describe returns the parts of an object that explain a failed expectation.
func describe(object client.Object) string {
	switch o := object.(type) {
	case *v1alpha1.VectorSidecar:
		var b strings.Builder
		fmt.Fprintf(&b, "matched %d, injected %d", o.Status.MatchedDeployments, o.Status.InjectedDeployments)
		for _, c := range o.Status.Conditions {
			fmt.Fprintf(&b, "; %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
		}
		if o.Status.Rollout != nil {
			fmt.Fprintf(&b, "; rollout %+v", *o.Status.Rollout)
		}
		return b.String()
	case *appsv1.Deployment:
		var names, managers []string
		for _, c := range append(o.Spec.Template.Spec.InitContainers, o.Spec.Template.Spec.Containers...) {
			names = append(names, c.Name)
		}
		for _, entry := range o.ManagedFields {
			managers = append(managers, entry.Manager+" "+string(entry.Operation)+" "+entry.Subresource)
		}
		return fmt.Sprintf("generation %d, containers %v, managers %q, status %+v", o.Generation, names, managers, o.Status)
	default:
		return fmt.Sprintf("%+v", object)
	}
}
