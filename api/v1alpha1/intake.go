// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// LogsSpec selects the log files to read.
type LogsSpec struct {
	// path is the directory of the application's log files. If a container of the workload mounts a
	// volume there, the sidecar mounts the same volume.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^(/[^\s:]*)?$`
	// +optional
	Path string `json:"path,omitempty"`

	// include are file name patterns relative to path. Compressed files are left out, unless a
	// pattern has their suffix.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	Include []string `json:"include,omitempty"`

	// fingerprint configures how Vector recognizes a file after it was renamed.
	// +optional
	Fingerprint *FingerprintSpec `json:"fingerprint,omitempty"`

	// ignoreOlderSeconds skips files without writes for this number of seconds. 0 reads all files.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	// +optional
	IgnoreOlderSeconds *int32 `json:"ignoreOlderSeconds,omitempty"`

	// maxLineBytes is the maximum length of a line. Longer lines are dropped. 0 is Vector's own
	// default, 102400.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=16777216
	// +optional
	MaxLineBytes *int32 `json:"maxLineBytes,omitempty"`

	// cleanup makes Vector remove rotated log files, in a rendered configuration. The sidecar then
	// mounts the volume writable.
	// +optional
	Cleanup *CleanupSpec `json:"cleanup,omitempty"`

	// containers are the application containers that get an emptyDir at path, for an application
	// without a mount there. "*" selects all of them.
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	// +optional
	Containers []string `json:"containers,omitempty"`

	// sizeLimit is the size limit of the emptyDir of containers. A pod that exceeds it is evicted.
	// +optional
	SizeLimit *resource.Quantity `json:"sizeLimit,omitempty"`
}

// CleanupSpec selects the log files that Vector removes.
type CleanupSpec struct {
	// rotated are file name patterns relative to path, such as *.log.*, of the files to remove. A
	// pattern must not match a file that the application still writes to. Empty: no file is removed.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	Rotated []string `json:"rotated,omitempty"`

	// removeAfter is the time without writes after which a file is removed: a number with s, m or
	// h, at least a minute. Undelivered lines do not prevent the removal.
	// +kubebuilder:validation:Pattern=`^([6-9][0-9]s|[1-9][0-9]{2,6}s|[1-9][0-9]{0,4}m|[1-9][0-9]{0,3}h)$`
	// +optional
	RemoveAfter string `json:"removeAfter,omitempty"`

	// evenUnacknowledged also removes files if sinks have acknowledgements enabled, although lines may
	// be lost then.
	// +optional
	EvenUnacknowledged *bool `json:"evenUnacknowledged,omitempty"`
}

// FingerprintSpec configures how Vector recognizes a file.
//
// +kubebuilder:validation:XValidation:rule="!has(self.lines) || self.lines == 1 || !has(self.strategy) || self.strategy != 'DeviceAndInode'",message="sidecar.logs.fingerprint.lines is for strategy Checksum: leave it out with DeviceAndInode"
type FingerprintSpec struct {
	// strategy Checksum identifies a file by its first lines, so files with the same first lines
	// count as one. DeviceAndInode identifies it by its inode, so a truncated file is not read
	// until it is longer than before.
	// +kubebuilder:validation:Enum=Checksum;DeviceAndInode
	// +optional
	Strategy string `json:"strategy,omitempty"`

	// lines is the number of lines in the checksum. A file is read when it has this number of
	// lines.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	Lines *int32 `json:"lines,omitempty"`
}

// SocketSpec is a listener for log lines: on a port of localhost, or on a Unix socket.
type SocketSpec struct {
	// enabled enables the listener.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// mode of the listener. tcp: an event is a line. udp: an event is a packet. unix: an
	// event is a line, on a socket at path.
	// +kubebuilder:validation:Enum=tcp;udp;unix
	// +optional
	Mode string `json:"mode,omitempty"`

	// path of the socket for unix. Its directory is a volume that the sidecar and containers mount.
	// +kubebuilder:validation:MaxLength=107
	// +kubebuilder:validation:Pattern=`^(/[A-Za-z0-9_][A-Za-z0-9._-]*){2,}$`
	// +optional
	Path string `json:"path,omitempty"`

	// containers are the application containers that mount the directory of the socket. "*" selects
	// all of them.
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	// +optional
	Containers []string `json:"containers,omitempty"`

	// port of the listener for tcp and udp.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// codec is the format of a line or packet; bytes is plain text.
	// +kubebuilder:validation:Enum=bytes;json;syslog;gelf
	// +optional
	Codec string `json:"codec,omitempty"`
}

// OTLPSpec is a listener for OpenTelemetry data on localhost.
type OTLPSpec struct {
	// enabled enables the listener.
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

// ApplicationEnvSpec has the variables that give the application's containers the addresses of the
// sidecar.
type ApplicationEnvSpec struct {
	// containers are the application containers that get the variables. "*" selects all of them.
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	// +optional
	Containers []string `json:"containers,omitempty"`

	// otlp is the protocol by which the application sends OpenTelemetry data to sidecar.otlp. The
	// application gets OTEL_EXPORTER_OTLP_PROTOCOL, OTEL_EXPORTER_OTLP_ENDPOINT, and
	// OTEL_RESOURCE_ATTRIBUTES with the names of the workload. Empty: no variables.
	// +kubebuilder:validation:Enum="";grpc;"http/protobuf"
	// +optional
	OTLP *string `json:"otlp,omitempty"`

	// socket is the name of a variable with the address of sidecar.socket: HOST:PORT, or the path of
	// the Unix socket. Empty: no variable.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^([A-Za-z_][A-Za-z0-9_]*)?$`
	// +optional
	Socket *string `json:"socket,omitempty"`
}
