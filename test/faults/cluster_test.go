// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/test/faults/wire"
)

// realm has the namespaces of a ClusterVectorSidecar: the operator namespace and two selectable namespaces, one in
// each wave. The operator serves the whole cluster, so runs are not parallel.
type realm struct {
	*place

	canary, rest string
	wide         *v1alpha1.ClusterVectorSidecar
	// tooEarly describes a sidecar that the default wave had before the canary.
	tooEarly string
}

// life is the expected result of one run of a ClusterVectorSidecar.
type life struct {
	// generations are the final generations of the Deployments, which count the rollouts.
	generations [2]int64
	writes      map[string]int
}

// wideStep is a user's change and the expected sidecars of both namespaces.
type wideStep struct {
	name  string
	do    func(ctx context.Context, r *realm) error
	wants [2]string
	// isReverted is true if the spec must fail and both namespaces must revert.
	isReverted bool
}

// The containers of a Deployment in their order, and the sidecar's log level.
const (
	withInfo, withWarn = "shipper migrate app: info", "shipper migrate app: warn"
	withoutSidecar     = "migrate app: "
)

func lifeOfACluster() []wideStep {
	return []wideStep{
		{name: "make it", do: func(ctx context.Context, r *realm) error { return world.Client.Create(ctx, r.wide.DeepCopy()) }, wants: [2]string{"vector migrate app: info", "vector migrate app: info"}},
		{name: "rename the container", do: asks(func(s *v1alpha1.SidecarSpec) { s.Name = "shipper" }), wants: [2]string{withInfo, withInfo}},
		{name: "a spec that fails in one namespace", do: asks(func(s *v1alpha1.SidecarSpec) { s.Image = "registry.example/vector:crashes" }), wants: [2]string{withInfo, withInfo}, isReverted: true},
		{name: "the one before", do: asks(func(s *v1alpha1.SidecarSpec) { s.Image = "" }), wants: [2]string{withInfo, withInfo}},
		{name: "change the installation's values", do: func(ctx context.Context, r *realm) error {
			return change(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: r.namespace, Name: environments}}, func(c *corev1.ConfigMap) { maps.Copy(c.Data, values("warn")) })
		}, wants: [2]string{withWarn, withWarn}},
		{name: "select one namespace no more", do: selects(false), wants: [2]string{withWarn, withoutSidecar}},
		{name: "select it again", do: selects(true), wants: [2]string{withWarn, withWarn}},
		{name: "delete it", do: func(ctx context.Context, r *realm) error { return world.Client.Delete(ctx, r.wide.DeepCopy()) }, wants: [2]string{withoutSidecar, withoutSidecar}},
	}
}

// asks changes the sidecar of the spec.
func asks(how func(*v1alpha1.SidecarSpec)) func(ctx context.Context, r *realm) error {
	return func(ctx context.Context, r *realm) error {
		return change(ctx, r.wide.DeepCopy(), func(c *v1alpha1.ClusterVectorSidecar) { how(c.Spec.Sidecar) })
	}
}

// change changes an existing object as a user does.
func change[O client.Object](ctx context.Context, object O, how func(O)) error {
	if err := world.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return err
	}
	before := object.DeepCopyObject().(client.Object)
	how(object)
	return world.Client.Patch(ctx, object, client.MergeFrom(before))
}

// selects adds or removes the label by which the namespace of the default wave is selected.
func selects(isSelected bool) func(ctx context.Context, r *realm) error {
	return func(ctx context.Context, r *realm) error {
		return change(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.rest}}, func(ns *corev1.Namespace) {
			if delete(ns.Labels, "wide"); isSelected {
				ns.Labels["wide"] = r.wide.Name
			}
		})
	}
}

// newRealm creates the namespaces, each with a Deployment, and the installation's values.
func newRealm(ctx context.Context, w *wire.Wire) (*realm, error) {
	installation := map[string]string{desired.RolloutKey: "{waves: [{name: canary, namespaceSelector: {matchLabels: {wave: canary}}}], halt: {}}"}
	maps.Copy(installation, values("info"))
	home, err := newPlace(ctx, w, overAll, "", installation)
	if err != nil {
		return nil, err
	}
	r := &realm{place: home, wide: &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: home.namespace}}}
	r.wide.Spec.VectorSidecarSpec = logs("").Sidecar(func(s *v1alpha1.SidecarSpec) { s.Name = "vector" }).Build().Spec
	r.wide.Spec.Rollout.OnFailure = v1alpha1.OnFailureRevert
	r.wide.Spec.NamespaceSelector.MatchLabels = map[string]string{"wide": r.wide.Name}
	if err := create(func(string) []client.Object {
		return []client.Object{mayStore(home.namespace), newRevisionRoleBinding(home.namespace)}
	})(ctx, home); err != nil {
		return nil, err
	}
	for wave, name := range map[string]*string{"canary": &r.canary, "default": &r.rest} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "run-", Labels: map[string]string{"wave": wave, "wide": r.wide.Name}}}
		if err := world.Client.Create(ctx, ns); err != nil {
			return nil, err
		}
		*name = ns.Name
		app := cart(ns.Name).WithInitContainer("migrate").Build()
		if wave == "canary" && *full { // There a sidecar can fail.
			app.Spec.Replicas, app.Spec.ProgressDeadlineSeconds = ptr.To[int32](1), ptr.To[int32](5)
		}
		if err := world.Client.Create(ctx, app); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// overAll runs an operator that serves the whole cluster.
func overAll(ctx context.Context, p *place, life *wire.Life) {
	runIn(ctx, p, life, operator.Options{Namespace: p.namespace, EnvironmentsConfigMap: environments, ClusterSidecars: true, WorkloadKinds: []string{p.kind.Kind}})
}

// live runs all steps and returns an error if the result differs from should. Without should, it records the result.
func live(ctx context.Context, fault *wire.Fault, should *life) (took *life, err error) {
	w := wire.New(fault)
	r, err := newRealm(ctx, w)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.end(context.WithoutCancel(ctx))) }()
	r.start(ctx)
	// A sidecar can fail only with nodes.
	steps := slices.DeleteFunc(lifeOfACluster(), func(s wideStep) bool { return s.isReverted && !*full })
	for i := range steps {
		if err := steps[i].do(ctx, r); err != nil {
			return nil, fmt.Errorf("step %q: %w", steps[i].name, err)
		}
		if err := r.wait(ctx, &steps[i], i == len(steps)-1); err != nil {
			return nil, fmt.Errorf("step %q: %w", steps[i].name, err)
		}
	}
	for w.Quiet() < calm {
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
	took = &life{writes: w.Counts()}
	for i, namespace := range []string{r.canary, r.rest} {
		d, err := r.cart(ctx, namespace)
		if err != nil {
			return nil, err
		}
		if took.generations[i] = d.Generation; should != nil && d.Generation != should.generations[i] {
			return nil, fmt.Errorf("the Deployment of namespace %d was changed %d times and not %d", i+1, d.Generation-1, should.generations[i]-1)
		}
		if lacks := bareNow(d); lacks != "" {
			return nil, errors.New(lacks)
		}
	}
	select {
	case <-w.Fired():
	default:
		if fault != nil {
			return nil, errNotReached
		}
	}
	return took, nil
}

// wait waits until both namespaces have the expected sidecars, and the ClusterVectorSidecar reports that or is gone.
func (r *realm) wait(ctx context.Context, step *wideStep, isLast bool) error {
	began := time.Now()
	for {
		lacks, err := r.lacks(ctx, step, isLast)
		switch {
		case err == nil && r.tooEarly != "":
			return errors.New(r.tooEarly)
		case err == nil && lacks == "":
			return nil
		case time.Since(began) > patience:
			return errors.Join(fmt.Errorf("waiting in vain: %s", lacks), err)
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

func (r *realm) lacks(ctx context.Context, step *wideStep, isLast bool) (string, error) {
	var is [2]string
	for i, namespace := range []string{r.rest, r.canary} { // The later one first: what it has, the other one has to have.
		d, err := r.cart(ctx, namespace)
		if err != nil {
			return "", err
		}
		is[1-i] = strings.Join(containers(d), " ") + ": " + levelOf(d)
	}
	if strings.HasSuffix(is[1], ": warn") && strings.HasSuffix(is[0], ": info") {
		r.tooEarly = "the rest has the new values before the canary: " + strings.Join(is[:], "; ")
	}
	if is != step.wants {
		return strings.Join(is[:], "; "), nil
	}
	wide := r.wide.DeepCopy()
	err := world.Client.Get(ctx, client.ObjectKeyFromObject(wide), wide)
	switch {
	case isLast && apierrors.IsNotFound(err):
		return r.left(ctx)
	case err != nil:
		return "", err
	case isLast:
		return "the ClusterVectorSidecar is there", nil
	case step.isReverted:
		stalled := apimeta.FindStatusCondition(wide.Status.Conditions, meta.ConditionStalled)
		if wide.Status.Reverted == nil || stalled == nil || stalled.Reason != meta.ReasonReverted {
			return fmt.Sprintf("it has not gone back: %+v", wide.Status.Conditions), nil
		}
	case wide.Status.ObservedGeneration != wide.Generation || wide.Status.Reverted != nil || !apimeta.IsStatusConditionTrue(wide.Status.Conditions, meta.ConditionReady):
		return fmt.Sprintf("it is not ready: %+v", wide.Status.Conditions), nil
	case !*full: // Without nodes no pod proves that a spec is good.
	case wide.Status.LastKnownGood == nil || wide.Status.LastKnownGood.Digest != lastgood.Digest(&wide.Spec.VectorSidecarSpec):
		return "its last good spec is not the present one", nil
	}
	return "", nil
}

// left returns the name of a remaining ConfigMap, or the empty string.
func (r *realm) left(ctx context.Context) (string, error) {
	for _, namespace := range []string{r.canary, r.rest} {
		var all corev1.ConfigMapList
		if err := world.Client.List(ctx, &all, client.InNamespace(namespace), client.HasLabels{meta.LabelSidecar}); err != nil {
			return "", err
		}
		for i := range all.Items {
			return "companion " + all.Items[i].Name + " is there", nil
		}
	}
	return "", nil
}

func (r *realm) cart(ctx context.Context, namespace string) (*appsv1.Deployment, error) {
	d := &appsv1.Deployment{}
	return d, world.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "cart"}, d)
}

// levelOf returns the log level of the sidecar, or the empty string without a sidecar.
func levelOf(d *appsv1.Deployment) string {
	for _, c := range d.Spec.Template.Spec.InitContainers {
		for _, variable := range c.Env {
			if variable.Name == "VECTOR_LOG" {
				return variable.Value
			}
		}
	}
	return ""
}

// bareNow describes the remaining injected fields of a Deployment, or returns the empty string.
func bareNow(d *appsv1.Deployment) string {
	for key := range d.Annotations {
		if strings.HasPrefix(key, meta.Group) {
			return "annotation " + key + " is left"
		}
	}
	for _, entry := range d.ManagedFields {
		if meta.IsManager(entry.Manager) {
			return "managed fields of " + entry.Manager + " are left"
		}
	}
	return ""
}

// end stops the run and deletes its objects, so that the next run does not reconcile them.
func (r *realm) end(ctx context.Context) error {
	wide := r.wide.DeepCopy()
	err := change(ctx, wide, func(c *v1alpha1.ClusterVectorSidecar) { c.Finalizers = nil })
	failure := errors.Join(client.IgnoreNotFound(err), client.IgnoreNotFound(world.Client.Delete(ctx, wide)))
	for _, namespace := range []string{r.canary, r.rest} {
		failure = errors.Join(failure, world.Client.DeleteAllOf(ctx, &appsv1.Deployment{}, client.InNamespace(namespace), client.PropagationPolicy(metav1.DeletePropagationBackground)))
	}
	return errors.Join(failure, r.place.end(ctx))
}

// A ClusterVectorSidecar selects two namespaces in two waves. Each write of the operator fails once. The namespaces
// reach the same state as without the fault, with the same number of rollouts.
func TestClusterVectorSidecar_RecoversFromEveryFault(t *testing.T) {
	should, err := live(t.Context(), nil, nil)
	require.NoError(t, err)
	kinds, effects, most := slices.Sorted(maps.Keys(should.writes)), everywhere, slices.Max(slices.Collect(maps.Values(should.writes)))
	if !*full { // What make test-integration has time for.
		kinds, effects, most = []string{"apply deployments", "merge patch clustervectorsidecars/status"}, []wire.Effect{wire.CrashAfter}, 1
	}
	runs := 0
	for _, kind := range kinds {
		for n := range min(should.writes[kind], most) {
			for _, effect := range effects {
				runs++
				fault := &wire.Fault{At: wire.Write{Kind: kind, N: n + 1}, Effect: effect}
				t.Run(fault.String(), func(t *testing.T) {
					_, err := live(t.Context(), fault, should)
					if !errors.Is(err, errNotReached) || !isOfVersion(kind) {
						require.NoError(t, err)
					}
				})
			}
		}
	}
	t.Logf("%d runs with a fault; without one there are these writes: %v", runs, should.writes)
}
