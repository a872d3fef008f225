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
	for _, comp := range c.components {
		if comp.kind == source && comp.profile != nil && comp.profile.nodeOnly {
			c.report(nodeOnly, comp.pos, comp.path, "a source of type %q reads the node that it runs on", comp.typeName)
		}
		if comp.kind == source && comp.hasType("file") {
			c.checkInclude(comp)
		}
	}
	c.checkDataDir()
	c.checkBufferVolume()
	c.checkBufferMemory()
	c.checkAPI()
}

// checkInclude finds patterns that are not in a mount. A pattern that starts above a mount, such as /var/**/x.log, may
// reach it.
func (c *checker) checkInclude(comp *component) {
	for i, pattern := range comp.options.get("include").items {
		if pattern.form != text || !strings.HasPrefix(pattern.scalar, "/") {
			continue
		}
		fixed := c.expandPattern(pattern.scalar)
		if wildcard := strings.IndexAny(fixed, "*?["); wildcard >= 0 {
			fixed = fixed[:strings.LastIndexByte(fixed[:wildcard], '/')+1]
		}
		reaches := slices.ContainsFunc(c.container.Mounts, func(m Mount) bool { return fixed != pattern.scalar && isInDirectory(m.Path, fixed) })
		if c.container.mountFor(fixed) == nil && !reaches {
			c.report(outsideMounts, pattern.pos, comp.path+".include["+itoa(i)+"]", "%q is not on a volume of the container", pattern.scalar)
		}
	}
}

// checkDataDir finds a data_dir that cannot be used, if a component uses it.
func (c *checker) checkDataDir() {
	user := c.userOfDataDir()
	folder, pos, isKnown := c.dataDir()
	if user == nil || !isKnown {
		return
	}
	mount := c.container.mountFor(folder)
	switch {
	case mount != nil && mount.ReadOnly:
		c.report(dataNotWritable, pos, "data_dir", "%s is on a read-only mount at %s, and %s writes there", folder, mount.Path, user.path)
	case mount == nil && c.container.ReadOnlyRoot:
		c.report(dataNotWritable, pos, "data_dir", "%s is on the container's read-only root, and %s writes there", folder, user.path)
	case mount == nil:
		c.report(dataNotKept, pos, "data_dir", "%s is on the container's own file system, and %s writes there", folder, user.path)
	}
}

// dataDir returns Vector's data directory as it is written, and whether it is known.
func (c *checker) dataDir() (folder string, pos position, isKnown bool) {
	configured := c.root.get("data_dir")
	if configured.form != text {
		return defaultDataDir, c.root.pos, configured.form != open && !c.isRootOpen()
	}
	return configured.scalar, configured.pos, !c.isDynamic(configured.scalar)
}

func (c *checker) userOfDataDir() *component {
	for _, comp := range c.components {
		if comp.profile != nil && comp.profile.checkpoints && !comp.options.hasKey("data_dir") || len(diskBuffers(comp)) > 0 {
			return comp
		}
	}
	return nil
}

// checkBufferVolume compares the size of all disk buffers with the volume that they are on.
func (c *checker) checkBufferVolume() {
	folder, _, isKnown := c.dataDir()
	mount := c.container.mountFor(folder)
	if !isKnown || mount == nil || mount.SizeLimit == 0 {
		return
	}
	if comp, stage, total := c.buffersAbove(mount.SizeLimit, diskBuffers); comp != nil {
		c.report(bufferAboveVolume, stage.pos, comp.path+".buffer", "disk buffers may grow to %.0f bytes, and the volume at %s holds %d", total, mount.Path, mount.SizeLimit)
	}
}

// checkBufferMemory compares all memory buffers with a limit in bytes with the container's memory. The size of a
// buffer with a limit in events depends on the events.
func (c *checker) checkBufferMemory() {
	if c.container.MemoryLimit == 0 {
		return
	}
	if comp, stage, total := c.buffersAbove(c.container.MemoryLimit, memoryBuffers); comp != nil {
		c.report(bufferAboveMemory, stage.pos, comp.path+".buffer", "memory buffers may grow to %.0f bytes, and the container has %d", total, c.container.MemoryLimit)
	}
}

// buffersAbove checks whether the buffers of a kind may together take more bytes than a limit. It returns the sink and
// the stage of its buffer that exceed the limit, and the total size; nil if the limit is not exceeded.
func (c *checker) buffersAbove(limit int64, stagesOf func(*component) []*value) (exceeding *component, stage *value, total float64) {
	for _, comp := range c.components {
		for _, stage := range stagesOf(comp) {
			n, _ := stage.get("max_size").float()
			if total += n; total > float64(limit) {
				return comp, stage, total
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
	address, pos := defaultAPIAddress, api.pos
	if configured := api.get("address"); configured.form != null {
		address, pos = configured.scalar, configured.pos
	}
	host, port, ok := splitAddress(address)
	if ok {
		c.listeners = append(c.listeners, c.listener("api.address", "tcp", pos, host, port))
	}
	if ok && !isLoopback(host) {
		c.report(openAPI, pos, "api.address", "every client that reaches the pod's port %d can read all events there, without authentication", port)
	}
	return ok
}

func (c *checker) checkProbe(port int) {
	var local, otherFamily *listener
	for i := range c.listeners {
		candidate := &c.listeners[i]
		switch {
		case candidate.port != port || candidate.protocol != "tcp":
		case isLoopback(candidate.host):
			local = candidate
		case !candidate.answers(c.container.IPFamily):
			otherFamily = candidate
		default:
			return
		}
	}
	if otherFamily != nil {
		c.report(otherFamilyProbe, otherFamily.pos, otherFamily.path, "the probe requests port %d of an %s address, and %s listens on %s", port, c.container.IPFamily, otherFamily.path, otherFamily.host)
		return
	}
	if local != nil {
		c.report(loopbackProbe, local.pos, local.path, "the probe requests port %d, where %s listens on %s only", port, local.path, local.host)
		return
	}
	mayListen := func(comp *component) bool {
		return comp.profile == nil && (comp.kind == source || comp.kind == sink) || len(comp.profileListens()) > 0 && (comp.hasOpenAddress || c.isOpenComponent(comp))
	}
	if !slices.ContainsFunc(c.components, mayListen) {
		c.report(unansweredProbe, c.root.pos, "api", "the probe requests port %d, and no component listens there", port)
	}
}
