// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"path"
	"slices"
	"strings"

	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// Container describes the container in which Vector runs.
type Container struct {
	// Args are the arguments of Vector. If IsOtherProgram is true, they are the arguments of another program,
	// which may start Vector.
	Args           []vectorflags.Text
	IsOtherProgram bool
	// Commands are the words of other commands that run in the container, such as commands of probes and hooks.
	Commands []string
	// Absent are the configuration files that the command line names, but that do not exist in the container.
	Absent []vectorflags.Source
	// WorkingDir is the working directory of Vector, or "" for the root directory.
	WorkingDir string
	// Env contains the environment variables by name.
	Env map[string]vectorflags.Text
	// OpenEnv reports whether the container has environment variables that are not in Env.
	OpenEnv bool
	Mounts  []Mount
	// MemoryLimit is the memory limit in bytes, or 0 for none.
	MemoryLimit int64
	// ReadOnlyRoot reports whether the root file system is read-only, so that Vector can write only to mounts.
	ReadOnlyRoot bool
	// IPFamily is the IP family of the pod's addresses: IPv4, IPv6 or Dual, or "" if it is unknown.
	IPFamily string
	// ProbePorts are the ports at the pod's address that probes of the kubelet request.
	ProbePorts []int
	// DrainSeconds is the maximum number of seconds between the start of the pod's termination and the stop
	// signal for Vector.
	DrainSeconds int64
}

// Mount is a mounted volume of the container.
type Mount struct {
	Path     string
	ReadOnly bool
	// SizeLimit is the size limit of the volume in bytes, or 0 for none.
	SizeLimit int64
}

// CommandLine returns the parsed arguments and environment variables of Vector. If the release of the image is
// unknown, they are parsed as by the newest release.
func (c *Container) CommandLine(image string) *vectorflags.CommandLine {
	return vectorflags.Parse(vectorflags.Input{
		Minor: parseImageVersion(image).minor, Args: c.Args, Env: c.Env, HasMoreEnv: c.OpenEnv, IsOtherProgram: c.IsOtherProgram,
	})
}

// defines reports whether the container has an environment variable, or may have it. The container runtime sets
// HOSTNAME, HOME and PATH, the kubelet sets the variables of Services, and Vector's image sets SSL_CERT_FILE.
func (c *Container) defines(name string) bool {
	_, isSet := c.Env[name]
	return isSet || slices.Contains([]string{"HOSTNAME", "HOME", "PATH", "SSL_CERT_FILE"}, name) ||
		strings.HasPrefix(name, "KUBERNETES_") || strings.Contains(name, "_SERVICE_HOST") || strings.Contains(name, "_SERVICE_PORT")
}

// mountFor returns the mount that contains a path, or nil for none. If several mounts contain the path, it
// returns the mount with the longest path.
func (c *Container) mountFor(file string) *Mount {
	var deepest *Mount
	for i := range c.Mounts {
		mount := &c.Mounts[i]
		if isInDirectory(file, mount.Path) && (deepest == nil || len(mount.Path) > len(deepest.Path)) {
			deepest = mount
		}
	}
	return deepest
}

// isInDirectory reports whether a path is a directory itself or is below that directory.
func isInDirectory(file, folder string) bool {
	folder = strings.TrimSuffix(path.Clean(folder), "/") + "/"
	return strings.HasPrefix(path.Clean(file)+"/", folder)
}
