// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command coredns is CoreDNS with the plugins that resolve the names of a
// cluster, and without those for clouds, which are most of it.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"       // listens on one address
	_ "github.com/coredns/coredns/plugin/errors"     // says what went wrong
	_ "github.com/coredns/coredns/plugin/kubernetes" // names of Services and pods
	_ "github.com/coredns/coredns/plugin/ready"      // answers when it has read the cluster
)

func main() {
	dnsserver.Directives = []string{"ready", "bind", "errors", "kubernetes"}
	coremain.Run()
}
