// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"context"
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
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// faulty fails to read some objects, "KIND/NAME" or a whole "KIND".
type faulty struct {
	client.Reader

	faults map[string]error
}

func (f *faulty) fault(kind, name string) error {
	if err := f.faults[kind+"/"+name]; err != nil {
		return err
	}
	return f.faults[kind]
}

func (f *faulty) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	kind := "Namespace"
	if _, is := into.(*corev1.ConfigMap); is {
		kind = "ConfigMap"
	}
	if err := f.fault(kind, key.Name); err != nil {
		return err
	}
	return f.Reader.Get(ctx, key, into, options...)
}

func (f *faulty) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	if _, is := into.(*corev1.ConfigMapList); is && f.faults["ConfigMap"] != nil {
		return f.faults["ConfigMap"]
	}
	return f.Reader.List(ctx, into, options...)
}

var (
	forbidden = apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "one", nil)
	timedOut  = apierrors.NewTimeoutError("the API server is busy", 1)
)

// taker returns a Taker that reads objects, some of which fail.
func taker(t *testing.T, faults map[string]error, there ...client.Object) *source.Snapshotter {
	t.Helper()
	chart, err := render.LoadChart(vectorsidecar.FS)
	require.NoError(t, err)
	w := source.NewObjectOverlay(nil)
	for _, object := range there {
		w.Put(object)
	}
	return &source.Snapshotter{
		Source: source.Reader{Reader: &faulty{Reader: w, faults: faults}}, Platform: desired.NewPlatform(chart, "", nil),
		Settings: desired.Settings{DefaultEnvironment: "development", KubeVersion: "v1.36.0"},
	}
}

func decide(t *testing.T, from *source.Snapshotter, sidecar *v1alpha1.VectorSidecar) (*decision.Decision, error) {
	t.Helper()
	observed, err := from.Observe(t.Context(), sidecar)
	if err != nil {
		return nil, err
	}
	return decision.Decide(t.Context(), observed, nil)
}

func cart() client.Object {
	return objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Build()
}

func logs() *objects.VectorSidecar {
	return objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector")
}

// If a read fails for another reason than a missing object, the snapshot fails. The object is not treated as missing.
func TestObserve_FailsIfObjectIsUnreadable(t *testing.T) {
	for name, test := range map[string]struct {
		sidecar *objects.VectorSidecar
		what    string
	}{
		"the ConfigMap that the values refer to": {logs().WithConfigMap("shipping", "vector.yaml"), "ConfigMap/shipping"},
		"the namespace's defaults":               {logs(), "ConfigMap/" + meta.NamespaceDefaults},
		"a ConfigMap of the rendered name":       {logs(), "ConfigMap/vectorsidecar-logs"},
		"all ConfigMaps":                         {logs(), "ConfigMap"},
	} {
		for _, fault := range []error{forbidden, timedOut} {
			t.Run(name+", "+string(apierrors.ReasonForError(fault)), func(t *testing.T) {
				what := test.what
				if name == "a ConfigMap of the rendered name" {
					decided, err := decide(t, taker(t, nil, cart()), test.sidecar.Build())
					require.NoError(t, err)
					what = "ConfigMap/" + decided.Companions[0].Name
				}
				_, err := decide(t, taker(t, map[string]error{what: fault}, cart()), test.sidecar.Build())
				require.ErrorIs(t, err, fault)
			})
		}
	}
}

// The user may not read the labels of the namespace. The environment is taken from the status that the operator wrote.
func TestObserve_ReadsEnvironmentFromStatusIfForbidden(t *testing.T) {
	reported := logs().Build()
	reported.Status.Environment = "production"
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{meta.LabelEnvironment: "staging"}}}
	unseen := map[string]error{"Namespace": forbidden}
	for name, test := range map[string]struct {
		sidecar *v1alpha1.VectorSidecar
		faults  map[string]error
		assumed string
		want    string
		from    string
	}{
		"labels that are read":                      {sidecar: reported, want: "staging", from: "the label of namespace shop"},
		"labels that are not":                       {sidecar: reported, faults: unseen, want: "production", from: "the status of VectorSidecar logs"},
		"nor is there a status":                     {sidecar: logs().Build(), faults: unseen, want: "development", from: "an assumption"},
		"the VectorSidecar names one":               {sidecar: logs().InEnvironment("staging").Build(), faults: unseen, want: "staging", from: "spec.environment"},
		"a label in the place of what is assumed":   {sidecar: reported, assumed: "x", want: "staging", from: "the label of namespace shop"},
		"a status, labels and a default of no sort": {sidecar: reported, faults: unseen, assumed: "x", want: "production", from: "the status of VectorSidecar logs"},
	} {
		t.Run(name, func(t *testing.T) {
			from := taker(t, test.faults, cart(), namespace)
			from.DefaultAssumed = test.assumed
			decided, err := decide(t, from, test.sidecar)
			require.NoError(t, err)
			require.Equal(t, test.want, decided.Environment)
			require.Contains(t, decided.EnvironmentFrom, test.from)
		})
	}
}

// A timeout while the labels of the namespace are read is an error.
func TestObserve_FailsOnTimeoutOfNamespaceRead(t *testing.T) {
	_, err := decide(t, taker(t, map[string]error{"Namespace": timedOut}, cart()), logs().Build())
	require.ErrorIs(t, err, timedOut)
}

// The spec of a VectorSidecar was reverted. Snapshots for itself, and for other VectorSidecars of the namespace,
// contain its last known good spec.
func TestObserve_UsesLastKnownGoodSpecAfterRevert(t *testing.T) {
	failed := logs().Sidecar(func(s *v1alpha1.SidecarSpec) { s.LogLevel = "warn" }).Build()
	failed.CreationTimestamp = metav1.NewTime(time.Unix(1, 0))
	failed.Status.LastKnownGood = &v1alpha1.LastKnownGoodSpec{Digest: "good", Spec: `{"environment":"staging","sidecar":{"logLevel":"info"}}`}
	failed.Status.Reverted = &v1alpha1.RevertedSpec{Digest: lastgood.Digest(&failed.Spec)}

	observed, err := taker(t, nil, cart()).Observe(t.Context(), failed)
	require.NoError(t, err)
	require.Equal(t, "info", observed.Sidecar.Spec.Sidecar.LogLevel)
	require.Equal(t, "warn", failed.Spec.Sidecar.LogLevel)
	decided, err := decide(t, taker(t, nil, cart()), failed)
	require.NoError(t, err)
	require.Equal(t, "staging", decided.Environment)

	other := objects.NewVectorSidecar("other", "shop").Selecting("logs", "vector").Build()
	observed, err = taker(t, nil, cart(), failed).Observe(t.Context(), other)
	require.NoError(t, err)
	require.Len(t, observed.Others, 1)
	require.Equal(t, "info", observed.Others[0].Spec.Sidecar.LogLevel)
}

// counting counts the ConfigMaps that are read.
type counting struct {
	source.Source

	read []string
}

func (c *counting) GetConfigMap(ctx context.Context, name types.NamespacedName) (*corev1.ConfigMap, error) {
	c.read = append(c.read, name.Name)
	return c.Source.GetConfigMap(ctx, name)
}

// The defaults of the namespace name a ConfigMap, and its copy needs a free name. These objects are read one after the
// other, each once.
func TestObserve_ReadsEachReferenceOnce(t *testing.T) {
	policy := map[string]string{desired.PolicyKey: "overrides: {namespaces: [sidecar.config]}"}
	defaults := objects.NewConfigMap(meta.NamespaceDefaults, "shop", meta.NamespaceDefaultsKey, "sidecar: {config: {configMapRef: {name: shipping, key: vector.yaml}}}")
	shipping := objects.NewConfigMap("shipping", "shop", "vector.yaml", objects.VectorConfig("one"))
	from := taker(t, nil, cart(), defaults, shipping)
	reader := &counting{Source: from.Source}
	from.Source = reader
	files, err := render.ReadFiles(vectorsidecar.FS)
	require.NoError(t, err)
	catalog, err := desired.NewCatalog(files)
	require.NoError(t, err)
	from.Platform, _ = catalog.Update(&corev1.ConfigMap{Data: policy}, nil)
	observed, err := from.Observe(t.Context(), logs().Build())
	require.NoError(t, err)
	require.Empty(t, reader.read, "the decision reads them")
	taken := observed

	decided, err := decision.Decide(t.Context(), taken, nil)

	require.NoError(t, err)
	require.Nil(t, decided.Invalid)
	require.Equal(t, "shipping", decided.ReferencedConfigMap)
	require.Equal(t, []string{meta.NamespaceDefaults, "shipping", decided.Companions[0].Name}, reader.read)
	require.Subset(t, decided.ConfigMaps(), reader.read)

	again, err := decision.Decide(t.Context(), taken, nil)
	require.NoError(t, err)
	require.Equal(t, decided, again)
	require.Len(t, reader.read, 3, "the content stays the same")
}
