// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"path"
	"slices"
	"strings"

	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// Container describes the container that Vector runs in.
type Container struct {
	// Args are the arguments of Vector. If IsOtherProgram, they are the arguments of a program that may start it.
	Args           []vectorflags.Text
	IsOtherProgram bool
	// Commands are the words of other commands in the container, such as probes and hooks.
	Commands []string
	// Absent are configuration files that the command line names and that do not exist in the container.
	Absent []vectorflags.Source
	// WorkingDir is the working directory of Vector; "" for the root.
	WorkingDir string
	// Env has the variables by name.
	Env map[string]vectorflags.Text
	// OpenEnv reports that there are more variables than Env has.
	OpenEnv bool
	Mounts  []Mount
	// MemoryLimit is in bytes; 0 for none.
	MemoryLimit int64
	// ReadOnlyRoot reports that paths outside of mounts cannot be written.
	ReadOnlyRoot bool
	// IPFamily is the IP family of the pod's addresses: IPv4, IPv6 or Dual; "" if it is not known.
	IPFamily string
	// ProbePorts are the ports that the kubelet probes, on the pod's address.
	ProbePorts []int
	// DrainSeconds is the maximum time that Vector continues to read before it receives the signal to stop.
	DrainSeconds int64
}

// Mount is a volume of the container.
type Mount struct {
	Path     string
	ReadOnly bool
	// SizeLimit is in bytes; 0 for none.
	SizeLimit int64
}

// CommandLine returns the parsed arguments and variables. For an unknown release, they are parsed as the newest
// release does.
func (c *Container) CommandLine(image string) *vectorflags.CommandLine {
	if c == nil {
		return vectorflags.Parse(vectorflags.Input{IsOtherProgram: true})
	}
	return vectorflags.Parse(vectorflags.Input{
		Minor: parseImageVersion(image).minor, Args: c.Args, Env: c.Env, HasMoreEnv: c.OpenEnv, IsOtherProgram: c.IsOtherProgram,
	})
}

// defines reports whether a variable exists, or may exist. The container runtime sets HOSTNAME, HOME and PATH, the
// kubelet sets the variables of Services, and the image of Vector sets SSL_CERT_FILE.
func (c *Container) defines(name string) bool {
	_, isSet := c.Env[name]
	return isSet || slices.Contains([]string{"HOSTNAME", "HOME", "PATH", "SSL_CERT_FILE"}, name) ||
		strings.HasPrefix(name, "KUBERNETES_") || strings.Contains(name, "_SERVICE_HOST") || strings.Contains(name, "_SERVICE_PORT")
}

// mountFor returns the deepest mount that contains a path, nil if there is none.
func (c *Container) mountFor(file string) *Mount {
	var deepest *Mount
	if c == nil {
		return nil
	}
	for i := range c.Mounts {
		mount := &c.Mounts[i]
		if isInDirectory(file, mount.Path) && (deepest == nil || len(mount.Path) > len(deepest.Path)) {
			deepest = mount
		}
	}
	return deepest
}

// isInDirectory reports whether a path is a directory or is in it.
func isInDirectory(file, folder string) bool {
	folder = strings.TrimSuffix(path.Clean(folder), "/") + "/"
	return strings.HasPrefix(path.Clean(file)+"/", folder)
}
