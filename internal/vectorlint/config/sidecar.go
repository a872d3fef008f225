// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"slices"
	"strings"
)

// defaultDataDir is Vector's default of data_dir.
const defaultDataDir = "/var/lib/vector"

// defaultAPIAddress is the default address of Vector's API.
const defaultAPIAddress = "127.0.0.1:8686"

// checkSidecar checks whether the configuration works in its container.
func (c *checker) checkSidecar() {
	if !c.hasContainer {
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

// checkInclude reports patterns of files outside of all mounts. It accepts a pattern that starts above a mount,
// such as /var/**/x.log, because the pattern may match files in the mount.
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
			c.report(outsideMounts, pattern.pos, comp.path+".include["+itoa(i)+"]", "file pattern %q is not on a volume of the container", pattern.scalar)
		}
	}
}

// checkDataDir reports a data directory that is not writable or not on a volume, if a component uses it.
func (c *checker) checkDataDir() {
	user := c.componentWithDataDir()
	folder, pos, isKnown := c.dataDir()
	if user == nil || !isKnown {
		return
	}
	mount := c.container.mountFor(folder)
	switch {
	case mount != nil && mount.ReadOnly:
		c.report(dataNotWritable, pos, "data_dir", "data_dir %s is on a read-only mount at %s, and component %s writes there", folder, mount.Path, user.path)
	case mount == nil && c.container.ReadOnlyRoot:
		c.report(dataNotWritable, pos, "data_dir", "data_dir %s is on the container's read-only root, and component %s writes there", folder, user.path)
	case mount == nil:
		c.report(dataNotKept, pos, "data_dir", "data_dir %s is on the container's own file system, and component %s writes there", folder, user.path)
	}
}

// dataDir returns Vector's data directory as the configuration sets it, or Vector's default. It also returns
// whether the directory is known.
func (c *checker) dataDir() (folder string, pos position, isKnown bool) {
	configured := c.root.get("data_dir")
	if configured.form != text {
		return defaultDataDir, c.root.pos, configured.form != open && !c.isRootOpen()
	}
	return configured.scalar, configured.pos, !c.isDynamic(configured.scalar)
}

// componentWithDataDir returns the first component that writes to Vector's data directory, or nil for none.
func (c *checker) componentWithDataDir() *component {
	for _, comp := range c.components {
		if comp.profile != nil && comp.profile.checkpoints && !comp.options.hasKey("data_dir") || len(diskBuffers(comp)) > 0 {
			return comp
		}
	}
	return nil
}

// checkBufferVolume reports disk buffers that are together larger than the volume on which they are stored.
func (c *checker) checkBufferVolume() {
	folder, _, isKnown := c.dataDir()
	mount := c.container.mountFor(folder)
	if !isKnown || mount == nil || mount.SizeLimit == 0 {
		return
	}
	if comp, stage, total := c.findBuffersAbove(mount.SizeLimit, diskBuffers); comp != nil {
		c.report(bufferAboveVolume, stage.pos, comp.path+".buffer", "disk buffers may grow to %.0f bytes, but the volume at %s is limited to %d", total, mount.Path, mount.SizeLimit)
	}
}

// checkBufferMemory reports memory buffers that are together larger than the container's memory limit. It
// counts only buffers with a limit in bytes, because the size of other buffers depends on the events.
func (c *checker) checkBufferMemory() {
	if c.container.MemoryLimit == 0 {
		return
	}
	if comp, stage, total := c.findBuffersAbove(c.container.MemoryLimit, memoryBuffers); comp != nil {
		c.report(bufferAboveMemory, stage.pos, comp.path+".buffer", "memory buffers may grow to %.0f bytes, but the container's memory is limited to %d", total, c.container.MemoryLimit)
	}
}

// findBuffersAbove reports whether the buffers of a kind may together become larger than a limit. If so, it returns
// the sink and the buffer stage at which the total exceeds the limit, and the total so far. Otherwise, the sink
// and the stage are nil.
func (c *checker) findBuffersAbove(limit int64, stagesOf func(*component) []*value) (exceeding *component, stage *value, total float64) {
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

// checkAPI reports probes of the kubelet that nothing answers at the pod's address, and an API that other
// clients can reach there.
func (c *checker) checkAPI() {
	if !c.readAPI() {
		return
	}
	for _, port := range c.container.ProbePorts {
		c.checkProbe(port)
	}
}

// readAPI adds Vector's API to the listeners if it is enabled. It returns false if the address of the API is
// unknown.
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
		c.listeners = append(c.listeners, c.newListener("api.address", "tcp", pos, host, port))
	}
	if ok && !isLoopback(host) {
		c.report(openAPI, pos, "api.address", "every client that reaches the pod's port %d can read all events there, without authentication", port)
	}
	return ok
}

// checkProbe reports a probe of the kubelet to a port on which nothing listens at the pod's address, or only at the
// loopback address or an address of the other IP family.
func (c *checker) checkProbe(port int) {
	var local, otherFamily *listener
	for i := range c.listeners {
		candidate := &c.listeners[i]
		switch {
		case candidate.port != port || candidate.protocol != "tcp":
		case isLoopback(candidate.host):
			local = candidate
		case !candidate.answersFamily(c.container.IPFamily):
			otherFamily = candidate
		default:
			return
		}
	}
	if otherFamily != nil {
		c.report(otherFamilyProbe, otherFamily.pos, otherFamily.path, "the probe requests port %d of an %s address, and %s listens on host %s", port, c.container.IPFamily, otherFamily.path, otherFamily.host)
		return
	}
	if local != nil {
		c.report(loopbackProbe, local.pos, local.path, "the probe requests port %d, where %s listens on host %s only", port, local.path, local.host)
		return
	}
	mayListen := func(comp *component) bool {
		return comp.profile == nil && (comp.kind == source || comp.kind == sink) || len(comp.profileListeners()) > 0 && (comp.hasOpenAddress || c.isOpenComponent(comp))
	}
	if !slices.ContainsFunc(c.components, mayListen) {
		c.report(unansweredProbe, c.root.pos, "api", "the probe requests port %d, and no component listens there", port)
	}
}
