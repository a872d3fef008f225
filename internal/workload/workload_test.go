// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/fieldmanager"
)

// The hash of an applied body equals the hash of the fields that the operator owns in the live workload.
func TestHash_EqualsHashOfLiveFields(t *testing.T) {
	c := fieldmanager.New(t)
	applied := c.Apply(meta.Manager("logs"), fieldmanager.Sidecar)

	owned := NewView(c.Live()).Owned

	require.Len(t, owned, 1)
	require.Equal(t, Hash(applied), owned[meta.Manager("logs")].Hash)
	require.Equal(t, []string{"vector"}, owned[meta.Manager("logs")].Containers)
	require.Equal(t, []string{"vectorsidecar-vector-data", "token"}, owned[meta.Manager("logs")].Volumes)
	require.Equal(t, "abc", owned[meta.Manager("logs")].InjectedHash)
}

// If a field changes that the operator owns, the hash of the live workload changes.
func TestHash_ChangesWithOwnedFields(t *testing.T) {
	c := fieldmanager.New(t)
	c.Apply(meta.Manager("logs"), fieldmanager.Sidecar)
	manager := meta.Manager("logs")
	want := NewView(c.Live()).Owned[manager].Hash
	for name, change := range map[string]func(*appsv1.Deployment){
		"image":             func(d *appsv1.Deployment) { ours(d).Image = "vector:2" },
		"an argument":       func(d *appsv1.Deployment) { ours(d).Args[1] = "x" },
		"a variable":        func(d *appsv1.Deployment) { ours(d).Env[0].Value = "2" },
		"a field reference": func(d *appsv1.Deployment) { ours(d).Env[1].ValueFrom.FieldRef.FieldPath = "metadata.name" },
		"a variable less":   func(d *appsv1.Deployment) { ours(d).Env = ours(d).Env[1:] },
		"the container less": func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.InitContainers = d.Spec.Template.Spec.InitContainers[:1]
		},
		"a volume less":  func(d *appsv1.Deployment) { d.Spec.Template.Spec.Volumes = d.Spec.Template.Spec.Volumes[:1] },
		"our annotation": func(d *appsv1.Deployment) { delete(d.Annotations, meta.AnnotationInjected) },
		"of its pods":    func(d *appsv1.Deployment) { d.Spec.Template.Annotations[meta.AnnotationInjectedEnv(manager)] = "e" },
	} {
		deployment := c.Live()
		change(deployment)
		require.NotEqual(t, want, NewView(deployment).Owned[manager].Hash, name)
	}
}

// If a field of another field manager changes, the hash of the sidecar stays the same.
func TestHash_IgnoresFieldsOfOthers(t *testing.T) {
	c := fieldmanager.New(t)
	c.Apply(meta.Manager("logs"), fieldmanager.Sidecar)
	manager := meta.Manager("logs")
	want := NewView(c.Live()).Owned[manager].Hash
	for name, change := range map[string]func(*appsv1.Deployment){
		"the application's image":    func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "cart:2" },
		"a variable of another's":    func(d *appsv1.Deployment) { ours(d).Env = append([]corev1.EnvVar{{Name: "0"}}, ours(d).Env...) },
		"a limit that we do not set": func(d *appsv1.Deployment) { ours(d).Resources.Limits = corev1.ResourceList{} },
		"replicas":                   func(d *appsv1.Deployment) { *d.Spec.Replicas = 9 },
		"an annotation":              func(d *appsv1.Deployment) { d.Annotations["team"] = "search" },
	} {
		deployment := c.Live()
		change(deployment)
		require.Equal(t, want, NewView(deployment).Owned[manager].Hash, name)
	}
}

// Releases have different bookkeeping annotations. That alone must not cause a write.
func TestHash_IgnoresBookkeepingAnnotations(t *testing.T) {
	c := fieldmanager.New(t)
	applied := c.Apply(meta.Manager("logs"), fieldmanager.Sidecar)
	before := Hash(applied)
	annotations := applied["metadata"].(map[string]any)["annotations"].(map[string]any)

	annotations[meta.AnnotationInputHash] = "a"
	annotations[meta.AnnotationKeyFor(meta.AnnotationAppliedHash, "logs")] = "b"

	require.Equal(t, before, Hash(applied))
	require.Equal(t, "a", annotations[meta.AnnotationInputHash], "what is applied stays as it is")
	annotations[meta.AnnotationContainerName] = "c"
	require.NotEqual(t, before, Hash(applied))
}

func ours(d *appsv1.Deployment) *corev1.Container { return &d.Spec.Template.Spec.InitContainers[1] }

// The package extracts owned fields itself, because client-go needs the schemas of all types and the whole object. Both
// results are equal.
func TestExtractOwnedFields_EqualsResultOfClientGo(t *testing.T) {
	c := fieldmanager.New(t)
	c.Apply(meta.Manager("logs"), fieldmanager.Sidecar)
	live := c.Live()

	theirs, err := appsv1ac.ExtractDeployment(live, meta.Manager("logs"))
	require.NoError(t, err)
	text, err := json.Marshal(theirs)
	require.NoError(t, err)
	var tree map[string]any
	require.NoError(t, json.Unmarshal(text, &tree))
	for _, identity := range []string{"name", "namespace"} {
		delete(tree["metadata"].(map[string]any), identity)
	}
	delete(tree, "apiVersion")
	delete(tree, "kind")

	require.Equal(t, Hash(tree), NewView(live).Owned[meta.Manager("logs")].Hash)
}

// The values that templates read of a workload are the same with and without the sidecar.
func TestValues_ExcludeSidecar(t *testing.T) {
	c := fieldmanager.New(t)
	bare := NewView(c.Live())
	c.Apply(meta.Manager("logs"), fieldmanager.Sidecar)
	injected := NewView(c.Live())

	require.Equal(t, bare.Values(), injected.Values())
	require.Equal(t, map[string]any{
		"kind": "Deployment", "name": "cart", "namespace": "shop",
		"qosClass":           "BestEffort",
		"users":              map[string]any{},
		"accountPullSecrets": []any{},
		"labels":             map[string]any{"app": "cart"},
		"annotations":        map[string]any{"team": "payments"},
		"containers": []any{map[string]any{
			"name":         "cart",
			"ports":        []any{map[string]any{"name": "http", "containerPort": 8080.0, "protocol": "TCP"}},
			"volumeMounts": []any{map[string]any{"name": "logs", "mountPath": "/var/log/app", "subPath": "cart", "subPathExpr": "", "env": []any{}}},
		}},
	}, bare.Values())
}

// The pod of the application, without the sidecar, is checked separately, to find out which of the two is at fault.
func TestApplication_ExcludesSidecar(t *testing.T) {
	c := fieldmanager.New(t)
	bare := NewView(c.Live())
	c.Apply(meta.Manager("logs"), fieldmanager.Sidecar)
	injected := NewView(c.Live())

	require.Equal(t, bare.Application(), injected.Application())
	require.Equal(t, &corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "migrate"}},
		Containers:     []corev1.Container{{Name: "cart", Ports: []corev1.ContainerPort{{ContainerPort: 8080, Name: "http", Protocol: "TCP"}}}},
		Volumes:        []corev1.Volume{{Name: "logs", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
	}, bare.Application())
	require.Equal(t, []string{"app"}, injected.SelectorKeys)
	require.Equal(t, []string{"app"}, injected.PodLabels)
	require.Empty(t, bare.PodAnnotations)
	require.Equal(t, injected.PodAnnotations, injected.Owned[meta.Manager("logs")].PodAnnotations)
}

// viewWith returns the view of a Deployment with a pod template and with fields of the operator's managers.
func viewWith(template corev1.PodTemplateSpec, owned map[string]OwnedFields) View {
	deployment := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: template}}
	content := readContent(deployment)
	return content.View(deployment, &Ownership{Owned: owned})
}

// A View keeps the values of pod annotations for node agents. It drops others, which may be long and change often.
func TestPodTexts_KeepOnlyNodeAgentAnnotations(t *testing.T) {
	view := viewWith(corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		"vector.dev/exclude-containers": "proxy", "fluentbit.io/exclude-app": "true", "ad.datadoghq.com/app.logs_exclude": "",
		"checksum/config": "1", "example.com/vector.dev": "1", "vector.dev": "1", "cluster-autoscaler.kubernetes.io/safe-to-evict": "true",
	}}}, nil)
	want := map[string]string{"vector.dev/exclude-containers": "proxy", "fluentbit.io/exclude-app": "true", "cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}
	require.Equal(t, want, view.PodTexts)
	require.Len(t, view.PodAnnotations, 7)
}

// Besides the kind, only the medium of a volume decides whether its files are on the node.
func TestIsOnNode_ExcludesMemoryVolumes(t *testing.T) {
	emptyDir := func(medium corev1.StorageMedium) corev1.VolumeSource {
		return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: medium}}
	}
	view := viewWith(corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: []corev1.Volume{
		{Name: "disk", VolumeSource: emptyDir("")}, {Name: "memory", VolumeSource: emptyDir("Memory")}, {Name: "pages", VolumeSource: emptyDir("HugePages")},
		{Name: "node", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}},
		{Name: "claim", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{}}},
	}}}, nil)
	var onNode []string
	for _, volume := range view.Volumes {
		if volume.IsOnNode() {
			onNode = append(onNode, volume.Name)
		}
	}
	require.Equal(t, []string{"disk", "pages", "node"}, onNode, "as the Cluster Autoscaler counts them")
}

// A reduced volume still has the kind of its source, for each kind.
func TestVolume_KeepsKindOfSource(t *testing.T) {
	sources := reflect.TypeFor[corev1.VolumeSource]()
	for i := range sources.NumField() {
		volume := corev1.Volume{Name: "v"}
		reflect.ValueOf(&volume.VolumeSource).Elem().Field(i).Set(reflect.New(sources.Field(i).Type.Elem()))
		stored := NewVolume(&volume)
		require.Equal(t, volume, stored.toVolume(), sources.Field(i).Name)
	}
}

// Annotations with the prefix for values override values. Templates do not read them as annotations.
func TestReadOverrides_ReadsValueAnnotations(t *testing.T) {
	deployment := &appsv1.Deployment{}
	deployment.Annotations = map[string]string{
		meta.AnnotationValuesPrefix + "sidecar.resources": "{}", meta.AnnotationInject: "true", "team": "payments",
	}

	view := NewView(deployment)

	require.Equal(t, map[string]string{"sidecar.resources": "{}"}, view.Overrides)
	require.Equal(t, map[string]string{"team": "payments"}, view.Annotations, "templates see the values, and not where they are from")
}

// The owner of an injected container is the field manager of its VectorSidecar.
func TestContainerOwner_ReturnsManager(t *testing.T) {
	c := fieldmanager.New(t)
	c.Apply(meta.Manager("logs"), fieldmanager.Sidecar)
	view := NewView(c.Live())

	require.Equal(t, meta.Manager("logs"), view.ContainerOwner("vector"))
	require.Empty(t, view.ContainerOwner("cart"))
}

// Each case is the status of a Deployment, and the state of its rollout.
func TestNewView_ReportsRolloutOfDeployment(t *testing.T) {
	replicas := int32(3)
	for name, test := range map[string]struct {
		status appsv1.DeploymentStatus
		want   Rollout
	}{
		"not seen by its controller": {appsv1.DeploymentStatus{ObservedGeneration: 1}, RolloutProgressing},
		"old pods left":              {appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 4, UpdatedReplicas: 3, AvailableReplicas: 4}, RolloutProgressing},
		"not available":              {appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 2}, RolloutProgressing},
		"done":                       {appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 3}, RolloutComplete},
		"past its deadline": {appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 4, UpdatedReplicas: 1, Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: progressDeadlineExceeded},
		}}, RolloutFailed},
	} {
		deployment := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Generation: 2},
			Spec:       appsv1.DeploymentSpec{Replicas: &replicas},
			Status:     test.status,
		}
		require.Equal(t, test.want, NewView(deployment).Rollout, name)
	}
}
