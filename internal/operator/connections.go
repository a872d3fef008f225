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

// mostConnections is how many connections the admission webhook holds: somewhat more than
// requests may be at work or wait.
const mostConnections = 256

// connections bounds how many there are of a server. One too many takes the place of another
// that is not proven to be the API server's, so that who opens many keeps nobody out.
type connections struct {
	most   int
	proves func(*tls.ConnectionState) bool

	mu     sync.Mutex
	opened uint64
	held   map[net.Conn]*connection
}

// connection is what is known of one.
type connection struct {
	// opened is its place in the order in which they were.
	opened   uint64
	isProven bool
	// isAsking: a request is under way, if only its first byte.
	isAsking bool
}

func newConnections(most int, proves func(*tls.ConnectionState) bool) *connections {
	return &connections{most: most, proves: proves, held: map[net.Conn]*connection{}}
}

// note is a server's ConnState.
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
	if len(c.held) > c.most {
		surplus = c.least()
		delete(c.held, surplus)
	}
	c.mu.Unlock()
	if encrypted, ok := surplus.(*tls.Conn); ok {
		surplus = encrypted.NetConn() // To end the encryption properly would wait for the other side.
	}
	if surplus != nil {
		_ = surplus.Close() // Its own goroutine finds it closed.
	}
}

// use notes that a request has begun or is over. Who asks has shown a certificate, if any.
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

// least returns the connection to go: one that is not proven before one that is; of these
// one that asks nothing just now; and then the oldest, or, where all are proven, the youngest.
func (c *connections) least() net.Conn {
	var least net.Conn
	for conn, one := range c.held {
		if least == nil || one.compare(c.held[least]) < 0 {
			least = conn
		}
	}
	return least
}

// compare returns what is less than 0 if a connection is to go before another one.
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
