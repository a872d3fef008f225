// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// undoFleet is an installation in which image a runs, image b has failed and is marked, and image c is published.
type undoFleet struct {
	*cluster

	a, b, c string
}

// newUndoFleet has VectorSidecars with statuses by name, in which the revisions are named a, b and c.
func newUndoFleet(t *testing.T, annotations map[string]string, statuses map[string]v1alpha1.RolloutStatus) *undoFleet {
	t.Helper()
	catalog, err := newCatalog(vectorsidecar.FS)
	require.NoError(t, err)
	values := objects.NewConfigMap("values", "vector-system", desired.RolloutKey, "waves: [{name: canary, environments: [staging]}]\nhalt: {}")
	values.Annotations = annotations
	operator := objects.NewDeployment("vso", "vector-system").Labeled("app.kubernetes.io/component", "operator").Build()
	operator.Spec.Template.Spec.Containers[0].Args = []string{"--environments-configmap=values", "--environment=development"}
	f := &undoFleet{cluster: &cluster{}}
	revisions := map[string]string{}
	for n, image := range []string{"a", "b", "c"} {
		values.Data["development.yaml"], values.ResourceVersion = "sidecar: {image: registry.example/vector:"+image+", threads: 2}\n", fmt.Sprint(n+1)
		platform, _ := catalog.Update(values.DeepCopy(), nil)
		content, err := platform.StoredContent(t.Context())
		require.NoError(t, err)
		parts, whole, err := content.Records("vector-system", "values", int64(n+1))
		require.NoError(t, err)
		if image == "b" {
			whole.Annotations = map[string]string{meta.AnnotationFailed: "Halted 2026-11-23T12:00:00Z"}
		}
		if image != "c" {
			parts = parts[:1] // The operator's own templates are the same for all.
		}
		for i := range parts {
			f.objects = append(f.objects, &parts[i])
		}
		f.objects = append(f.objects, whole)
		revisions[image] = platform.Revision
		if image == "c" {
			f.objects = append(f.objects, platform.Publication(nil, metav1.Now()).ConfigMap(client.ObjectKeyFromObject(values)))
		}
	}
	f.a, f.b, f.c = revisions["a"], revisions["b"], revisions["c"]
	values.ResourceVersion = ""
	f.objects = append(f.objects, operator, values)
	for name, status := range statuses {
		vs := objects.NewVectorSidecar(name, "shop").Selecting("logs", "vector").Build()
		status.Revision, status.Previous, status.RevertedFrom = revisions[status.Revision], revisions[status.Previous], revisions[status.RevertedFrom]
		vs.Status.Rollout = &status
		f.objects = append(f.objects, vs)
	}
	return f
}

// start returns the plugin on the cluster.
func (f *undoFleet) start(t *testing.T) (plugin *app, stdout, stderr *bytes.Buffer) {
	t.Helper()
	t.Setenv("KUBECONFIG", os.DevNull)
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return f.app(t, stdout, stderr), stdout, stderr
}

// undone runs the plugin and returns the annotation that it has set.
func (f *undoFleet) undone(t *testing.T, arguments ...string) (out, notes, annotation string, code int) {
	t.Helper()
	app, stdout, stderr := f.start(t)
	code = app.run(t.Context(), append([]string{"rollout"}, arguments...))
	var values corev1.ConfigMap
	require.NoError(t, app.cluster.Get(t.Context(), client.ObjectKey{Namespace: "vector-system", Name: "values"}, &values))
	return stdout.String(), stderr.String(), values.Annotations[meta.AnnotationUndoRollout], code
}

var finishedOnce = metav1.NewTime(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC))

// halted are the statuses after two revisions have failed in a row.
func halted() map[string]v1alpha1.RolloutStatus {
	return map[string]v1alpha1.RolloutStatus{
		"canary": {Wave: "canary", Revision: "c", Previous: "a", State: v1alpha1.RolloutHalted, FailedRevision: "c", FailedWorkloads: 2},
		"stale":  {Wave: "canary", Revision: "c", Previous: "b", State: v1alpha1.RolloutHalted},
		"added":  {Wave: "canary", Revision: "c", State: v1alpha1.RolloutHalted},
		"first":  {Wave: "default", Revision: "a", CompletionTime: &finishedOnce, State: v1alpha1.RolloutHalted},
		"second": {Wave: "default", Revision: "b", CompletionTime: &finishedOnce, State: v1alpha1.RolloutHalted},
	}
}

// The command lists which VectorSidecars change to which revision, before it asks for confirmation and with --dry-run.
func TestUndo_PrintsChangesBeforeWriting(t *testing.T) {
	f := newUndoFleet(t, nil, halted())
	preview := "3 VectorSidecars: from revision " + f.c + " to " + f.a + "\n" +
		`  development.yaml sidecar.image: "registry.example/vector:c" -> "registry.example/vector:a"` + "\n" +
		"2 other VectorSidecars stay unchanged\nof these, VectorSidecars that stay with failed revision " + f.b + ": 1; name another revision with --to-revision\n"
	out, notes, annotation, code := f.undone(t, "undo", "--dry-run")
	require.Zero(t, code, notes)
	require.Equal(t, preview+"configmap/values annotated (dry run): revision "+f.c+" is undone\n", out)
	require.Empty(t, annotation)

	out, notes, annotation, code = f.undone(t, "undo")
	require.Equal(t, 2, code)
	require.Equal(t, preview, out)
	require.Contains(t, notes, "3 VectorSidecars would change); confirm with --yes, or preview with --dry-run")
	require.Empty(t, annotation, "nobody was asked")

	out, notes, annotation, code = f.undone(t, "undo", "--yes")
	require.Zero(t, code, notes)
	require.Equal(t, preview+"configmap/values annotated: revision "+f.c+" is undone\n", out)
	require.Regexp(t, "^"+f.c+"@2", annotation)

	out, _, annotation, code = f.undone(t, "undo", "--yes", "--to-revision", f.b)
	require.Zero(t, code)
	require.Contains(t, out, "3 VectorSidecars: from revision "+f.c+" to "+f.b)
	require.Contains(t, out, "1 VectorSidecar: from revision "+f.a+" to "+f.b)
	require.Contains(t, out, "revision "+f.b+" has failed (Halted since 2026-11-23T12:00:00Z)\n")
	require.Equal(t, f.c+"/"+f.b, annotation, "a failed revision only by name")
}

// The output counts a ClusterVectorSidecar once in each wave in which it has namespaces, because its revision can
// differ between waves.
func TestUndo_CountsClusterVectorSidecarsByWave(t *testing.T) {
	f := newUndoFleet(t, nil, nil)
	for name, waves := range map[string][]v1alpha1.RolloutStatus{
		"all": {
			{Wave: "canary", Revision: f.c, Previous: f.a, State: v1alpha1.RolloutHalted, FailedRevision: f.c, FailedWorkloads: 2},
			{Wave: "default", Revision: f.a, CompletionTime: &finishedOnce, State: v1alpha1.RolloutHalted},
		},
		"added": {{Wave: "canary", Revision: f.c, State: v1alpha1.RolloutHalted}},
		"alone": {{Wave: "default", Revision: f.c, Previous: f.b, State: v1alpha1.RolloutHalted}},
	} {
		object := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: name}}
		object.Status.Waves = waves
		f.objects = append(f.objects, object)
	}
	out, notes, _, code := f.undone(t, "undo", "--dry-run")
	require.Zero(t, code, notes)
	require.Contains(t, out, "3 VectorSidecars: from revision "+f.c+" to "+f.a+"\n", "that of the wave default has finished the first revision")
	require.Contains(t, out, "1 other VectorSidecar stays unchanged\n")
	out, notes, _, code = f.undone(t, "undo", "clustervectorsidecar/added", "--dry-run")
	require.Zero(t, code, notes)
	require.Contains(t, out, "1 VectorSidecar: from revision "+f.c+" to "+f.a+"\n")
}

// After undo --to-revision, all VectorSidecars have that revision. An undo of one VectorSidecar then returns it to the
// revision before.
func TestUndo_RevertsOneSidecarAfterUndoToRevision(t *testing.T) {
	f := newUndoFleet(t, nil, nil)
	f = newUndoFleet(t, map[string]string{meta.AnnotationUndoRollout: f.c + "/" + f.b}, map[string]v1alpha1.RolloutStatus{
		"first":  {Wave: "canary", Revision: "b", Previous: "a", CompletionTime: &finishedOnce},
		"second": {Wave: "default", Revision: "b", Previous: "a", CompletionTime: &finishedOnce},
	})
	app, out, notes := f.start(t)
	require.Zero(t, app.run(t.Context(), []string{"rollout", "undo", "first", "-n", "shop", "--yes"}), notes)
	require.Contains(t, out.String(), "1 VectorSidecar: from revision "+f.b+" to "+f.a+"\n")
	vs := &v1alpha1.VectorSidecar{}
	require.NoError(t, app.cluster.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "first"}, vs))
	require.Equal(t, f.b, vs.Annotations[meta.AnnotationUndoRollout])
}

// The output lists VectorSidecars that the undo does not change, and those that have already reverted.
func TestUndo_ListsUnchangedAndRevertedVectorSidecars(t *testing.T) {
	status := func(is v1alpha1.RolloutStatus) map[string]v1alpha1.RolloutStatus {
		return map[string]v1alpha1.RolloutStatus{"logs": is}
	}
	for name, test := range map[string]struct {
		statuses map[string]v1alpha1.RolloutStatus
		want     string
	}{
		"nobody has an earlier one": {status(v1alpha1.RolloutStatus{Wave: "canary", Revision: "c"}), "VectorSidecars that stay at revision C, because no earlier revision without failures is stored: shop/logs\n"},
		"only a failed one":         {status(v1alpha1.RolloutStatus{Wave: "canary", Revision: "c", Previous: "b"}), "VectorSidecars that stay at revision C"},
		"all have returned": {
			status(v1alpha1.RolloutStatus{Wave: "canary", Revision: "a", RevertedFrom: "c", State: v1alpha1.RolloutReverted}),
			"all VectorSidecars that had revision C have already reverted: the undo only prevents that it starts again\n1 other VectorSidecar stays unchanged\n",
		},
		"one has returned, one stays": {
			map[string]v1alpha1.RolloutStatus{
				"back": {Wave: "default", Revision: "b", RevertedFrom: "c", State: v1alpha1.RolloutReverted}, "logs": {Wave: "canary", Revision: "c"},
			},
			"no VectorSidecar changes: the undo only prevents that revision C starts\nVectorSidecars that stay at revision C, because no earlier revision without failures is stored: shop/logs\n",
		},
		"nobody has it yet": {status(v1alpha1.RolloutStatus{Wave: "default", Revision: "a", CompletionTime: &finishedOnce}), "no VectorSidecar changes: the undo only prevents that revision C starts\n"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newUndoFleet(t, nil, test.statuses)
			out, notes, annotation, code := f.undone(t, "undo", "--yes")
			require.Zero(t, code, notes)
			require.Contains(t, strings.ReplaceAll(out, f.c, "C"), test.want)
			require.Regexp(t, "^"+f.c+"@", annotation)
		})
	}
}

// A repeated undo changes nothing.
func TestUndo_IsIdempotent(t *testing.T) {
	f := newUndoFleet(t, nil, nil)
	returned := map[string]v1alpha1.RolloutStatus{"canary": {Wave: "canary", Revision: "a", RevertedFrom: "c", CompletionTime: &finishedOnce, State: v1alpha1.RolloutReverted}}
	for name, annotation := range map[string]string{"returned": f.c + "@2026-11-23T12:00:00Z", "written by hand": f.c, "to a revision": f.c + "/" + f.a} {
		t.Run(name, func(t *testing.T) {
			f := newUndoFleet(t, map[string]string{meta.AnnotationUndoRollout: annotation}, returned)
			out, notes, now, code := f.undone(t, "undo", "--yes")
			require.Zero(t, code, notes)
			require.Equal(t, "revision "+f.c+" is already undone; nothing changes\n", out)
			require.Equal(t, annotation, now)
		})
	}

	// One that a user has retried since has the revision again.
	retried := map[string]v1alpha1.RolloutStatus{"canary": {Wave: "canary", Revision: "c", Previous: "a", State: v1alpha1.RolloutProgressing}}
	f = newUndoFleet(t, map[string]string{meta.AnnotationUndoRollout: f.c + "@2026-11-23T12:00:00Z"}, retried)
	out, _, now, _ := f.undone(t, "undo", "--yes")
	require.Contains(t, out, "1 VectorSidecar: from revision "+f.c+" to "+f.a)
	require.NotContains(t, now, "2026-11-23T12:00:00Z")
}

// A user without permission to list VectorSidecars can undo a revision.
func TestUndo_WorksWithoutListPermission(t *testing.T) {
	f := newUndoFleet(t, nil, halted())
	f.fault = func(kind string, key client.ObjectKey) error {
		if kind == "vectorsidecars" && key.Namespace == "" && key.Name == "" {
			return apierrors.NewForbidden(schema.GroupResource{Resource: kind}, "", errors.New("no right"))
		}
		return nil
	}
	out, notes, _, code := f.undone(t, "undo")
	require.Equal(t, 2, code)
	require.Equal(t, "VectorSidecars not read\n", out)
	require.Contains(t, notes, "--yes")
	out, notes, annotation, code := f.undone(t, "undo", "--yes")
	require.Zero(t, code, notes)
	require.Contains(t, out, "revision "+f.c+" is undone\n")
	require.Regexp(t, "^"+f.c+"@", annotation)
}

// After an undo, promote and undo --to-revision reject the undone revision until a user runs rollout retry.
func TestUndo_BlocksPromotionOfUndoneRevision(t *testing.T) {
	f := newUndoFleet(t, nil, nil)
	f = newUndoFleet(t, map[string]string{meta.AnnotationUndoRollout: f.c + "@2026-11-23T12:00:00Z"}, halted())
	for _, arguments := range [][]string{{"promote", "canary"}, {"promote", "vectorsidecar/first", "-n", "shop"}, {"undo", "--to-revision", f.c}} {
		_, notes, annotation, code := f.undone(t, arguments...)
		require.Equal(t, 2, code)
		require.Contains(t, notes, "revision "+f.c+" is undone; run kubectl vectorsidecar rollout retry to start it again")
		require.NotEmpty(t, annotation)
	}
	out, _, _, _ := f.undone(t, "status")
	require.Contains(t, out, "revision "+f.c+" is undone; run kubectl vectorsidecar rollout retry to start it again\n")
	out, notes, annotation, code := f.undone(t, "retry", "--dry-run")
	require.Zero(t, code, notes)
	require.Contains(t, out, "annotated (dry run): revision "+f.c+" continues")
	require.NotEmpty(t, annotation)
	_, _, annotation, code = f.undone(t, "retry")
	require.Zero(t, code)
	require.Empty(t, annotation, "a retry ends the undo")
	out, _, _, _ = f.undone(t, "history")
	require.Regexp(t, f.b+` .* failed \(Halted since 2026-11-23T12:00:00Z\)\n`, out)
	require.Regexp(t, f.c+` .* present\n`, out)
}

// An undo of one VectorSidecar returns it to its previous revision, and others stay.
func TestUndo_RevertsOneVectorSidecar(t *testing.T) {
	f := newUndoFleet(t, nil, halted())
	out, notes, annotation, code := f.undone(t, "undo", "stale", "-n", "shop", "--yes")
	require.Zero(t, code, notes)
	require.Contains(t, out, "1 VectorSidecar: from revision "+f.c+" to "+f.a)
	require.Contains(t, out, "vectorsidecar/stale annotated: revision "+f.c+" is undone\n")
	require.Empty(t, annotation)

	alone := newUndoFleet(t, nil, map[string]v1alpha1.RolloutStatus{"logs": {Wave: "canary", Revision: "c", Previous: "b"}})
	_, notes, _, code = alone.undone(t, "undo", "logs", "-n", "shop", "--yes")
	require.Equal(t, 2, code)
	require.Contains(t, notes, "VectorSidecar shop/logs has no earlier revision without failures to return to")
}

// With --dry-run, each subcommand of rollout prints its change and writes nothing.
func TestRollout_WritesNothingWithDryRun(t *testing.T) {
	f := newUndoFleet(t, nil, halted())
	for _, arguments := range [][]string{
		{"pause"}, {"resume"}, {"pause", "first"}, {"resume", "first"}, {"promote", "canary"}, {"promote", "vectorsidecar/first"},
		{"retry"}, {"retry", "vectorsidecar/first"}, {"undo"}, {"undo", "stale"}, {"undo", "--to-revision", f.b}, {"undo", "first", "--to-revision", f.c},
	} {
		app, out, notes := f.start(t)
		before := f.versions(t, app)
		require.Zero(t, app.run(t.Context(), slices.Concat([]string{"rollout"}, arguments, []string{"-n", "shop", "--dry-run"})), "%v: %s", arguments, notes)
		require.Contains(t, out.String(), "(dry run): ", arguments)
		require.Equal(t, before, f.versions(t, app), arguments)
	}
}

// versions are the resource versions of what rollout commands write.
func (f *undoFleet) versions(t *testing.T, app *app) map[string]string {
	t.Helper()
	versions := map[string]string{}
	var values corev1.ConfigMapList
	var sidecars v1alpha1.VectorSidecarList
	require.NoError(t, errors.Join(app.cluster.List(t.Context(), &values), app.cluster.List(t.Context(), &sidecars)))
	for i := range values.Items {
		versions[values.Items[i].Name] = values.Items[i].ResourceVersion
	}
	for i := range sidecars.Items {
		versions[sidecars.Items[i].Name] = sidecars.Items[i].ResourceVersion
	}
	return versions
}
