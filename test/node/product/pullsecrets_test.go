// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/node"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// mirror is the pull secret that the platform's policy lets sidecars bring.
const mirror = "mirror"

// The application's image is pulled with a Secret of its ServiceAccount, and the sidecar's with another one. A pod
// with its own pull secrets does not use those of its ServiceAccount. So with the sidecar's Secret alone, the kubelet
// could not pull the application's image.
func testPullSecrets(t *testing.T) {
	if machine.Run == nil {
		t.Skip("SKIPPED: it needs registries on the node itself, and this cluster's node is elsewhere")
	}
	vectorImage, err := machine.VectorImage(t.Context())
	require.NoError(t, err)
	applicationImage, err := node.FromFiles([]string{"/programs"}, map[string]string{"/programs": machine.Program()})
	require.NoError(t, err)
	applications, sidecars := registryOf(t, applicationImage), registryOf(t, vectorImage)

	space := restricted(t)
	account := &corev1.ServiceAccount{
		ObjectMeta:       metav1.ObjectMeta{Namespace: space, Name: "app"},
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "applications"}},
	}
	world.Create(t, account, applications.secret("applications", space), sidecars.secret(mirror, space))
	application := func(name string) *example.Deployment {
		return writer(name, space).Pod(func(pod *corev1.PodSpec) {
			pod.ServiceAccountName = account.Name
			pod.Containers[0].Image, pod.Containers[0].ImagePullPolicy = applications.image, corev1.PullAlways
		})
	}
	app := application("app").Build()
	world.Create(t, app)
	running(t, app, false)
	lost := application("lost").Labeled("logs", "none").Pod(func(pod *corev1.PodSpec) {
		pod.ImagePullSecrets = []corev1.LocalObjectReference{{Name: mirror}}
	}).Build()
	world.Create(t, lost)
	refused(t, lost, "app")

	asked := collecting(space).WithImage(sidecars.image).Sidecar(func(s *v1alpha1.SidecarSpec) { s.ImagePullPolicy = corev1.PullAlways }).Build()
	world.Create(t, asked)
	refused(t, app, sidecar)

	require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(asked), asked))
	before := asked.DeepCopy()
	asked.Spec.Sidecar.ImagePullSecrets = []string{mirror}
	require.NoError(t, cluster.Patch(t.Context(), asked, client.MergeFrom(before)))
	pod := running(t, app, true)
	require.ElementsMatch(t, []corev1.LocalObjectReference{{Name: "applications"}, {Name: mirror}}, pod.Spec.ImagePullSecrets)
	readLogs(t, pod, `"message":"`+pod.Name)

	require.NoError(t, cluster.Delete(t.Context(), asked))
	pod = running(t, app, false)
	require.Equal(t, account.ImagePullSecrets, pod.Spec.ImagePullSecrets, "without a sidecar they are the ServiceAccount's")
}

// refused waits until a registry has refused a container's image.
func refused(t *testing.T, app *appsv1.Deployment, container string) {
	t.Helper()
	eventually(t, "the registry to refuse the image of container "+container, func() bool {
		return slices.ContainsFunc(podsOf(t, app.Name, app.Namespace), func(pod corev1.Pod) bool {
			return isWaitingFor(container, "ErrImagePull", "ImagePullBackOff")(&pod)
		})
	})
}

// private is a registry that asks for a user and a password, with one image.
type private struct {
	host, image    string
	user, password string
}

// registryOf serves an image until the test ends, on the loopback address of the node, where
// a container runtime asks for no certificate.
func registryOf(t *testing.T, image v1.Image) *private {
	t.Helper()
	p := &private{user: "user-of-" + strings.ToLower(t.Name()), password: t.Name()}
	file, err := image.ConfigFile()
	require.NoError(t, err)
	// An image of its own: of one that was pulled with a Secret, kubelets let nobody have it without.
	config := *file.Config.DeepCopy()
	config.Labels = map[string]string{"private": t.Name()}
	image, err = mutate.Config(image, config)
	require.NoError(t, err)
	known := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if user != p.user || password != p.password {
			w.Header().Set("WWW-Authenticate", `Basic realm="private"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		known.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.host = server.Listener.Addr().String()
	p.image = p.host + "/image:private"
	p.push(t, image)
	return p
}

// push uploads an image as the registry's API wants it: its layers, its configuration and its
// manifest.
func (p *private) push(t *testing.T, image v1.Image) {
	t.Helper()
	layers, err := image.Layers()
	require.NoError(t, err)
	for _, layer := range layers {
		digest, err := layer.Digest()
		require.NoError(t, err)
		content, err := layer.Compressed()
		require.NoError(t, err)
		p.send(t, http.MethodPost, "blobs/uploads/?digest="+digest.String(), "application/octet-stream", content)
	}
	digest, err := image.ConfigName()
	require.NoError(t, err)
	config, err := image.RawConfigFile()
	require.NoError(t, err)
	p.send(t, http.MethodPost, "blobs/uploads/?digest="+digest.String(), "application/octet-stream", bytes.NewReader(config))
	kind, err := image.MediaType()
	require.NoError(t, err)
	manifest, err := image.RawManifest()
	require.NoError(t, err)
	p.send(t, http.MethodPut, "manifests/private", string(kind), bytes.NewReader(manifest))
}

func (p *private) send(t *testing.T, method, path, contentType string, body io.Reader) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, fmt.Sprintf("http://%s/v2/image/%s", p.host, path), body)
	require.NoError(t, err)
	request.SetBasicAuth(p.user, p.password)
	request.Header.Set("Content-Type", contentType)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusCreated, response.StatusCode, path)
}

// secret is one with which images of the registry are pulled.
func (p *private) secret(name, space string) *corev1.Secret {
	type login struct {
		Username string `json:"username"`
		Password string `json:"password"`
	}
	text, err := json.Marshal(map[string]any{"auths": map[string]login{p.host: {p.user, p.password}}})
	if err != nil {
		panic(err) // of strings
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: text},
	}
}
