// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"net/netip"
	"strconv"
	"strings"
)

// listener is an address that a component, or the API, listens on.
type listener struct {
	path, protocol string
	at             position
	source         string // of the file
	host           string
	address        netip.Addr // of the host; invalid for a name
	port           int
}

// checkResources finds addresses and file descriptors that two components use. Disk buffers cannot conflict, because
// their names contain the id of their sink.
func (c *checker) checkResources() {
	descriptors := map[string]*component{}
	type claim struct {
		protocol string
		port     int
	}
	claims := map[claim][]listener{}
	for _, one := range c.components {
		for _, fresh := range c.listenersOf(one) {
			of := claim{fresh.protocol, fresh.port}
			for _, first := range claims[of] {
				if first.clashes(fresh) {
					c.report(claimedTwice, fresh.at, fresh.path, "%s port %d is also used by %s", fresh.protocol, fresh.port, first.path)
					break
				}
			}
			claims[of] = append(claims[of], fresh)
			c.listeners = append(c.listeners, fresh)
		}
		descriptor := descriptorOf(one)
		if first := descriptors[descriptor]; first != nil && descriptor != "" {
			c.report(claimedTwice, one.at, one.path, "file descriptor %s is also used by %s", descriptor, first.path)
		}
		descriptors[descriptor] = one
	}
}

// descriptorOf returns the file descriptor that a source reads, "" if none.
func descriptorOf(one *component) string {
	switch {
	case one.kind != source:
		return ""
	case one.is("stdin"):
		return "0"
	case one.is("file_descriptor"):
		return one.options.get("fd").scalar
	}
	return ""
}

func (c *checker) listenersOf(one *component) []listener {
	if one.profile == nil {
		return nil
	}
	var all []listener
	mode := one.options.get("mode").scalar
	for _, of := range one.profile.listens {
		if mode != "" && mode != of.protocol {
			continue
		}
		given := one.options.get(strings.Split(of.option, ".")...)
		at, address := given.at, given.scalar
		if given.form == null {
			at, address = one.at, of.standard
		}
		host, port, ok := splitAddress(address)
		if ok {
			all = append(all, c.listener(one.path+"."+of.option, of.protocol, at, host, port))
		}
		one.hasOpenAddress = one.hasOpenAddress || !ok && (given.form == open || c.isDynamic(address))
	}
	return all
}

func (c *checker) listener(path, protocol string, at position, host string, port int) listener {
	address, _ := netip.ParseAddr(host)
	return listener{path: path, protocol: protocol, at: c.written(at), source: c.sourceOf(at), host: host, address: address.Unmap(), port: port}
}

// splitAddress splits HOST:PORT. It returns false for other texts, such as systemd or a variable, which only Vector
// checks.
func splitAddress(address string) (host string, port int, ok bool) {
	at := strings.LastIndexByte(address, ':')
	if at < 0 {
		return "", 0, false
	}
	port, err := strconv.Atoi(address[at+1:])
	return strings.Trim(address[:at], "[]"), port, err == nil && port > 0
}

// clashes reports whether two listeners on the same port conflict.
func (l listener) clashes(other listener) bool {
	return l.host == other.host || l.covers(other) || other.covers(l)
}

// covers reports whether a listener receives all connections to the address of another one. The unspecified address of
// IPv6 also receives IPv4, as is the default of Linux.
func (l listener) covers(other listener) bool {
	switch {
	case !l.address.IsUnspecified():
		return false
	case l.address.Is6():
		return true
	}
	return !other.address.IsValid() || other.address.Is4()
}

// answers reports whether a listener receives connections to addresses of an IP family, IPv4 or IPv6. It returns true
// for a name and for any other family, because the answer is not known.
func (l listener) answers(family string) bool {
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

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}
