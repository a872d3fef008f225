// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"net/netip"
	"strconv"
	"strings"
)

// listener is an address on which a component or Vector's API listens.
type listener struct {
	path, protocol string
	pos            position
	source         string // of the file
	host           string
	address        netip.Addr // of the host; invalid for a name
	port           int
}

// checkResources reports addresses and file descriptors that two components use. Disk buffers cannot conflict,
// because their names contain the id of their sink.
func (c *checker) checkResources() {
	descriptors := map[string]*component{}
	type claim struct {
		protocol string
		port     int
	}
	claims := map[claim][]listener{}
	for _, comp := range c.components {
		for _, fresh := range c.componentListeners(comp) {
			key := claim{fresh.protocol, fresh.port}
			for _, existing := range claims[key] {
				if existing.clashesWith(fresh) {
					c.report(claimedTwice, fresh.pos, fresh.path, "%s port %d is also used by component %s", fresh.protocol, fresh.port, existing.path)
					break
				}
			}
			claims[key] = append(claims[key], fresh)
			c.listeners = append(c.listeners, fresh)
		}
		descriptor := fileDescriptor(comp)
		if existing := descriptors[descriptor]; existing != nil && descriptor != "" {
			c.report(claimedTwice, comp.pos, comp.path, "file descriptor %s is also used by component %s", descriptor, existing.path)
		}
		descriptors[descriptor] = comp
	}
}

// fileDescriptor returns the file descriptor that a source reads, or "" for none.
func fileDescriptor(comp *component) string {
	switch {
	case comp.kind != source:
		return ""
	case comp.hasType("stdin"):
		return "0"
	case comp.hasType("file_descriptor"):
		return comp.options.get("fd").scalar
	}
	return ""
}

// componentListeners returns the addresses with a known port on which a component listens. If an address is unknown,
// it sets hasOpenAddress of the component.
func (c *checker) componentListeners(comp *component) []listener {
	if comp.profile == nil {
		return nil
	}
	var listeners []listener
	mode := comp.options.get("mode").scalar
	for _, spec := range comp.profile.listens {
		if mode != "" && mode != spec.protocol {
			continue
		}
		configured := comp.options.get(strings.Split(spec.option, ".")...)
		pos, address := configured.pos, configured.scalar
		if configured.form == null {
			pos, address = comp.pos, spec.standard
		}
		host, port, ok := splitAddress(address)
		if ok {
			listeners = append(listeners, c.newListener(comp.path+"."+spec.option, spec.protocol, pos, host, port))
		}
		comp.hasOpenAddress = comp.hasOpenAddress || !ok && (configured.form == open || c.isDynamic(address))
	}
	return listeners
}

// newListener returns the listener for a host and a port, which are set at a path and position of the configuration.
func (c *checker) newListener(path, protocol string, pos position, host string, port int) listener {
	address, _ := netip.ParseAddr(host)
	return listener{path: path, protocol: protocol, pos: c.sourcePosition(pos), source: c.sourceName(pos), host: host, address: address.Unmap(), port: port}
}

// splitAddress splits HOST:PORT. It returns false for other texts, such as systemd or a variable, which only
// Vector can check.
func splitAddress(address string) (host string, port int, ok bool) {
	colon := strings.LastIndexByte(address, ':')
	if colon < 0 {
		return "", 0, false
	}
	port, err := strconv.Atoi(address[colon+1:])
	return strings.Trim(address[:colon], "[]"), port, err == nil && port > 0
}

// clashesWith reports whether two listeners on the same port conflict with each other.
func (l listener) clashesWith(other listener) bool {
	return l.host == other.host || l.coversAddress(other) || other.coversAddress(l)
}

// coversAddress reports whether a listener also receives the connections to the address of the other listener. A
// listener on the unspecified IPv6 address also receives IPv4 connections, which is the default on Linux.
func (l listener) coversAddress(other listener) bool {
	switch {
	case !l.address.IsUnspecified():
		return false
	case l.address.Is6():
		return true
	}
	return !other.address.IsValid() || other.address.Is4()
}

// answersFamily reports whether a listener receives connections to addresses of an IP family, IPv4 or IPv6. It
// returns true for a host name and for any other family, because the result is unknown.
func (l listener) answersFamily(family string) bool {
	switch {
	case !l.address.IsValid():
		return true
	case family == "IPv6":
		return l.address.Is6()
	case family == "IPv4":
		return l.address.Is4() || l.address.IsUnspecified()
	}
	return true
}

// isLoopback reports whether a host is this machine: localhost or a loopback address.
func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}
