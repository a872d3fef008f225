// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// NativeMode controls whether the sidecar is a native sidecar, which is an init container with
// restartPolicy Always.
//
// +kubebuilder:validation:Enum=Auto;Always;Never
type NativeMode string

// QoSMode controls whether the pod keeps its QoS class.
//
// +kubebuilder:validation:Enum=Keep;Ignore
type QoSMode string

// UserMode selects the source of the sidecar's user.
//
// +kubebuilder:validation:Enum=Auto;Fixed;Platform;Application
type UserMode string

// NodeAgentsMode controls whether log agents on the nodes collect the output of the sidecar.
//
// +kubebuilder:validation:Enum=Auto;Collect;Exclude
type NodeAgentsMode string

// EvictableMode controls whether a node may be removed while volumes of the sidecar are on it.
//
// +kubebuilder:validation:Enum=Auto;Always;Never
type EvictableMode string

// ReloadMode controls how a changed configuration reaches Vector.
//
// +kubebuilder:validation:Enum=Restart;Live
type ReloadMode string

const (
	// ReloadRestart rolls out new pods.
	ReloadRestart ReloadMode = "Restart"
	// ReloadLive makes Vector watch the file.
	ReloadLive ReloadMode = "Live"
)

// ConfigCheck controls the handling of errors in the Vector configuration.
//
// +kubebuilder:validation:Enum=Enforce;Warn;Off
type ConfigCheck string

const (
	// CheckEnforce blocks the change. Running sidecars stay unchanged.
	CheckEnforce ConfigCheck = "Enforce"
	// CheckWarn only reports the error.
	CheckWarn ConfigCheck = "Warn"
	// CheckOff does not check.
	CheckOff ConfigCheck = "Off"
)

// SidecarSpec has the keys of .Values.sidecar. See values.yaml for the effect and the default of
// each. An unset field keeps the environment's value.
type SidecarSpec struct {
	// name of the sidecar container.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	Name string `json:"name,omitempty"`

	// image of Vector, with a tag or a digest.
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^\S+$`
	// +optional
	Image string `json:"image,omitempty"`

	// imagePullPolicy of the sidecar container.
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	// +optional
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// imagePullSecrets are the names of Secrets of the namespace for pulling the images, in
	// addition to the pull secrets of the pods. The platform's policy lists the allowed ones.
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	ImagePullSecrets []string `json:"imagePullSecrets,omitempty"`

	// native selects a native sidecar or a regular container. Auto is a native sidecar if the API
	// server and every kubelet support them (1.29 and later). Always and Never do not depend on the
	// cluster.
	// +optional
	Native NativeMode `json:"native,omitempty"`

	// config is the Vector configuration. If unset, it is rendered from logs, socket, otlp, metrics
	// and sinks.
	// +optional
	Config *ConfigSpec `json:"config,omitempty"`

	// reload controls how a changed configuration reaches Vector: Restart rolls out new pods, Live
	// makes Vector watch the file.
	// +optional
	Reload ReloadMode `json:"reload,omitempty"`

	// logs makes Vector read the log files that the application writes.
	// +optional
	Logs *LogsSpec `json:"logs,omitempty"`

	// socket makes Vector receive log lines, on a port of localhost or on a Unix socket.
	// +optional
	Socket *SocketSpec `json:"socket,omitempty"`

	// otlp makes Vector listen for OpenTelemetry data on localhost.
	// +optional
	OTLP *OTLPSpec `json:"otlp,omitempty"`

	// applicationEnv injects variables with the addresses of the sidecar into the application's
	// containers. The API server injects them.
	// +optional
	ApplicationEnv *ApplicationEnvSpec `json:"applicationEnv,omitempty"`

	// metrics exposes Vector's own metrics for Prometheus.
	// +optional
	Metrics *MetricsSpec `json:"metrics,omitempty"`

	// health configures the liveness probe and Vector's API.
	// +optional
	Health *HealthSpec `json:"health,omitempty"`

	// Sinks of the rendered configuration by their id, with the options of Vector's documentation.
	// Sinks of type console, vector, http, elasticsearch, loki, aws_s3, kafka and splunk_hec_logs have
	// defaults for unset options. A sink without inputs gets all collected events that it accepts.
	// null removes a sink of the environment.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Sinks map[string]apiextensionsv1.JSON `json:"sinks,omitempty"` // Without a schema, because the API server would drop null with one.

	// secrets of the namespace by an id of your choice, mounted at /run/secrets/vector/ID.
	// SECRET[ID.KEY] in a rendered configuration refers to a key of such a Secret.
	// +kubebuilder:validation:MaxProperties=16
	// +optional
	Secrets map[string]string `json:"secrets,omitempty"`

	// logLevel is the log level of Vector (VECTOR_LOG).
	// +kubebuilder:validation:Enum=trace;debug;info;warn;error;off
	// +optional
	LogLevel string `json:"logLevel,omitempty"`

	// threads is the number of worker threads of Vector (VECTOR_THREADS). With 0, Vector starts one
	// for each core of the node.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=256
	// +optional
	Threads *int32 `json:"threads,omitempty"`

	// shutdown configures how Vector delivers its remaining events when the pod terminates.
	// +optional
	Shutdown *ShutdownSpec `json:"shutdown,omitempty"`

	// data configures the volume of Vector's data_dir, /var/lib/vector.
	// +optional
	Data *DataSpec `json:"data,omitempty"`

	// args are additional arguments of Vector. If they pass a configuration (--config, --config-dir
	// and similar), they replace the arguments that pass the rendered one.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Args []string `json:"args,omitempty"`

	// env are additional environment variables of the sidecar. A variable replaces the built-in one of
	// the same name.
	// +kubebuilder:validation:MaxItems=128
	// +listType=atomic
	// +optional
	Env []corev1.EnvVar `json:"env,omitempty"`

	// envFrom are ConfigMaps and Secrets of the namespace with additional environment variables of the
	// sidecar.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`

	// volumeMounts are additional mounts of the sidecar. A mount at /etc/vector or at /var/lib/vector
	// replaces the built-in mount.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`

	// resources of the sidecar container.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// qos controls whether a Guaranteed pod stays Guaranteed. With Keep, the requests of injected
	// containers in such a pod equal their limits, and an unset limit equals the request. Ignore
	// changes no resources, so that most such pods become Burstable.
	// +optional
	QoS QoSMode `json:"qos,omitempty"`

	// user selects the source of the sidecar's user: Auto, Fixed, Platform or Application. Fixed:
	// securityContext. Platform: the cluster, as on OpenShift. Application: the container of the log
	// directory. Auto: Platform on OpenShift, otherwise Fixed.
	// +optional
	User UserMode `json:"user,omitempty"`

	// nodeAgents controls whether log agents on the nodes collect the output of the sidecar. With
	// Exclude, annotations of the pods exclude it for agents of Vector, Fluent Bit and Datadog.
	// Auto is Exclude if the sidecar has sinks but no console sink, in a configuration that is
	// rendered or raw, else Collect.
	// +optional
	NodeAgents NodeAgentsMode `json:"nodeAgents,omitempty"`

	// podAnnotations are additional annotations of the pods. They must not include annotations that
	// the workload has, or annotations of a domain that the policy reserves.
	// +kubebuilder:validation:MaxProperties=32
	// +optional
	PodAnnotations map[string]string `json:"podAnnotations,omitempty"`

	// podLabels are additional labels of the pods. They must not include labels that the workload has
	// or selects its pods by, or labels of a domain that the policy reserves.
	// +kubebuilder:validation:MaxProperties=32
	// +optional
	PodLabels map[string]string `json:"podLabels,omitempty"`

	// securityContext of the sidecar container.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`
}

// ConfigSpec contains a whole Vector configuration.
//
// +kubebuilder:validation:XValidation:rule="[has(self.configMapRef), has(self.inline) && size(self.inline) > 0, has(self.raw)].filter(given, given).size() < 2",message="sidecar.config has more than one of configMapRef, inline and raw: give one of them"
type ConfigSpec struct {
	// configMapRef names a key of a ConfigMap in the same namespace.
	// +optional
	ConfigMapRef *ConfigMapRef `json:"configMapRef,omitempty"`

	// inline is the configuration itself, in YAML, JSON or TOML.
	// +kubebuilder:validation:MaxLength=524288
	// +optional
	Inline string `json:"inline,omitempty"`

	// Raw is the configuration as structured data: sources, transforms, sinks and all other options
	// of Vector.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +optional
	Raw *apiextensionsv1.JSON `json:"raw,omitempty"`

	// check controls errors in the configuration: Enforce blocks the change, Warn only reports them,
	// Off does not check. It also applies to a rendered configuration.
	// +optional
	Check ConfigCheck `json:"check,omitempty"`

	// validateJob makes Vector itself validate a new configuration.
	// +optional
	ValidateJob *ValidateJobSpec `json:"validateJob,omitempty"`
}

// ValidateJobSpec is the Job that runs vector validate with the sidecar's image
// before a configuration reaches a workload.
type ValidateJobSpec struct {
	// enabled runs the Job. The installation must allow it (configValidation.job.enabled in its
	// values).
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// deadlineSeconds is the maximum duration of the Job in seconds.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	// +optional
	DeadlineSeconds *int32 `json:"deadlineSeconds,omitempty"`

	// whenUnable controls the write if the Job has no result of Vector: Proceed writes the sidecar,
	// Wait does not.
	// +kubebuilder:validation:Enum=Proceed;Wait
	// +optional
	WhenUnable string `json:"whenUnable,omitempty"`
}

// ConfigMapRef names a key of a ConfigMap.
type ConfigMapRef struct {
	// name of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`

	// key with the configuration. Its extension (.yaml, .yml, .json or .toml) is the format.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Key string `json:"key,omitempty"`
}

// MetricsSpec exposes Vector's own metrics.
type MetricsSpec struct {
	// enabled adds the internal_metrics source, the exporter and its port to a
	// rendered configuration.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// port of the Prometheus exporter.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`
}

// HealthSpec configures the liveness probe and Vector's API.
type HealthSpec struct {
	// probe selects the check of the liveness probe. Auto: the metrics endpoint of a rendered
	// configuration. Metrics: also the metrics endpoint of your own configuration, which must
	// export metrics on 0.0.0.0. Always: the API of your own configuration, which must listen on
	// the pod's address. Never: no probe, and a rendered configuration has no API.
	// +kubebuilder:validation:Enum=Auto;Metrics;Always;Never
	// +optional
	Probe string `json:"probe,omitempty"`

	// port of Vector's API, which a rendered configuration binds to localhost.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`
}

// ShutdownSpec configures how the sidecar drains when its pod terminates.
type ShutdownSpec struct {
	// method controls how long Vector continues to read when the pod terminates. Sleep: for
	// drainSeconds, by a preStop sleep. Gate: until it has read the log files, for drainSeconds at
	// most, because a second native sidecar, the drain gate, delays its shutdown.
	// +kubebuilder:validation:Enum=Sleep;Gate
	// +optional
	Method string `json:"method,omitempty"`

	// drainSeconds is the number of seconds for which Vector continues to read before it gets the
	// signal to stop. With 0, it stops at once.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=600
	// +optional
	DrainSeconds *int32 `json:"drainSeconds,omitempty"`

	// limitSeconds is the number of seconds in which Vector delivers its remaining events after the
	// signal to stop. Vector gets it as VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS. Together with
	// drainSeconds it should be less than the pod's termination grace period.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	// +optional
	LimitSeconds *int32 `json:"limitSeconds,omitempty"`

	// gate configures the drain gate, the container of method Gate.
	// +optional
	Gate *DrainGateSpec `json:"gate,omitempty"`
}

// DrainGateSpec configures the container that delays Vector's shutdown.
type DrainGateSpec struct {
	// image of cmd/drain-gate, with a tag or a digest.
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^\S+$`
	// +optional
	Image string `json:"image,omitempty"`

	// resources of the container.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
}

// DataSpec is the emptyDir of Vector's data_dir.
type DataSpec struct {
	// sizeLimit is the size limit of the emptyDir. A pod that exceeds it is evicted.
	// +optional
	SizeLimit *resource.Quantity `json:"sizeLimit,omitempty"`

	// evictable controls whether the Cluster Autoscaler may remove a node with volumes of the sidecar:
	// Auto, Always or Never. Auto: unless a volume of the application prevents it. Always: also then.
	// Never: not until the pod is deleted. A pod annotation lists the volumes.
	// +optional
	Evictable EvictableMode `json:"evictable,omitempty"`
}
