// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// NativeMode tells whether the sidecar is a native sidecar, that is an init
// container with restartPolicy Always.
//
// +kubebuilder:validation:Enum=Auto;Always;Never
type NativeMode string

// ReloadMode says how new content of the configuration reaches Vector.
//
// +kubebuilder:validation:Enum=Restart;Live
type ReloadMode string

const (
	// ReloadRestart starts new pods.
	ReloadRestart ReloadMode = "Restart"
	// ReloadLive has Vector watch the file.
	ReloadLive ReloadMode = "Live"
)

// ConfigCheck says what an error in the Vector configuration does.
//
// +kubebuilder:validation:Enum=enforce;warn;off
type ConfigCheck string

const (
	// CheckEnforce stops the change; what runs stays as it is.
	CheckEnforce ConfigCheck = "enforce"
	// CheckWarn only tells.
	CheckWarn ConfigCheck = "warn"
	// CheckOff does not check.
	CheckOff ConfigCheck = "off"
)

// SidecarSpec has the keys of .Values.sidecar; see values.yaml for what each
// does and for its default. An unset field keeps the environment's value.
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

	// native chooses between a native sidecar and a plain container. Auto is a
	// native sidecar wherever the API server has them (1.29 and later).
	// +optional
	Native NativeMode `json:"native,omitempty"`

	// config is the Vector configuration. Without it, one is rendered from
	// logs, socket, otlp, metrics and sinks.
	// +optional
	Config *ConfigSpec `json:"config,omitempty"`

	// reload says how new content of the configuration reaches Vector: Restart
	// starts new pods, Live has Vector watch the file.
	// +optional
	Reload ReloadMode `json:"reload,omitempty"`

	// logs lets Vector read the log files that the application writes.
	// +optional
	Logs *LogsSpec `json:"logs,omitempty"`

	// socket lets Vector take log lines on a port of localhost.
	// +optional
	Socket *SocketSpec `json:"socket,omitempty"`

	// otlp lets Vector listen for OpenTelemetry data on localhost.
	// +optional
	OTLP *OTLPSpec `json:"otlp,omitempty"`

	// metrics exposes Vector's own metrics for Prometheus.
	// +optional
	Metrics *MetricsSpec `json:"metrics,omitempty"`

	// health is the liveness probe, and Vector's API.
	// +optional
	Health *HealthSpec `json:"health,omitempty"`

	// Sinks of the rendered configuration by their id, as in Vector's own
	// documentation. What console, vector, http, elasticsearch, loki, aws_s3 and
	// kafka leave out is filled in. A sink without inputs gets all that is
	// collected and that it can take. null takes away one of the environment: with a
	// schema for each, the API server would drop that.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Sinks map[string]apiextensionsv1.JSON `json:"sinks,omitempty"`

	// secrets of the namespace by an id of your own, mounted at
	// /run/secrets/vector/ID. SECRET[ID.KEY] stands for a key of one in a
	// rendered configuration.
	// +kubebuilder:validation:MaxProperties=16
	// +optional
	Secrets map[string]string `json:"secrets,omitempty"`

	// logLevel is VECTOR_LOG.
	// +kubebuilder:validation:Enum=trace;debug;info;warn;error;off
	// +optional
	LogLevel string `json:"logLevel,omitempty"`

	// threads is VECTOR_THREADS: how many worker threads Vector starts.
	// 0 leaves the choice to Vector: one for each core of the node.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=256
	// +optional
	Threads *int32 `json:"threads,omitempty"`

	// shutdown is how the sidecar drains.
	// +optional
	Shutdown *ShutdownSpec `json:"shutdown,omitempty"`

	// data is the volume of Vector's data_dir.
	// +optional
	Data *DataSpec `json:"data,omitempty"`

	// args are appended to the arguments that name the configuration. Those
	// are left out when these name one (--config, --config-dir and the like).
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Args []string `json:"args,omitempty"`

	// env is added to the sidecar's environment; an entry replaces the
	// operator's of the same name.
	// +kubebuilder:validation:MaxItems=128
	// +listType=atomic
	// +optional
	Env []corev1.EnvVar `json:"env,omitempty"`

	// envFrom adds variables from ConfigMaps and Secrets of the namespace.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`

	// volumeMounts are added to the sidecar; one at /etc/vector or at
	// /var/lib/vector takes the place of the operator's own.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`

	// resources of the sidecar container.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// securityContext of the sidecar container.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`
}

// ConfigSpec gives a whole Vector configuration.
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

	// Raw is the configuration as data: sources, transforms, sinks and whatever
	// else Vector takes.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +optional
	Raw *apiextensionsv1.JSON `json:"raw,omitempty"`

	// check says what an error in the configuration does, a rendered one too:
	// enforce stops the change, warn only tells, off does not check.
	// +optional
	Check ConfigCheck `json:"check,omitempty"`

	// validateJob has Vector itself judge a new configuration.
	// +optional
	ValidateJob *ValidateJobSpec `json:"validateJob,omitempty"`
}

// ValidateJobSpec is the Job that runs vector validate with the sidecar's image
// before a configuration reaches a workload.
type ValidateJobSpec struct {
	// enabled runs the Job. The installation has to allow it.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// deadlineSeconds is when the Job is given up.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	// +optional
	DeadlineSeconds *int32 `json:"deadlineSeconds,omitempty"`

	// whenUnable says what happens when Vector could not be asked.
	// +kubebuilder:validation:Enum=proceed;wait
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

	// key that holds the configuration. Its extension (.yaml, .yml, .json or
	// .toml) tells the format.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Key string `json:"key,omitempty"`
}

// LogsSpec says which files to read.
type LogsSpec struct {
	// path is the folder that the application logs to. Where a container of the
	// workload mounts a volume there, the sidecar mounts the same one.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^(/[^\s:]*)?$`
	// +optional
	Path string `json:"path,omitempty"`

	// include are the file name patterns below the path.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	Include []string `json:"include,omitempty"`

	// containers of an application that mounts nothing there: each gets an
	// empty volume at the path. "*" is all of them.
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	// +optional
	Containers []string `json:"containers,omitempty"`

	// sizeLimit of that volume. A pod that writes more is evicted.
	// +optional
	SizeLimit *resource.Quantity `json:"sizeLimit,omitempty"`
}

// SocketSpec is a listener for log lines on localhost.
type SocketSpec struct {
	// enabled switches the listener on.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// mode of the listener. tcp: an event is a line. udp: an event is a packet.
	// +kubebuilder:validation:Enum=tcp;udp
	// +optional
	Mode string `json:"mode,omitempty"`

	// port of the listener.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// codec says what a line or packet is; bytes is text as it is.
	// +kubebuilder:validation:Enum=bytes;json;syslog;gelf
	// +optional
	Codec string `json:"codec,omitempty"`
}

// OTLPSpec is a listener for OpenTelemetry data on localhost.
type OTLPSpec struct {
	// enabled switches the listener on.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// grpcPort is the port of OTLP over gRPC.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	GRPCPort *int32 `json:"grpcPort,omitempty"`

	// httpPort is the port of OTLP over HTTP.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	HTTPPort *int32 `json:"httpPort,omitempty"`
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

// HealthSpec is the liveness probe, and Vector's API.
type HealthSpec struct {
	// probe says what the liveness probe asks. Auto: the metrics of a rendered
	// configuration. Metrics: also of your own, which must export them on
	// 0.0.0.0. Always: your own's API, which must be on the pod's address.
	// Never: nothing, and a rendered configuration has no API.
	// +kubebuilder:validation:Enum=Auto;Metrics;Always;Never
	// +optional
	Probe string `json:"probe,omitempty"`

	// port of Vector's API, which is on localhost in a rendered configuration.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`
}

// ShutdownSpec is how the sidecar drains when its pod ends.
type ShutdownSpec struct {
	// drainSeconds is how long a preStop sleep lets Vector read on before it
	// is told to stop. 0 leaves the sleep out.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=600
	// +optional
	DrainSeconds *int32 `json:"drainSeconds,omitempty"`

	// limitSeconds is VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS. Together with
	// drainSeconds it should stay below the pod's grace period.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	// +optional
	LimitSeconds *int32 `json:"limitSeconds,omitempty"`
}

// DataSpec is the emptyDir of Vector's data_dir.
type DataSpec struct {
	// sizeLimit of the emptyDir.
	// +optional
	SizeLimit *resource.Quantity `json:"sizeLimit,omitempty"`
}
