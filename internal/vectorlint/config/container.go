// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"path"
	"slices"
	"strings"

	vectorflags "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/flags"
)

// Container is what the checks need to know of the container that Vector runs in.
type Container struct {
	// Args are the arguments of Vector, or of IsOtherProgram, a program that may start it.
	Args           []vectorflags.Text
	IsOtherProgram bool
	// Commands are the words of what else is run in it, such as by probes and hooks.
	Commands []string
	// Absent are configuration files that Vector is told to read and that do not exist in the container.
	Absent []vectorflags.Source
	// WorkingDir is where Vector runs; "" for the root.
	WorkingDir string
	// Env holds the variables by name.
	Env map[string]vectorflags.Text
	// OpenEnv tells that there are more variables than Env has.
	OpenEnv bool
	Mounts  []Mount
	// MemoryLimit in bytes; 0 for none.
	MemoryLimit int64
	// ReadOnlyRoot tells that what lies on no mount cannot be written.
	ReadOnlyRoot bool
	// IPFamily is that of the pod's addresses: IPv4, IPv6 or Dual; "" if it is not known.
	IPFamily string
	// ProbePorts are the ports that the kubelet asks, on the pod's address.
	ProbePorts []int
	// DrainSeconds is how long Vector reads on before it is told to stop, at most.
	DrainSeconds int64
}

// Mount is a volume of the container.
type Mount struct {
	Path     string
	ReadOnly bool
	// SizeLimit in bytes; 0 for none.
	SizeLimit int64
}

// CommandLine returns what Vector reads of the arguments and variables. Of an unknown release it reads what the newest does.
func (c *Container) CommandLine(image string) *vectorflags.CommandLine {
	if c == nil {
		return vectorflags.Parse(vectorflags.Input{IsOtherProgram: true})
	}
	return vectorflags.Parse(vectorflags.Input{
		Minor: versionOf(image).minor, Args: c.Args, Env: c.Env, HasMoreEnv: c.OpenEnv, IsOtherProgram: c.IsOtherProgram,
	})
}

// defines reports whether a variable is there, or may be: the container runtime sets
// HOSTNAME, HOME and PATH, the kubelet those of Services, and the image of Vector
// SSL_CERT_FILE.
func (c *Container) defines(name string) bool {
	_, isSet := c.Env[name]
	return isSet || slices.Contains([]string{"HOSTNAME", "HOME", "PATH", "SSL_CERT_FILE"}, name) ||
		strings.HasPrefix(name, "KUBERNETES_") || strings.Contains(name, "_SERVICE_HOST") || strings.Contains(name, "_SERVICE_PORT")
}

// mountOf returns the deepest mount that a path lies on, nil if there is none.
func (c *Container) mountOf(file string) *Mount {
	var deepest *Mount
	if c == nil {
		return nil
	}
	for i := range c.Mounts {
		mount := &c.Mounts[i]
		if below(file, mount.Path) && (deepest == nil || len(mount.Path) > len(deepest.Path)) {
			deepest = mount
		}
	}
	return deepest
}

// below tells whether a path is a folder or lies in it.
func below(file, folder string) bool {
	folder = strings.TrimSuffix(path.Clean(folder), "/") + "/"
	return strings.HasPrefix(path.Clean(file)+"/", folder)
}
