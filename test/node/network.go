// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package node

import (
	"cmp"
	"fmt"
	"os"
)

// FamilyVariable names the IP family of the node, of its pods and of Services: IPv4, the
// default, or IPv6.
const FamilyVariable = "NODE_FAMILY"

// network is the addresses of a run, all of them inside of its own network.
type network struct {
	// own is the address of the node, and of the name server; ownBits are those of its prefix.
	own     string
	ownBits int
	// apiServer is the first address of services, at which pods look for the API server: it
	// listens there itself, because that address is in its certificate.
	apiServer string
	// bits are those of an address.
	bits int
	// services and pods are their ranges, and everything is the range of all addresses.
	services, pods, everything string
	// flags are the flags of addresses. The detection of duplicate IPv6 addresses is off,
	// because a link without ports never finishes it.
	flags []string
	// forwarding is the kernel's setting by which it passes packets on.
	forwarding string
}

var networks = map[string]*network{
	"IPv4": {
		own: "10.250.0.1", ownBits: 24, apiServer: "10.0.0.1", bits: 32,
		services: "10.0.0.0/24", pods: "10.244.0.0/24", everything: "0.0.0.0/0", forwarding: "ipv4/ip_forward",
	},
	"IPv6": {
		own: "fd00:250::1", ownBits: 64, apiServer: "fd00:10::1", bits: 128,
		services: "fd00:10::/112", pods: "fd00:244::/112", everything: "::/0", flags: []string{"nodad"}, forwarding: "ipv6/conf/all/forwarding",
	},
}

func networkOf() (*network, error) {
	family := cmp.Or(os.Getenv(FamilyVariable), "IPv4")
	found, isKnown := networks[family]
	if !isKnown {
		return nil, fmt.Errorf("reading %s: it is %q, and has to be IPv4 or IPv6", FamilyVariable, family)
	}
	return found, nil
}
