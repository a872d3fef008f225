// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/freeport"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// lateWrite holds the first write to a Deployment, as a proxy may do, until after the operator has stopped.
type lateWrite struct {
	reached chan struct{}
	held    *http.Request
	next    roundTripper
}

func newLateWrite() *lateWrite { return &lateWrite{reached: make(chan struct{})} }

func (l *lateWrite) hold(next roundTripper) roundTripper {
	return func(request *http.Request) (*http.Response, error) {
		if l.held != nil || request.Method != http.MethodPatch || !strings.Contains(request.URL.Path, "/deployments/") {
			return next(request)
		}
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		l.held, l.next = request.Clone(context.WithoutCancel(request.Context())), next
		l.held.Body = io.NopCloser(bytes.NewReader(body))
		close(l.reached)
		<-request.Context().Done()
		return nil, request.Context().Err()
	}
}

// land sends the held write.
func (l *lateWrite) land(t *testing.T) {
	t.Helper()
	response, err := l.next(l.held)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
}

// installation returns the options of an operator that watches one namespace.
func installation(t *testing.T, namespace, name string) operator.Options {
	t.Helper()
	return operator.Options{
		Namespace: own, LeaderElectionID: name, WatchNamespaces: []string{namespace}, MetricsBindAddress: freeport.ForTest(t),
	}
}

// deleteWithoutFinalizers deletes a VectorSidecar without its finalizers.
func deleteWithoutFinalizers(t *testing.T, vs *v1alpha1.VectorSidecar) {
	t.Helper()
	require.NoError(t, world.Client.Delete(t.Context(), vs))
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Finalizers = nil })
	awaitDeletion(t, vs)
}

func awaitDeletion(t *testing.T, vs *v1alpha1.VectorSidecar) {
	t.Helper()
	harness.Eventually(t, "the deletion of the VectorSidecar", func() bool {
		return apierrors.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(vs), vs.DeepCopy()))
	})
}

// awaitMetric waits for a line in the metrics of an operator.
func awaitMetric(t *testing.T, options operator.Options, line string) {
	t.Helper()
	token := reader(t)
	harness.Eventually(t, line, func() bool {
		return strings.Contains(scrape(t, options.MetricsBindAddress, token).text, "\n"+line+"\n")
	})
}

func eventsOf(t *testing.T, object client.Object, reason string) []string {
	t.Helper()
	var found eventsv1.EventList
	require.NoError(t, world.Client.List(t.Context(), &found, client.InNamespace(object.GetNamespace())))
	var notes []string
	for _, event := range found.Items {
		if event.Regarding.UID == object.GetUID() && event.Reason == reason {
			notes = append(notes, event.Note)
		}
	}
	return notes
}

// unmanaged requires that a workload has no injected fields and no managedFields entry of the sidecar.
func unmanaged(t *testing.T, d *appsv1.Deployment) {
	t.Helper()
	require.Empty(t, workload.ReadOwnership(d).Traces)
	for key := range d.Annotations {
		require.NotContains(t, key, meta.Group)
	}
	for _, entry := range d.ManagedFields {
		require.NotEqual(t, meta.Operator, entry.Manager)
	}
}

// A write of a stopped operator reaches the API server after its VectorSidecar was deleted. The next operator removes
// the sidecar.
func TestLeftover_RemovesSidecarsOfLateWrites(t *testing.T) {
	for name, runs := range map[string]bool{"before the next operator starts": false, "while the next operator runs": true} {
		t.Run(name, func(t *testing.T) {
			namespace, late := world.Namespace(t), newLateWrite()
			options := installation(t, namespace, "late-"+rand.String(5))
			dying := through(late.hold).RunOperator(options)
			cart := labeled(t, "cart", namespace)
			before := cart.Spec.Template
			vs := sidecar(t, namespace)
			<-late.reached
			require.NoError(t, dying.Stop())

			if runs {
				world.StartOperator(t, options)
				harness.Until(t, world, cart, "the sidecar of the next operator", isInjected)
				require.NoError(t, world.Client.Delete(t.Context(), vs))
				awaitDeletion(t, vs)
				late.land(t)
			} else {
				deleteWithoutFinalizers(t, vs)
				late.land(t)
				world.Get(t, cart)
				require.True(t, isInjected(cart), "it is nobody's")
				world.StartOperator(t, options)
			}

			harness.Until(t, world, cart, "the removal of the leftover sidecar", func(d *appsv1.Deployment) bool { return !isInjected(d) && d.Generation > 2 })
			require.Equal(t, before, cart.Spec.Template)
			unmanaged(t, cart)
			awaitMetric(t, options, "vectorsidecar_leftovers_removed_total 1")
			awaitMetric(t, options, `vectorsidecar_leftovers{action="Clean"} 0`)
			harness.Eventually(t, "an event", func() bool { return len(eventsOf(t, cart, meta.ReasonLeftoverRemoved)) == 1 })
			require.Contains(t, eventsOf(t, cart, meta.ReasonLeftoverRemoved)[0], "VectorSidecar logs, which does not exist")
		})
	}
}

// orphaned returns a workload whose VectorSidecar was deleted with deletionPolicy Orphan, and the options of the
// running operator.
func orphaned(t *testing.T, world *harness.World) (*appsv1.Deployment, operator.Options) {
	t.Helper()
	namespace := world.Namespace(t)
	options := installation(t, namespace, "orphan-"+rand.String(5))
	world.StartOperator(t, options)
	cart := labeled(t, "cart", namespace)
	vs := sidecar(t, namespace)
	harness.Until(t, world, cart, "the sidecar", isInjected)
	require.Equal(t, own+"/"+options.LeaderElectionID, cart.Annotations[meta.AnnotationWrittenBy(meta.Manager(vs.Name))])
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.DeletionPolicy = v1alpha1.DeletionOrphan })
	require.NoError(t, world.Client.Delete(t.Context(), vs))
	awaitDeletion(t, vs)
	template := cart.Spec.Template
	world.Get(t, cart)
	require.True(t, isInjected(cart))
	require.Equal(t, template, cart.Spec.Template, "the mark rolls nothing")
	return cart, options
}

// The operator neither changes nor reports a sidecar that was orphaned by deletionPolicy Orphan.
func TestLeftover_KeepsOrphanedSidecars(t *testing.T) {
	cart, options := orphaned(t, world)
	manager := meta.Manager("logs")
	require.Equal(t, "true", cart.Annotations[meta.AnnotationOrphaned(manager)])

	awaitMetric(t, options, `vectorsidecar_leftovers{action="Keep"} 1`)
	version := cart.ResourceVersion
	world.Get(t, cart)
	require.Equal(t, version, cart.ResourceVersion)
	require.Empty(t, eventsOf(t, cart, meta.ReasonLeftoverFound), "it is as somebody wanted it")

	vs := sidecar(t, cart.Namespace)
	harness.Until(t, world, vs, "its sidecar", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.InjectedDeployments == 1 })
	require.Contains(t, vs.Finalizers, meta.Finalizer, "what it takes up is its own to take out")
	world.Get(t, cart)
	require.Equal(t, version, cart.ResourceVersion, "one of the same name takes it up as it is")
	require.NoError(t, world.Client.Delete(t.Context(), vs))
	harness.Until(t, world, cart, "removal", func(d *appsv1.Deployment) bool { return !isInjected(d) })
	unmanaged(t, cart)
}

// A write of a stopped operator reaches the API server after the sidecars were orphaned. They stay orphaned.
func TestLeftover_KeepsOrphanedSidecarsAfterLateWrites(t *testing.T) {
	late := newLateWrite()
	namespace := world.Namespace(t)
	options := installation(t, namespace, "late-orphan-"+rand.String(5))
	dying := through(late.hold).RunOperator(options)
	cart := labeled(t, "cart", namespace)
	vs := sidecar(t, namespace)
	<-late.reached
	require.NoError(t, dying.Stop())
	world.StartOperator(t, options)
	harness.Until(t, world, cart, "the sidecar of the next operator", isInjected)
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.DeletionPolicy = v1alpha1.DeletionOrphan })
	require.NoError(t, world.Client.Delete(t.Context(), vs))
	awaitDeletion(t, vs)

	late.land(t)

	harness.Until(t, world, cart, "the annotation of the late write", func(d *appsv1.Deployment) bool {
		return d.Annotations[meta.AnnotationWrittenBy(meta.Manager("logs"))] != ""
	})
	awaitMetric(t, options, `vectorsidecar_leftovers{action="Keep"} 1`)
	awaitMetric(t, options, `vectorsidecar_leftovers{action="Clean"} 0`)
	world.Get(t, cart)
	require.True(t, isInjected(cart))
}

// Another installation has written a leftover sidecar, or the annotation written-by is missing. The operator reports
// the sidecar and does not change it.
func TestLeftover_ReportsSidecarsOfOtherInstallations(t *testing.T) {
	for name, test := range map[string]struct {
		by   func(options operator.Options) operator.Options
		note string
	}{
		"without a mark":          {func(o operator.Options) operator.Options { o.Namespace = ""; return o }, "the annotation written-by is missing"},
		"of another installation": {func(o operator.Options) operator.Options { o.LeaderElectionID = "other"; return o }, "another installation of the operator wrote the sidecar: vector-system/other"},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := world.Namespace(t)
			options := installation(t, namespace, "ours-"+rand.String(5))
			before := world.RunOperator(test.by(options))
			cart := labeled(t, "cart", namespace)
			vs := sidecar(t, namespace)
			harness.Until(t, world, cart, "the sidecar", isInjected)
			require.NoError(t, before.Stop())
			deleteWithoutFinalizers(t, vs)

			world.StartOperator(t, options)

			awaitMetric(t, options, `vectorsidecar_leftovers{action="Report"} 1`)
			harness.Eventually(t, "an event", func() bool { return len(eventsOf(t, cart, meta.ReasonLeftoverFound)) == 1 })
			require.Contains(t, eventsOf(t, cart, meta.ReasonLeftoverFound)[0], test.note)
			generation := cart.Generation
			world.Get(t, cart)
			require.True(t, isInjected(cart))
			require.Equal(t, generation, cart.Generation)

			// In a cluster with controllers, Kubernetes deletes these ConfigMaps.
			require.NoError(t, world.Client.DeleteAllOf(t.Context(), &corev1.ConfigMap{}, client.InNamespace(namespace), client.HasLabels{meta.LabelSidecar}))
			again := sidecar(t, namespace)
			harness.Until(t, world, again, "its sidecar", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.InjectedDeployments == 1 })
			awaitMetric(t, options, `vectorsidecar_leftovers{action="Report"} 0`)
			world.Get(t, cart)
			require.Equal(t, generation, cart.Generation, "a workload without this operator's mark is as good")
		})
	}
}

// A managedFields entry of the sidecar's manager is from a patch. The operator reports it and does not change it.
func TestLeftover_ReportsManagedFieldsOfPatches(t *testing.T) {
	namespace := world.Namespace(t)
	options := installation(t, namespace, "patch-"+rand.String(5))
	cart := labeled(t, "cart", namespace)
	patch := []byte(`{"spec":{"template":{"metadata":{"annotations":{"team":"payments"}}}}}`)
	require.NoError(t, world.Client.Patch(t.Context(), cart, client.RawPatch("application/merge-patch+json", patch), client.FieldOwner(meta.Manager("logs"))))

	world.StartOperator(t, options)

	awaitMetric(t, options, `vectorsidecar_leftovers{action="Report"} 1`)
	version := cart.ResourceVersion
	world.Get(t, cart)
	require.Equal(t, version, cart.ResourceVersion)
}
