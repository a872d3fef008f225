// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// LogsSpec says which files to read.
type LogsSpec struct {
	// path is the directory that the application logs to. If a container of the
	// workload mounts a volume there, the sidecar mounts the same one.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^(/[^\s:]*)?$`
	// +optional
	Path string `json:"path,omitempty"`

	// include are file name patterns relative to path. Compressed files are left
	// out, unless a pattern ends as they do.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	Include []string `json:"include,omitempty"`

	// fingerprint is how Vector knows a file again after it was renamed.
	// +optional
	Fingerprint *FingerprintSpec `json:"fingerprint,omitempty"`

	// ignoreOlderSeconds leaves files out that nobody has written to for as
	// long. 0 reads all.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	// +optional
	IgnoreOlderSeconds *int32 `json:"ignoreOlderSeconds,omitempty"`

	// maxLineBytes is how long a line may be; a longer one is dropped. 0 is
	// Vector's own default, 102400.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=16777216
	// +optional
	MaxLineBytes *int32 `json:"maxLineBytes,omitempty"`

	// cleanup has Vector remove files that the application is done with, in a
	// rendered configuration. The volume is mounted writable then.
	// +optional
	Cleanup *CleanupSpec `json:"cleanup,omitempty"`

	// containers that get an emptyDir at path, for an application that mounts
	// nothing there. "*" is all of them.
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

// CleanupSpec says which log files Vector removes, and when.
type CleanupSpec struct {
	// rotated are file name patterns relative to path, of files that nobody writes to
	// any more, such as *.log.*. None may match a file that is still written to.
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +optional
	Rotated []string `json:"rotated,omitempty"`

	// removeAfter is how long nobody has written to a file that is removed: a number
	// with s, m or h, a minute at least. Whether its lines were delivered does not
	// count.
	// +kubebuilder:validation:Pattern=`^([6-9][0-9]s|[1-9][0-9]{2,6}s|[1-9][0-9]{0,4}m|[1-9][0-9]{0,3}h)$`
	// +optional
	RemoveAfter string `json:"removeAfter,omitempty"`

	// evenUnacknowledged removes files also where sinks have acknowledgements on,
	// which promise that no line is lost.
	// +optional
	EvenUnacknowledged *bool `json:"evenUnacknowledged,omitempty"`
}

// FingerprintSpec is how Vector knows a file again.
//
// +kubebuilder:validation:XValidation:rule="!has(self.lines) || self.lines == 1 || !has(self.strategy) || self.strategy != 'DeviceAndInode'",message="sidecar.logs.fingerprint.lines is for strategy Checksum: leave it out with DeviceAndInode"
type FingerprintSpec struct {
	// strategy Checksum goes by a file's first lines, so that files that begin
	// alike are one; DeviceAndInode by its inode, so that a file that is emptied
	// in place is not read until it is longer than before.
	// +kubebuilder:validation:Enum=Checksum;DeviceAndInode
	// +optional
	Strategy string `json:"strategy,omitempty"`

	// lines are how many of a file the checksum is made of. A file is read when
	// it has as many.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	Lines *int32 `json:"lines,omitempty"`
}

// SocketSpec is a listener for log lines: on a port of localhost, or on a socket that is a file.
type SocketSpec struct {
	// enabled turns the listener on.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`

	// mode of the listener. tcp: an event is a line. udp: an event is a packet. unix: an
	// event is a line, on a socket at path.
	// +kubebuilder:validation:Enum=tcp;udp;unix
	// +optional
	Mode string `json:"mode,omitempty"`

	// path of the socket for unix. Its folder is a volume that the sidecar and containers
	// have.
	// +kubebuilder:validation:MaxLength=107
	// +kubebuilder:validation:Pattern=`^(/[A-Za-z0-9_][A-Za-z0-9._-]*){2,}$`
	// +optional
	Path string `json:"path,omitempty"`

	// containers of the application that have the socket's folder; "*" is all of them.
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
	// enabled turns the listener on.
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

// ApplicationEnvSpec is the variables by which the application's containers get the addresses of the sidecar.
type ApplicationEnvSpec struct {
	// containers of the application that get the variables; "*" is all of them.
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	// +optional
	Containers []string `json:"containers,omitempty"`

	// otlp is the protocol for the application: OTEL_EXPORTER_OTLP_PROTOCOL,
	// OTEL_EXPORTER_OTLP_ENDPOINT for the listener of sidecar.otlp, and OTEL_RESOURCE_ATTRIBUTES
	// with the workload's names. Empty for none of them.
	// +kubebuilder:validation:Enum="";grpc;"http/protobuf"
	// +optional
	OTLP *string `json:"otlp,omitempty"`

	// socket is the name of a variable with the address of sidecar.socket: HOST:PORT, or the path.
	// Empty for none.
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^([A-Za-z_][A-Za-z0-9_]*)?$`
	// +optional
	Socket *string `json:"socket,omitempty"`
}
