// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// Validation is a configuration that a Vector process must validate before a workload may get it.
type Validation struct {
	// Key is a digest of all data on which the result depends.
	Key string
	// Job runs `vector validate`. Files is the ConfigMap that the Job mounts.
	Job   batchv1.Job
	Files corev1.ConfigMap

	// Configuration contains the original files. DataDir is their value data_dir. Mode describes which checks this
	// version of Vector makes.
	Configuration []vectorconfig.File
	DataDir       string
	Mode          vectorconfig.ValidateMode
	// WaitsWhenUnable reports whether workloads wait for the configuration while Vector cannot be run.
	WaitsWhenUnable bool
}

// validationKey returns a digest of all data on which the result of a validation depends. It is a part of the names of
// the Job and its ConfigMap.
func validationKey(sidecar types.NamespacedName, files map[string]string, pod *corev1.PodSpec, deadlineSeconds int64) string {
	text, _ := json.Marshal(struct { // Strings, numbers and pods always marshal.
		Namespace       string            `json:"namespace"`
		VectorSidecar   string            `json:"vectorSidecar"`
		Files           map[string]string `json:"files"`
		Pod             *corev1.PodSpec   `json:"pod"`
		DeadlineSeconds int64             `json:"deadlineSeconds"`
	}{sidecar.Namespace, sidecar.Name, files, pod, deadlineSeconds})
	return meta.Digest(text, 8)
}

// validationDirectory is the directory in which the Job mounts the configuration files.
const validationDirectory = "/etc/vector-validate"

// validatesInJob reports whether the values enable the validation of the configuration in a Job
// (sidecar.config.validateJob).
func validatesInJob(values environment.Values) bool {
	enabled, _ := tree.MapAt(values.Tree, "sidecar", "config", "validateJob")["enabled"].(bool)
	return enabled
}

// newValidation returns the validation of a configuration, with its Job. container and spec are the sidecar's container
// and pod.
func newValidation(request *render.Request, files []vectorconfig.File, dataDir string, container *corev1.Container, spec *corev1.PodSpec) *Validation {
	job := tree.MapAt(request.Values.Tree, "sidecar", "config", "validateJob")
	deadline, mode := secondsFrom(job["deadlineSeconds"]), vectorconfig.ValidateModeFor(container.Image)
	data, items := map[string]string{}, []corev1.KeyToPath{}
	paths, inDirectory := ConfigurationPaths(files)
	for i, file := range files {
		key := paths[i]
		if file.Directory != "" {
			key = fmt.Sprintf("%d-%s", i, path.Base(file.RelativePath))
		}
		data[key] = file.Text
		items = append(items, corev1.KeyToPath{Key: key, Path: paths[i]})
	}
	if !inDirectory {
		items = nil // Without items, each key is a file with the name of the key.
	}
	pod := validatingPod(container, spec, slices.Concat(mode.Args, ConfigurationArguments(files, paths, validationDirectory)))
	if request.Cluster.Platform == render.OpenShift { // OpenShift assigns the user and the group.
		pod.SecurityContext.RunAsUser, pod.SecurityContext.RunAsGroup = nil, nil
	}
	if mode.Builds {
		addDataDir(&pod, dataDir)
	}
	key := validationKey(request.Sidecar, data, &pod, deadline)
	object := metav1.ObjectMeta{
		Namespace: request.Sidecar.Namespace, Name: "vector-validate-" + key,
		Labels: map[string]string{meta.LabelValidation: key, meta.LabelValidated: meta.LabelValue(request.Sidecar.Name)},
	}
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "vector-validate", VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: object.Name}, Items: items},
	}})
	return &Validation{
		Key: key, Configuration: files, DataDir: dataDir, Mode: mode, WaitsWhenUnable: job["whenUnable"] == "Wait",
		Files: corev1.ConfigMap{ObjectMeta: object, Immutable: ptr.To(true), Data: data},
		Job: batchv1.Job{ObjectMeta: object, Spec: batchv1.JobSpec{
			BackoffLimit: ptr.To[int32](0), ActiveDeadlineSeconds: ptr.To(deadline), TTLSecondsAfterFinished: ptr.To[int32](600),
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: object.Labels}, Spec: pod},
		}},
	}
}

// ConfigurationPaths returns a relative path for each file of a configuration. Files of one directory stay in one
// directory, and the extension of each file matches its format, so Vector reads the same configuration from these
// paths. inDirectory reports whether one of the paths contains a directory.
func ConfigurationPaths(files []vectorconfig.File) (paths []string, inDirectory bool) {
	number := map[string]int{}
	for i, file := range files {
		if file.Directory == "" {
			paths = append(paths, fmt.Sprintf("%d-%s", i, nameWithFormat(file)))
			continue
		}
		if _, ok := number[file.Directory]; !ok {
			number[file.Directory] = len(number)
		}
		inDirectory = true
		paths = append(paths, fmt.Sprintf("directory-%d/%s", number[file.Directory], file.RelativePath))
	}
	return paths, inDirectory
}

// nameWithFormat returns the name of a file. It adds an extension if the name does not match the format of the file.
func nameWithFormat(file vectorconfig.File) string {
	if file.Format == "" || vectorflags.FormatFor(file.Name) == file.Format {
		return file.Name
	}
	return file.Name + "." + file.Format
}

// ConfigurationArguments returns the arguments of `vector validate` and `vector test` that name the files. paths are
// the paths of the files below the directory root.
func ConfigurationArguments(files []vectorconfig.File, paths []string, root string) []string {
	var args, directories []string
	for i, file := range files {
		if file.Directory == "" {
			args = append(args, root+"/"+paths[i])
			continue
		}
		directory, _, _ := strings.Cut(paths[i], "/")
		if argument := root + "/" + directory; !slices.Contains(directories, argument) {
			directories = append(directories, "--config-dir", argument)
		}
	}
	return append(args, directories...)
}

// secondsFrom converts a number in the values to an integer. Numbers from YAML and from JSON have different types.
func secondsFrom(value any) int64 {
	switch n := value.(type) {
	case float64:
		return int64(n)
	case int64:
		return n
	}
	return 0
}

// addDataDir adds an empty volume for Vector's data directory to a pod, unless the pod already has a mount at that
// path.
func addDataDir(pod *corev1.PodSpec, folder string) {
	folder = path.Clean(folder)
	container := &pod.Containers[0]
	isMounted := slices.ContainsFunc(container.VolumeMounts, func(mount corev1.VolumeMount) bool { return path.Clean(mount.MountPath) == folder })
	if isMounted || !path.IsAbs(folder) || folder == "/" || strings.Contains(folder, "$") {
		return
	}
	const name = "vector-validate-data"
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: folder})
}

// validatingPod returns the pod of a validation. It runs the sidecar's image with the sidecar's environment variables
// and volumes, and with as few privileges as possible. It does not have the application's volumes.
func validatingPod(container *corev1.Container, spec *corev1.PodSpec, args []string) corev1.PodSpec {
	pod := corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: ptr.To(false), EnableServiceLinks: ptr.To(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](65532), RunAsGroup: ptr.To[int64](65532),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}
	// Without these variables, the output contains only the result of the validation, and only the arguments name the
	// configuration files.
	env := slices.DeleteFunc(slices.Clone(container.Env), func(variable corev1.EnvVar) bool {
		return variable.Name == "VECTOR_LOG" || strings.HasPrefix(variable.Name, "VECTOR_CONFIG")
	})
	env = append(env, corev1.EnvVar{Name: "VECTOR_LOG", Value: "off"})
	mounts := []corev1.VolumeMount{{Name: "vector-validate", MountPath: validationDirectory, ReadOnly: true}}
	for i := range spec.Volumes {
		for _, mount := range container.VolumeMounts {
			if mount.Name == spec.Volumes[i].Name && (spec.Volumes[i].Secret != nil || spec.Volumes[i].Projected != nil || spec.Volumes[i].EmptyDir != nil) {
				pod.Volumes, mounts = append(pod.Volumes, spec.Volumes[i]), append(mounts, mount)
			}
		}
	}
	pod.Containers = []corev1.Container{{
		Name: "validate", Image: container.Image, ImagePullPolicy: container.ImagePullPolicy, Args: args,
		Env: env, EnvFrom: container.EnvFrom, Resources: container.Resources, VolumeMounts: mounts,
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true), RunAsNonRoot: ptr.To(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}}
	return pod
}
