// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// publishedFleet is an installation with waves, the record and the revision that its operator has published, and a
// VectorSidecar that has finished this revision.
type publishedFleet struct {
	values, set *corev1.ConfigMap
	platform    *desired.Platform
	// withoutRevision leaves out the stored revision, and withoutRecord the record.
	withoutRevision, withoutRecord bool
}

const brokenTemplate = "{{ if }}\n"

// newPublishedFleet has a good template set first, and then what change makes of the installation.
func newPublishedFleet(t *testing.T, change func(*publishedFleet)) *publishedFleet {
	t.Helper()
	f := &publishedFleet{
		values: objects.NewConfigMap("values", "vector-system", "development.yaml", "templateSet: own\n"),
		set:    objects.NewConfigMap("templates-own", "vector-system", "values.yaml", ""),
	}
	f.values.Data[desired.RolloutKey] = "waves: [{name: canary, environments: [staging]}]\nhalt: {}"
	f.set.Labels = map[string]string{meta.LabelTemplateSet: "own"}
	f.set.Data = map[string]string{"values__development.yaml": "sidecar: {logLevel: trace}\n"}
	f.set.ResourceVersion = "1"
	catalog, err := newCatalog(vectorsidecar.FS)
	require.NoError(t, err)
	f.platform, _ = catalog.Update(f.values.DeepCopy(), []corev1.ConfigMap{*f.set.DeepCopy()})
	require.False(t, f.platform.LacksValidVersion())
	change(f)
	f.values.ResourceVersion, f.set.ResourceVersion = "2", "2"
	f.platform, _ = catalog.Update(f.values.DeepCopy(), []corev1.ConfigMap{*f.set.DeepCopy()})
	return f
}

func (f *publishedFleet) cluster(t *testing.T, fault func(kind string, key client.ObjectKey) error) *cluster {
	t.Helper()
	installation := types.NamespacedName{Namespace: "vector-system", Name: "values"}
	record := f.platform.Publication(nil, metav1.NewTime(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC))).ConfigMap(installation)
	content, err := f.platform.StoredContent(t.Context())
	require.NoError(t, err)
	parts, whole, err := content.Records("vector-system", "values", 1)
	require.NoError(t, err)
	operator := objects.NewDeployment("vso", "vector-system").Labeled("app.kubernetes.io/component", "operator").Build()
	operator.Spec.Template.Spec.Containers[0].Args = []string{"--environments-configmap=values", "--environment=development"}
	vs := objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Build()
	finished := metav1.NewTime(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC))
	vs.Status.Rollout = &v1alpha1.RolloutStatus{Wave: "default", Revision: f.platform.Revision, State: v1alpha1.RolloutComplete, CompletionTime: &finished}
	values, set := f.values.DeepCopy(), f.set.DeepCopy()
	values.ResourceVersion, set.ResourceVersion = "", ""
	made := &cluster{fault: fault, objects: []client.Object{operator, values, set, vs, objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Build()}}
	if !f.withoutRecord {
		made.objects = append(made.objects, record)
	}
	if !f.withoutRevision {
		for i := range parts {
			made.objects = append(made.objects, &parts[i])
		}
		made.objects = append(made.objects, whole)
	}
	return made
}

// If a ConfigMap of the installation cannot be loaded, the operator publishes its last known good version. So rollout
// shows the revision that the operator recorded, and does not compute one from the ConfigMaps.
func TestRollout_ShowsPublishedRevision(t *testing.T) {
	breakSet := func(f *publishedFleet) { f.set.Data["templates__pod.yaml"] = brokenTemplate }
	for name, test := range map[string]struct {
		change func(*publishedFleet)
		fault  string
	}{
		"all is loaded":             {func(*publishedFleet) {}, ""},
		"a template set is broken":  {breakSet, `template set "own" cannot be loaded; its last known good version is in use: `},
		"the policy is broken":      {func(f *publishedFleet) { f.values.Data[desired.PolicyKey] = "imagess: {}" }, "policy cannot be loaded; its last known good version is in use: "},
		"the rollout is broken":     {func(f *publishedFleet) { f.values.Data[desired.RolloutKey] = "wavess: []" }, "rollout cannot be loaded; its last known good version is in use: "},
		"its content is not stored": {func(f *publishedFleet) { breakSet(f); f.withoutRevision = true }, `template set "own" cannot be loaded`},
		"a helper is not closed":    {func(f *publishedFleet) { f.set.Data = map[string]string{"_x.tpl": "{{ define \"a\" }}"} }, `template set "own" cannot be loaded`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newPublishedFleet(t, test.change)
			revision := f.platform.Revision
			out, notes, code := f.cluster(t, nil).runOutside(t, "rollout", "status")
			require.Zero(t, code, notes)
			require.Regexp(t, "^revision "+revision+"(; .* broken)?\n", out)
			require.Contains(t, out, test.fault)
			require.Regexp(t, `default +1/1 `, out)

			out, notes, code = f.cluster(t, nil).runOutside(t, "rollout", "promote", "canary")
			require.Zero(t, code, notes)
			require.Contains(t, out, "revision "+revision+" continues")
			require.Contains(t, notes, test.fault)
			out, _, _ = f.cluster(t, nil).runOutside(t, "rollout", "retry")
			require.Contains(t, out, "revision "+revision+" continues")
			out, _, _ = f.cluster(t, nil).runOutside(t, "rollout", "promote", "vectorsidecar/logs", "-n", "shop")
			require.Contains(t, out, "revision "+revision+" starts without waiting for a wave")
			if !f.withoutRevision {
				out, _, _ = f.cluster(t, nil).runOutside(t, "rollout", "history")
				require.Regexp(t, revision+" .* present\n", out)
			}
		})
	}
}

// If the recorded revision cannot be read, the commands report this. They do not compute a revision from the ConfigMaps
// instead.
func TestRollout_ReportsUnreadableRevision(t *testing.T) {
	f := newPublishedFleet(t, func(*publishedFleet) {})
	forbidden := func(_ string, key client.ObjectKey) error {
		if key.Name == fleet.PublicationName(types.NamespacedName{Name: "values"}).Name {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, key.Name, errors.New("no right"))
		}
		return nil
	}
	for name, test := range map[string]struct {
		arguments []string
		want      string
		code      int
	}{
		"status":      {[]string{"status"}, "revision not read: reading ConfigMap vector-system/values-published: ", 0},
		"as JSON":     {[]string{"status", "-o", "json"}, `"revisionNotRead": "reading ConfigMap vector-system/values-published: `, 0},
		"history":     {[]string{"history"}, "revision not read: ", 0},
		"diff":        {[]string{"diff", f.platform.Revision}, "revision not read: ", 2},
		"promote":     {[]string{"promote", "canary"}, "revision not read: ", 2},
		"promote one": {[]string{"promote", "vectorsidecar/logs", "-n", "shop"}, "revision not read: ", 2},
		"undo":        {[]string{"undo"}, "revision not read: ", 2},
		"retry":       {[]string{"retry"}, "published revision (not read) continues", 0},
	} {
		t.Run(name, func(t *testing.T) {
			out, notes, code := f.cluster(t, forbidden).runOutside(t, append([]string{"rollout"}, test.arguments...)...)
			require.Equal(t, test.code, code, notes)
			require.Contains(t, out+notes, test.want)
			if name != "history" {
				require.NotContains(t, out, f.platform.Revision)
			}
		})
	}
	out, notes, _ := f.cluster(t, forbidden).run(t, "render", "cart")
	require.Contains(t, notes, "revision not read: ")
	require.Contains(t, out, "value: trace")
}

// If a template set cannot be loaded, previews use its last known good version, also with proposed values.
func TestNewPlan_UsesLastKnownGoodTemplateSet(t *testing.T) {
	f := newPublishedFleet(t, func(f *publishedFleet) { f.set.Data["templates__pod.yaml"] = brokenTemplate })
	fault := `template set "own" cannot be loaded; its last known good version is in use: `
	out, notes, code := f.cluster(t, nil).run(t, "render", "cart")
	require.Zero(t, code, notes)
	require.Contains(t, out, "value: trace")
	require.Contains(t, notes, fault)

	proposal := filepath.Join(t.TempDir(), "values.yaml")
	require.NoError(t, os.WriteFile(proposal, []byte("environment: development\ntemplateSet: own\nsidecar: {threads: 3}\n"), 0o600))
	out, notes, code = f.cluster(t, nil).run(t, "render", "cart", "--values", proposal)
	require.Zero(t, code, notes)
	require.Contains(t, out, "value: trace", "the published set")
	require.Contains(t, out, "VECTOR_THREADS", "with the proposed values")

	// Without waves the operator stores no revision, so a preview cannot have the version in use.
	f = newPublishedFleet(t, func(f *publishedFleet) {
		f.set.Data["templates__pod.yaml"], f.values.Data[desired.RolloutKey], f.withoutRevision = brokenTemplate, "", true
	})
	_, notes, _ = f.cluster(t, nil).run(t, "render", "cart")
	require.Contains(t, notes, fault)
}
