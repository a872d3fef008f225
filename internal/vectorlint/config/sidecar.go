// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"slices"
	"strings"
)

// defaultDataDir is Vector's default.
const defaultDataDir = "/var/lib/vector"

// defaultAPIAddress is the address of Vector's API if it is not set.
const defaultAPIAddress = "127.0.0.1:8686"

// checkSidecar checks the configuration against its container.
func (c *checker) checkSidecar() {
	if c.container == nil {
		return
	}
	for _, one := range c.components {
		if one.kind == source && one.profile != nil && one.profile.nodeOnly {
			c.report(nodeOnly, one.at, one.path, "a source of type %q reads the node that it runs on", one.typeName)
		}
		if one.kind == source && one.is("file") {
			c.checkInclude(one)
		}
	}
	c.checkDataDir()
	c.checkBufferVolume()
	c.checkBufferMemory()
	c.checkAPI()
}

// checkInclude finds patterns that are not in a mount. A pattern that starts above a mount, such as /var/**/x.log, may
// reach it.
func (c *checker) checkInclude(one *component) {
	for i, pattern := range one.options.get("include").items {
		if pattern.form != text || !strings.HasPrefix(pattern.scalar, "/") {
			continue
		}
		fixed := c.expanded(pattern.scalar)
		if at := strings.IndexAny(fixed, "*?["); at >= 0 {
			fixed = fixed[:strings.LastIndexByte(fixed[:at], '/')+1]
		}
		reaches := slices.ContainsFunc(c.container.Mounts, func(m Mount) bool { return fixed != pattern.scalar && below(m.Path, fixed) })
		if c.container.mountOf(fixed) == nil && !reaches {
			c.report(outsideMounts, pattern.at, one.path+".include["+itoa(i)+"]", "%q is not on a volume of the container", pattern.scalar)
		}
	}
}

// checkDataDir finds a data_dir that cannot be used, if a component uses it.
func (c *checker) checkDataDir() {
	user := c.userOfDataDir()
	folder, at, isKnown := c.dataDir()
	if user == nil || !isKnown {
		return
	}
	mount := c.container.mountOf(folder)
	switch {
	case mount != nil && mount.ReadOnly:
		c.report(dataNotWritable, at, "data_dir", "%s is on a read-only mount at %s, and %s writes there", folder, mount.Path, user.path)
	case mount == nil && c.container.ReadOnlyRoot:
		c.report(dataNotWritable, at, "data_dir", "%s is on the container's read-only root, and %s writes there", folder, user.path)
	case mount == nil:
		c.report(dataNotKept, at, "data_dir", "%s is on the container's own file system, and %s writes there", folder, user.path)
	}
}

// dataDir returns Vector's data directory as it is written, and whether it is known.
func (c *checker) dataDir() (folder string, at position, isKnown bool) {
	given := c.root.get("data_dir")
	if given.form != text {
		return defaultDataDir, c.root.at, given.form != open && !c.isRootOpen()
	}
	return given.scalar, given.at, !c.isDynamic(given.scalar)
}

func (c *checker) userOfDataDir() *component {
	for _, one := range c.components {
		if one.profile != nil && one.profile.checkpoints && !one.options.has("data_dir") || len(diskBuffers(one)) > 0 {
			return one
		}
	}
	return nil
}

// checkBufferVolume compares the size of all disk buffers with the volume that they are on.
func (c *checker) checkBufferVolume() {
	folder, _, isKnown := c.dataDir()
	mount := c.container.mountOf(folder)
	if !isKnown || mount == nil || mount.SizeLimit == 0 {
		return
	}
	if one, stage, total := c.buffersAbove(mount.SizeLimit, diskBuffers); one != nil {
		c.report(bufferAboveVolume, stage.at, one.path+".buffer", "disk buffers may grow to %.0f bytes, and the volume at %s holds %d", total, mount.Path, mount.SizeLimit)
	}
}

// checkBufferMemory compares all memory buffers with a limit in bytes with the container's memory. The size of a
// buffer with a limit in events depends on the events.
func (c *checker) checkBufferMemory() {
	if c.container.MemoryLimit == 0 {
		return
	}
	if one, stage, total := c.buffersAbove(c.container.MemoryLimit, memoryBuffers); one != nil {
		c.report(bufferAboveMemory, stage.at, one.path+".buffer", "memory buffers may grow to %.0f bytes, and the container has %d", total, c.container.MemoryLimit)
	}
}

// buffersAbove checks whether the buffers of a kind may together take more bytes than a limit. It returns the sink and
// the stage of its buffer that exceed the limit, and the total size; nil if the limit is not exceeded.
func (c *checker) buffersAbove(limit int64, stagesOf func(*component) []*value) (above *component, stage *value, total float64) {
	for _, one := range c.components {
		for _, stage := range stagesOf(one) {
			n, _ := stage.get("max_size").float()
			if total += n; total > float64(limit) {
				return one, stage, total
			}
		}
	}
	return nil, nil, total
}

// checkAPI requires that probes of the kubelet are answered on the pod's address, and that the API does not listen
// there for others.
func (c *checker) checkAPI() {
	if !c.readAPI() {
		return
	}
	for _, port := range c.container.ProbePorts {
		c.checkProbe(port)
	}
}

// readAPI adds the API to the listeners, and reports whether its address could be read.
func (c *checker) readAPI() bool {
	api := c.root.get("api")
	enabled := api.get("enabled")
	if api.form == open || enabled.form == open || c.hasOpenKey(api) || c.isRootOpen() {
		return false
	}
	if !enabled.isTrue() {
		return true
	}
	address, at := defaultAPIAddress, api.at
	if given := api.get("address"); given.form != null {
		address, at = given.scalar, given.at
	}
	host, port, ok := splitAddress(address)
	if ok {
		c.listeners = append(c.listeners, c.listener("api.address", "tcp", at, host, port))
	}
	if ok && !isLoopback(host) {
		c.report(openAPI, at, "api.address", "every client that reaches the pod's port %d can read all events there, without authentication", port)
	}
	return ok
}

func (c *checker) checkProbe(port int) {
	var local, other *listener
	for i := range c.listeners {
		one := &c.listeners[i]
		switch {
		case one.port != port || one.protocol != "tcp":
		case isLoopback(one.host):
			local = one
		case !one.answers(c.container.IPFamily):
			other = one
		default:
			return
		}
	}
	if other != nil {
		c.report(otherFamilyProbe, other.at, other.path, "the probe requests port %d of an %s address, and %s listens on %s", port, c.container.IPFamily, other.path, other.host)
		return
	}
	if local != nil {
		c.report(loopbackProbe, local.at, local.path, "the probe requests port %d, where %s listens on %s only", port, local.path, local.host)
		return
	}
	mayListen := func(one *component) bool {
		return one.profile == nil && (one.kind == source || one.kind == sink) || len(one.profileListens()) > 0 && (one.hasOpenAddress || c.isOpenComponent(one))
	}
	if !slices.ContainsFunc(c.components, mayListen) {
		c.report(unansweredProbe, c.root.at, "api", "the probe requests port %d, and no component listens there", port)
	}
}
