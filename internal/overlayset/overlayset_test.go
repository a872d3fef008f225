// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package overlayset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// part is a VectorSidecar's with native containers, volumes and ports of these names.
func part(name string, natives, volumes, ports []string) SidecarOverlays {
	one := newOverlay(name)
	one.ID, one.InitNames, one.VolumeNames, one.Ports = name+"/0", natives, volumes, ports
	overlays := SidecarOverlays{Overlays: []v1alpha1.Overlay{one}}
	for _, native := range natives {
		overlays.Items.Native = append(overlays.Items.Native, v1alpha1.OverlayItem{OverlayID: one.ID, Item: runtime.RawExtension{Raw: []byte(`{"name":"` + native + `"}`)}})
	}
	return overlays
}

// withAnnotation gives the sidecar of a part an annotation of the pods.
func withAnnotation(of SidecarOverlays, key string) SidecarOverlays {
	of.Overlays[0].AnnotationKeys = []string{key}
	of.Items.PodAnnotations = overlayAnnotations(of.Overlays[0].ID, map[string]string{key: "true"})
	return of
}

// telling has the application told of the sidecar of a part.
func telling(of SidecarOverlays) SidecarOverlays {
	of.Items.ApplicationEnv = convertInjections(of.Overlays[0].ID, []workload.EnvInjection{{Containers: []string{"*"}, Name: "ADDRESS", Value: "{name}"}})
	return of
}

// Environment variables for the application change the digest of an overlay, and are part of the tested pod template.
// They do not change the sidecar's hash, so pods are not restarted for them.
func TestConvertOverlay_IncludesEnvInjections(t *testing.T) {
	offer := func(tells ...workload.EnvInjection) *desired.AdmissionOverlay {
		overlay := &workload.Overlay{EnvInjections: tells}
		return &desired.AdmissionOverlay{Rendered: &desired.Rendered{Overlay: overlay, Desired: plan.NewDesired(overlay, "logs", "vector", "", plan.Notes{})}}
	}
	tell := workload.EnvInjection{Containers: []string{"*"}, Name: "ADDRESS", Value: "any"}
	silent, one := convertOverlay("logs", offer()), convertOverlay("logs", offer(tell))
	require.Empty(t, silent.InjectedEnvKey)
	require.Equal(t, meta.AnnotationInjectedEnv("vectorsidecar/logs"), one.InjectedEnvKey)
	require.NotEqual(t, silent.Digest, one.Digest)
	require.Equal(t, silent.Hash, one.Hash, "pods are not restarted for it")
	template := newTestTemplate(offer(tell).Rendered.Overlay, &one)
	require.Equal(t, []corev1.EnvVar{{Name: "ADDRESS", Value: "any"}}, template.Spec.Containers[0].Env)
}

func annotated(key, value string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{key: value}}}
}

func left(name string) SidecarOverlays {
	return SidecarOverlays{Overlays: []v1alpha1.Overlay{newSkipped(name, nil, nil, "a reason")}}
}

// sidecars are VectorSidecars, the oldest first.
func sidecars(names ...string) []v1alpha1.VectorSidecar {
	var all []v1alpha1.VectorSidecar
	for i, name := range names {
		all = append(all, v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(int64(i), 0)}})
	}
	return all
}

// yieldsOf are those of each VectorSidecar.
func yieldsOf(spec *v1alpha1.OverlaySetSpec) map[string][]string {
	found := map[string][]string{}
	for i := range spec.Overlays {
		found[spec.Overlays[i].VectorSidecar] = spec.Overlays[i].Supersedes
	}
	return found
}

// Two overlays conflict. The API server injects that of the older VectorSidecar.
func TestCompose_SupersedesYoungerOverlayOnConflict(t *testing.T) {
	for name, test := range map[string]struct {
		older, younger SidecarOverlays
		want           []string
	}{
		"nothing in common":                {part("a", []string{"x"}, []string{"v"}, []string{"1/TCP"}), part("b", []string{"y"}, []string{"w"}, []string{"1/UDP"}), []string{}},
		"a container":                      {part("a", []string{"x"}, nil, nil), part("b", []string{"x"}, nil, nil), []string{"a"}},
		"a volume":                         {part("a", nil, []string{"v"}, nil), part("b", nil, []string{"v"}, nil), []string{"a"}},
		"a port":                           {part("a", nil, nil, []string{"1/TCP"}), part("b", nil, nil, []string{"1/TCP"}), []string{"a"}},
		"an annotation":                    {withAnnotation(part("a", nil, nil, nil), "k"), withAnnotation(part("b", nil, nil, nil), "k"), []string{"a"}},
		"annotations of other names":       {withAnnotation(part("a", nil, nil, nil), "k"), withAnnotation(part("b", nil, nil, nil), "l"), []string{}},
		"one that only the operator knows": {left("a"), part("b", nil, nil, nil), []string{"a"}},
	} {
		composed := Compose(sidecars("a", "b"), nil, map[string]SidecarOverlays{"a": test.older, "b": test.younger})
		require.Equal(t, map[string][]string{"a": {}, "b": test.want}, yieldsOf(&composed), name)
	}
}

// The overlay of an older VectorSidecar is not known yet. Until then, the younger ones are not injected at admission.
func TestCompose_WaitsForUnknownOlderVectorSidecar(t *testing.T) {
	parts := map[string]SidecarOverlays{"a": part("a", nil, nil, nil), "c": part("c", nil, nil, nil)}
	composed := Compose(sidecars("a", "b", "c"), nil, parts)
	require.Equal(t, map[string][]string{"a": {}}, yieldsOf(&composed))
	parts["b"] = left("b")
	composed = Compose(sidecars("a", "b", "c"), nil, parts)
	require.Equal(t, map[string][]string{"a": {}, "b": {}, "c": {"b"}}, yieldsOf(&composed))
}

// VectorSidecars of the namespace take precedence over ClusterVectorSidecars. If a ClusterVectorSidecar names one of
// them in takesPrecedenceOver, and both conflict, the ClusterVectorSidecar takes precedence.
func TestCompose_OrdersClusterVectorSidecars(t *testing.T) {
	all := sidecars("clustervectorsidecar/x", "a", "clustervectorsidecar/y", "b")
	scopes := desired.ParentScopes{}
	parts := map[string]SidecarOverlays{}
	for i := range all {
		parts[all[i].Name] = part(all[i].Name, []string{"vector"}, nil, nil)
	}
	order := func() (names []string) {
		decision.SortByPrecedence(all, scopes)
		composed := Compose(all, scopes, parts)
		for i := range composed.Overlays {
			names = append(names, composed.Overlays[i].VectorSidecar)
		}
		require.Equal(t, composed, Compose(all, scopes, SplitBySidecar(&composed)))
		return names
	}
	yields := func() map[string][]string { composed := Compose(all, scopes, parts); return yieldsOf(&composed) }
	require.Equal(t, []string{"a", "b", "clustervectorsidecar/x", "clustervectorsidecar/y"}, order())
	require.Equal(t, map[string][]string{
		"a": {}, "b": {"a"}, "clustervectorsidecar/x": {"a", "b"}, "clustervectorsidecar/y": {"a", "b", "clustervectorsidecar/x"},
	}, yields())

	scopes["clustervectorsidecar/x"] = desired.ParentScope{ClusterScope: v1alpha1.ClusterScope{TakesPrecedenceOver: []string{"a"}}}
	require.Equal(t, []string{"b", "clustervectorsidecar/x", "a", "clustervectorsidecar/y"}, order())
	require.Equal(t, map[string][]string{
		"a": {"clustervectorsidecar/x"}, "b": {"a"}, "clustervectorsidecar/x": {"b"}, "clustervectorsidecar/y": {"b", "clustervectorsidecar/x", "a"},
	}, yields())

	delete(parts, "clustervectorsidecar/x")
	require.Equal(t, []string{"b"}, order(), "who comes after one that is not known waits")
	parts["clustervectorsidecar/x"] = left("clustervectorsidecar/x")
	require.Equal(t, []string{"clustervectorsidecar/x"}, yields()["a"], "nobody but the operator knows what it adds")
}

// After a restart, the operator reads the overlay of each VectorSidecar from the OverlaySet.
func TestSplitBySidecar_RestoresComposedOverlays(t *testing.T) {
	names := sidecars("a", "b", "c")
	composed := Compose(names, nil, map[string]SidecarOverlays{
		"a": telling(part("a", []string{"vector", "gate"}, []string{"v"}, nil)), "b": left("b"),
		"c": telling(withAnnotation(part("c", []string{"other"}, nil, nil), "team.example.com/agent")),
	})
	require.Equal(t, []v1alpha1.OverlayApplicationEnv{
		{OverlayID: "a/0", Containers: []string{"*"}, Name: "ADDRESS", Value: "{name}"}, {OverlayID: "c/0", Containers: []string{"*"}, Name: "ADDRESS", Value: "{name}"},
	}, composed.ApplicationEnv, "the older one's first")
	require.Equal(t, []v1alpha1.OverlayAnnotation{{OverlayID: "c/0", Key: "team.example.com/agent", Path: "team.example.com~1agent", Value: "true"}}, composed.PodAnnotations)
	require.JSONEq(t, `{"name":"other"}`, string(composed.Native[0].Item.Raw), "the last one is put first, first")
	require.Equal(t, composed, Compose(names, nil, SplitBySidecar(&composed)))
}

// An overlay that is too large for an OverlaySet is skipped, and the operator injects it instead.
func TestCompose_SkipsOverlaysAboveLimits(t *testing.T) {
	names, parts := []string{}, map[string]SidecarOverlays{}
	for i := range mostOverlays + 1 {
		name := fmt.Sprintf("vs-%03d", i)
		names, parts[name] = append(names, name), part(name, []string{name}, nil, nil)
	}
	composed := Compose(sidecars(names...), nil, parts)
	require.Len(t, composed.Overlays, mostOverlays+1)
	require.Empty(t, composed.Overlays[mostOverlays-1].SkipReason)
	require.Contains(t, composed.Overlays[mostOverlays].SkipReason, "use all of the 100 overlays")

	large := part("large", []string{strings.Repeat("x", mostBytes)}, nil, nil)
	composed = Compose(sidecars("large"), nil, map[string]SidecarOverlays{"large": large})
	require.NotEmpty(t, composed.Overlays[0].SkipReason)
	require.Empty(t, composed.Native)
}

// Some fields are valid only in some pods. The API server does not inject a sidecar with them; the operator checks them
// for each workload.
func TestIncompatibility_ReportsPodDependentFields(t *testing.T) {
	body := func(container map[string]any) map[string]any {
		container["name"] = "vector"
		return map[string]any{"spec": map[string]any{"initContainers": []any{container}}}
	}
	for name, test := range map[string]struct {
		overlay workload.Overlay
		want    string
	}{
		"an ordinary one": {workload.Overlay{Body: body(map[string]any{"image": "vector:1", "restartPolicy": "Always", "lifecycle": map[string]any{"preStop": map[string]any{}}})}, ""},
		"resizePolicy":    {workload.Overlay{Body: body(map[string]any{"resizePolicy": []any{}})}, "resizePolicy"},
		"stopSignal":      {workload.Overlay{Body: body(map[string]any{"lifecycle": map[string]any{"stopSignal": "SIGTERM"}})}, "lifecycle.stopSignal"},
		"claims":          {workload.Overlay{Body: body(map[string]any{"resources": map[string]any{"claims": []any{}}})}, "resources.claims"},
		"windowsOptions":  {workload.Overlay{Body: body(map[string]any{"securityContext": map[string]any{"windowsOptions": map[string]any{}}})}, "securityContext.windowsOptions"},
		"hostPort":        {workload.Overlay{Body: body(map[string]any{"ports": []any{map[string]any{"containerPort": 1.0, "hostPort": 1.0}}})}, "ports.hostPort"},
		"fileKeyRef":      {workload.Overlay{Body: body(map[string]any{"env": []any{map[string]any{"name": "A", "valueFrom": map[string]any{"fileKeyRef": map[string]any{}}}}})}, "env.valueFrom.fileKeyRef"},
		"labels":          {workload.Overlay{Body: map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}}}, "labels of the pods"},
		"annotations":     {workload.Overlay{Template: annotated("a", "b")}, ""},
		"long ones":       {workload.Overlay{Template: annotated("a", strings.Repeat("x", mostAnnotations))}, "the pod annotations of the sidecar"},
		"a list of parts": {workload.Overlay{Template: annotated(meta.AnnotationInjectedItems("vectorsidecar/logs"), strings.Repeat("x", mostAnnotations))}, ""},
		"mounts":          {workload.Overlay{Mounts: []workload.Mount{{Container: "app"}}}, "sidecar.logs.containers"},
	} {
		why := incompatibility(&test.overlay)
		if test.want == "" {
			require.Empty(t, why, name)
		}
		require.Contains(t, why, test.want, name)
	}
}
