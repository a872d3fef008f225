// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"cmp"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// maxConnections is how many connections the admission webhook accepts: somewhat more than
// the number of requests that may be in progress or queued.
const maxConnections = 256

// connections limits the number of a server's connections. A new one above the limit
// replaces another that is not verified to come from the API server, so that a client that
// opens many cannot lock the API server out.
type connections struct {
	limit  int
	proves func(*tls.ConnectionState) bool

	mu     sync.Mutex
	opened uint64
	held   map[net.Conn]*connection
}

// connection is what is known of a connection.
type connection struct {
	// opened is its position in the order of opening.
	opened   uint64
	isProven bool
	// isAsking is true while a request is in progress, even if only its first byte has
	// arrived.
	isAsking bool
}

func newConnections(limit int, proves func(*tls.ConnectionState) bool) *connections {
	return &connections{limit: limit, proves: proves, held: map[net.Conn]*connection{}}
}

// note implements http.Server.ConnState.
func (c *connections) note(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		c.open(conn)
	case http.StateActive, http.StateIdle:
		c.use(conn, state == http.StateActive)
	case http.StateClosed, http.StateHijacked:
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.held, conn)
	}
}

func (c *connections) open(conn net.Conn) {
	c.mu.Lock()
	c.opened++
	c.held[conn] = &connection{opened: c.opened}
	var surplus net.Conn
	if len(c.held) > c.limit {
		surplus = c.victim()
		delete(c.held, surplus)
	}
	c.mu.Unlock()
	if encrypted, ok := surplus.(*tls.Conn); ok {
		surplus = encrypted.NetConn() // Closing TLS properly would wait for the client.
	}
	if surplus != nil {
		_ = surplus.Close() // Its goroutine notices that it is closed.
	}
}

// use records that a request has begun or ended. By then the client has sent its
// certificate, if it has one.
func (c *connections) use(conn net.Conn, isAsking bool) {
	c.mu.Lock()
	known := c.held[conn]
	isKnown := known == nil || known.isProven
	c.mu.Unlock()
	isProven := false
	if encrypted, ok := conn.(*tls.Conn); ok && !isKnown {
		state := encrypted.ConnectionState()
		isProven = c.proves(&state)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known != nil {
		known.isAsking, known.isProven = isAsking, known.isProven || isProven
	}
}

// victim returns the connection to close: unverified ones first; of those, ones without a
// request in progress; then the oldest, or, if all are verified, the youngest.
func (c *connections) victim() net.Conn {
	var least net.Conn
	for conn, one := range c.held {
		if least == nil || one.compare(c.held[least]) < 0 {
			least = conn
		}
	}
	return least
}

// compare returns a negative number if a connection is to be closed before another one.
func (one *connection) compare(other *connection) int {
	number := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	before := cmp.Or(cmp.Compare(number(one.isProven), number(other.isProven)), cmp.Compare(number(one.isAsking), number(other.isAsking)))
	if before == 0 && one.isProven {
		return cmp.Compare(other.opened, one.opened)
	}
	return cmp.Or(before, cmp.Compare(one.opened, other.opened))
}
