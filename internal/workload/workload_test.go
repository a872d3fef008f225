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
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"k8s.io/client-go/applyconfigurations"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

const application = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: cart
  namespace: shop
  labels: {app: cart}
  annotations:
    team: payments
    deployment.kubernetes.io/revision: "3"
spec:
  replicas: 2
  selector: {matchLabels: {app: cart}}
  template:
    metadata: {labels: {app: cart}}
    spec:
      initContainers:
      - {name: migrate, image: "cart:1"}
      containers:
      - name: cart
        image: cart:1
        ports: [{containerPort: 8080, name: http, protocol: TCP}]
        volumeMounts: [{name: logs, mountPath: /var/log/app, subPath: cart}]
      volumes:
      - {name: logs, emptyDir: {}}
`

const sidecar = `
metadata:
  annotations:
    vectorsidecar.observability.kontroloop.ai/injected: "true"
    vectorsidecar.observability.kontroloop.ai/injected-hash: abc
spec:
  template:
    metadata:
      annotations: {vectorsidecar.observability.kontroloop.ai/config-digest.logs: d}
    spec:
      initContainers:
      - name: vector
        image: vector:1
        restartPolicy: Always
        args: [--config, /etc/vector/vector.yaml]
        env:
        - {name: A, value: "1"}
        - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
        ports: [{containerPort: 9598, name: metrics}]
        resources: {requests: {cpu: 0.5, memory: 128Mi}}
        securityContext: {capabilities: {drop: [ALL]}}
        volumeMounts: [{name: vectorsidecar-vector-data, mountPath: /var/lib/vector}]
      volumes:
      - {name: vectorsidecar-vector-data, emptyDir: {sizeLimit: 256Mi}}
      - name: token
        projected: {sources: [{serviceAccountToken: {path: token}}]}
`

// cluster applies as an API server does: with its own merge code, recording
// managed fields.
type cluster struct {
	t       *testing.T
	manager managedfieldstest.TestFieldManager
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	converter := applyconfigurations.NewTypeConverter(scheme.Scheme)
	c := &cluster{t, managedfieldstest.NewTestFieldManager(converter, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	require.NoError(t, c.manager.Update(c.object(application), "kubectl"))
	return c
}

func (c *cluster) object(text string) *unstructured.Unstructured {
	c.t.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(c.t, yaml.Unmarshal([]byte(text), &object.Object))
	return object
}

// apply returns what was applied, in the API server's spelling.
func (c *cluster) apply(manager, text string) map[string]any {
	c.t.Helper()
	var typed appsv1ac.DeploymentApplyConfiguration
	require.NoError(c.t, yaml.Unmarshal([]byte(text), &typed))
	canonical, err := json.Marshal(typed)
	require.NoError(c.t, err)
	body := c.object(string(canonical))
	applied := runtime.DeepCopyJSON(body.Object)
	body.SetAPIVersion("apps/v1")
	body.SetKind("Deployment")
	body.SetName("cart")
	body.SetNamespace("shop")
	require.NoError(c.t, c.manager.Apply(body, manager, false))
	return applied
}

// live returns the object after the API server's defaults.
func (c *cluster) live() *appsv1.Deployment {
	c.t.Helper()
	text, err := json.Marshal(c.manager.Live())
	require.NoError(c.t, err)
	deployment := &appsv1.Deployment{}
	require.NoError(c.t, json.Unmarshal(text, deployment))
	pod := &deployment.Spec.Template.Spec
	for i := range pod.InitContainers {
		pod.InitContainers[i].TerminationMessagePath = "/dev/termination-log"
		for j := range pod.InitContainers[i].Ports {
			pod.InitContainers[i].Ports[j].Protocol = corev1.ProtocolTCP
		}
		for j := range pod.InitContainers[i].Env {
			if from := pod.InitContainers[i].Env[j].ValueFrom; from != nil {
				from.FieldRef.APIVersion = "v1"
			}
		}
	}
	for i := range pod.Volumes {
		if projected := pod.Volumes[i].Projected; projected != nil {
			hour := int64(3600)
			projected.Sources[0].ServiceAccountToken.ExpirationSeconds = &hour
		}
	}
	return deployment
}

// typed is a Deployment as the merge code takes it.
func (c *cluster) typed(deployment *appsv1.Deployment) *unstructured.Unstructured {
	c.t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(deployment)
	require.NoError(c.t, err)
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	object.SetManagedFields(nil)
	return object
}

func TestWhatWasAppliedHasTheHashOfWhatIsLive(t *testing.T) {
	c := newCluster(t)
	applied := c.apply(meta.Manager("logs"), sidecar)

	owned := Of(c.live()).Owned

	require.Len(t, owned, 1)
	require.Equal(t, Hash(applied), owned[meta.Manager("logs")].Hash)
	require.Equal(t, []string{"vector"}, owned[meta.Manager("logs")].Containers)
	require.Equal(t, []string{"vectorsidecar-vector-data", "token"}, owned[meta.Manager("logs")].Volumes)
	require.Equal(t, "abc", owned[meta.Manager("logs")].InjectedHash)
}

func TestEveryChangeToWhatWeOwnGivesAnotherHash(t *testing.T) {
	c := newCluster(t)
	c.apply(meta.Manager("logs"), sidecar)
	manager := meta.Manager("logs")
	want := Of(c.live()).Owned[manager].Hash
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
		"a digest":       func(d *appsv1.Deployment) { d.Spec.Template.Annotations[meta.AnnotationConfigDigest("logs")] = "e" },
	} {
		deployment := c.live()
		change(deployment)
		require.NotEqual(t, want, Of(deployment).Owned[manager].Hash, name)
	}
}

func TestWhatOthersChangeDoesNotChangeTheHash(t *testing.T) {
	c := newCluster(t)
	c.apply(meta.Manager("logs"), sidecar)
	manager := meta.Manager("logs")
	want := Of(c.live()).Owned[manager].Hash
	for name, change := range map[string]func(*appsv1.Deployment){
		"the application's image":    func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "cart:2" },
		"a variable of another's":    func(d *appsv1.Deployment) { ours(d).Env = append([]corev1.EnvVar{{Name: "0"}}, ours(d).Env...) },
		"a limit that we do not set": func(d *appsv1.Deployment) { ours(d).Resources.Limits = corev1.ResourceList{} },
		"replicas":                   func(d *appsv1.Deployment) { *d.Spec.Replicas = 9 },
		"an annotation":              func(d *appsv1.Deployment) { d.Annotations["team"] = "search" },
	} {
		deployment := c.live()
		change(deployment)
		require.Equal(t, want, Of(deployment).Owned[manager].Hash, name)
	}
}

// Releases differ in what they note, and none of them writes for that alone.
func TestBookkeepingHasNoPartInTheHash(t *testing.T) {
	c := newCluster(t)
	applied := c.apply(meta.Manager("logs"), sidecar)
	before := Hash(applied)
	annotations := applied["metadata"].(map[string]any)["annotations"].(map[string]any)

	annotations[meta.AnnotationAskedHash] = "a"
	annotations[meta.Beside(meta.AnnotationAppliedHash, "logs")] = "b"

	require.Equal(t, before, Hash(applied))
	require.Equal(t, "a", annotations[meta.AnnotationAskedHash], "what is applied stays as it is")
	annotations[meta.AnnotationSidecarName] = "c"
	require.NotEqual(t, before, Hash(applied))
}

func ours(d *appsv1.Deployment) *corev1.Container { return &d.Spec.Template.Spec.InitContainers[1] }

// The extraction is our own because client-go's needs the schemas of all types
// and the whole object; it has to say the same.
func TestExtractionAgreesWithClientGo(t *testing.T) {
	c := newCluster(t)
	c.apply(meta.Manager("logs"), sidecar)
	live := c.live()

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

	require.Equal(t, Hash(tree), Of(live).Owned[meta.Manager("logs")].Hash)
}

func TestAReducedWorkloadLooksLikeTheWholeOne(t *testing.T) {
	c := newCluster(t)
	bare := c.live()
	c.apply(meta.Manager("logs"), sidecar)
	injected := c.live()
	injected.Status = appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2}
	failed := injected.DeepCopy()
	failed.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: progressDeadlineExceeded}}
	judged := injected.DeepCopy()
	judged.Annotations[meta.AnnotationValuesPrefix+"sidecar.threads"] = "2"
	judged.Spec.Template.Annotations["checksum"] = "x"
	pod := &judged.Spec.Template.Spec
	pod.HostPID, pod.HostUsers, pod.OS = true, new(bool), &corev1.PodOS{Name: corev1.Linux}
	pod.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: new(bool)}
	pod.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(bool)}
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "token", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "token"}}})
	pod.Containers[0].Env = append(pathEnv(), corev1.EnvVar{Name: "KEY", ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "cart"}, Key: "k"},
	}})
	pod.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	pod.Containers[0].VolumeMounts = append(pod.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "logs", MountPath: "/own", SubPathExpr: "$(TENANT)"})
	plain := judged.DeepCopy()
	plain.ManagedFields = nil
	for name, deployment := range map[string]*appsv1.Deployment{"bare": bare, "injected": injected, "failed": failed, "judged": judged, "plain": plain} {
		before := deployment.DeepCopy()
		require.Equal(t, Of(deployment), NewReducer().Reduce(deployment).View(), name)
		require.True(t, equality.Semantic.DeepEqual(before, deployment), "%s: the argument has changed", name)
	}
}

func TestTemplatesSeeAWorkloadAsIfItHadNoSidecar(t *testing.T) {
	c := newCluster(t)
	bare := Of(c.live())
	c.apply(meta.Manager("logs"), sidecar)
	injected := Of(c.live())

	require.Equal(t, bare.Values(), injected.Values())
	require.Equal(t, map[string]any{
		"kind": "Deployment", "name": "cart", "namespace": "shop",
		"labels":      map[string]any{"app": "cart"},
		"annotations": map[string]any{"team": "payments"},
		"containers": []any{map[string]any{
			"name":         "cart",
			"ports":        []any{map[string]any{"name": "http", "containerPort": 8080.0, "protocol": "TCP"}},
			"volumeMounts": []any{map[string]any{"name": "logs", "mountPath": "/var/log/app", "subPath": "cart", "subPathExpr": "", "env": []any{}}},
		}},
	}, bare.Values())
}

// Admission judges the application and the sidecar together; who of them is at
// fault shows only apart.
func TestTheApplicationIsSeenWithoutTheSidecar(t *testing.T) {
	c := newCluster(t)
	bare := Of(c.live())
	c.apply(meta.Manager("logs"), sidecar)
	injected := Of(c.live())

	require.Equal(t, bare.Application, injected.Application)
	require.Equal(t, corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "migrate"}},
		Containers:     []corev1.Container{{Name: "cart", Ports: []corev1.ContainerPort{{ContainerPort: 8080, Name: "http", Protocol: "TCP"}}}},
		Volumes:        []corev1.Volume{{Name: "logs", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
	}, bare.Application)
	require.Equal(t, []string{"app"}, injected.SelectorKeys)
	require.Equal(t, []string{"app"}, injected.PodLabels)
	require.Empty(t, bare.PodAnnotations)
	require.Equal(t, injected.PodAnnotations, injected.Owned[meta.Manager("logs")].PodAnnotations)
}

func TestEveryKindOfVolumeIsKept(t *testing.T) {
	sources := reflect.TypeFor[corev1.VolumeSource]()
	for i := range sources.NumField() {
		volume := corev1.Volume{Name: "v"}
		reflect.ValueOf(&volume.VolumeSource).Elem().Field(i).Set(reflect.New(sources.Field(i).Type.Elem()))
		require.Equal(t, volume, kindOnly(&volume), sources.Field(i).Name)
	}
}

func TestAnnotationsGiveValues(t *testing.T) {
	deployment := &appsv1.Deployment{}
	deployment.Annotations = map[string]string{
		meta.AnnotationValuesPrefix + "sidecar.resources": "{}", meta.AnnotationInject: "true", "team": "payments",
	}

	view := Of(deployment)

	require.Equal(t, map[string]string{"sidecar.resources": "{}"}, view.Overrides)
	require.Equal(t, map[string]string{"team": "payments"}, view.Annotations, "templates see the values, and not where they are from")
}

func TestOwnerOf(t *testing.T) {
	c := newCluster(t)
	c.apply(meta.Manager("logs"), sidecar)
	view := Of(c.live())

	require.Equal(t, meta.Manager("logs"), view.OwnerOf("vector"))
	require.Empty(t, view.OwnerOf("cart"))
}

func TestRollout(t *testing.T) {
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
		require.Equal(t, test.want, Of(deployment).Rollout, name)
	}
}
