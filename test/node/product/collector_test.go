// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/node/delivery"
)

// collector takes what Vector's http sink sends, in JSON, and counts for each writer which
// of its lines came, and how often. It is on the node, where it can be away as a program
// is that does not run: connections end, and new ones are refused.
type collector struct {
	t *testing.T
	// lines is where it takes lines, and wrote where it hears of writers, always.
	lines, wrote string

	server *http.Server

	mu      sync.Mutex
	writers map[string]*received
	last    time.Time
}

// received is what came of one writer.
type received struct {
	// wrote is how many lines it has written, as it says each second, and when it ends.
	wrote   int
	isEnded bool
	// isForgotten is of one that does not count.
	isForgotten bool
	// times is how often each line came; highest is that of the highest number.
	times   map[int]int
	highest int
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{t: t, writers: map[string]*received{}}
	wrote := c.serve(machine.Address+":0", "POST /wrote", c.hear)
	c.wrote = wrote.Addr
	c.server = c.serve(machine.Address+":0", "POST /lines", c.take)
	c.lines = c.server.Addr
	t.Cleanup(func() { _, _ = wrote.Close(), c.server.Close() })
	return c
}

// serve returns a server whose address is the one that it has got.
func (c *collector) serve(address, pattern string, answer http.HandlerFunc) *http.Server {
	c.t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(c.t, err)
	routes := http.NewServeMux()
	routes.HandleFunc(pattern, answer)
	server := &http.Server{Addr: listener.Addr().String(), Handler: routes, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	return server
}

// away has nobody take lines until back.
func (c *collector) away() { require.NoError(c.t, c.server.Close()) }

func (c *collector) back() { c.server = c.serve(c.lines, "POST /lines", c.take) }

func (c *collector) of(name string) *received {
	if c.writers[name] == nil {
		c.writers[name] = &received{times: map[int]int{}}
	}
	return c.writers[name]
}

func (c *collector) take(w http.ResponseWriter, r *http.Request) {
	var events []struct{ Message string }
	text, err := io.ReadAll(r.Body) // All of it, or nothing: what is cut is sent again.
	if err == nil {
		err = decode(text, &events)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = time.Now()
	for _, event := range events {
		fields := strings.Fields(event.Message)
		if len(fields) < 2 {
			continue // The first line of a file, say.
		}
		if n, err := strconv.Atoi(fields[1]); err == nil {
			each := c.of(fields[0])
			each.times[n]++
			each.highest = max(each.highest, n)
		}
	}
}

// decode reads arrays of events, or events without one.
func decode(text []byte, events *[]struct{ Message string }) error {
	for decoder := json.NewDecoder(strings.NewReader(string(text))); ; {
		var value json.RawMessage
		if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if value[0] != '[' {
			value = append(append([]byte{'['}, value...), ']')
		}
		var some []struct{ Message string }
		if err := json.Unmarshal(value, &some); err != nil {
			return err
		}
		*events = append(*events, some...)
	}
}

func (c *collector) hear(w http.ResponseWriter, r *http.Request) {
	count, err := strconv.Atoi(r.FormValue("count"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	each := c.of(r.FormValue("writer"))
	each.wrote, each.isEnded = max(each.wrote, count), each.isEnded || r.FormValue("end") == "true"
}

// written is how many lines each writer has written by now.
func (c *collector) written() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]int{}
	for name, each := range c.writers {
		all[name] = each.wrote
	}
	return all
}

// isPast reports whether of each writer a line has come that is not before this one.
func (c *collector) isPast(written map[string]int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, number := range written {
		if c.of(name).highest < number {
			return false
		}
	}
	return true
}

// came is how many lines have come, and how long ago the last of them.
func (c *collector) came() (lines int, ago time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, each := range c.writers {
		lines += len(each.times)
	}
	return lines, time.Since(c.last)
}

// forget leaves a writer out of what is counted.
func (c *collector) forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of(name).isForgotten = true
}

// count is what became of all lines, when the writers have ended; silent are those that
// did not tell of their end, of which some more may be lost.
func (c *collector) count() (sum delivery.Cell, silent []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, each := range c.writers {
		if each.isForgotten {
			continue
		}
		if !each.isEnded {
			silent = append(silent, name)
		}
		for _, times := range each.times {
			sum.Twice += times - 1
		}
		sum.Wrote += max(each.wrote, each.highest)
		sum.Lost += max(each.wrote, each.highest) - len(each.times)
	}
	return sum, silent
}

// missing says of each writer where the first line is that has not come, and what has come:
// what is behind the highest is what Vector had not got to.
func (c *collector) missing() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var text strings.Builder
	for name, each := range c.writers {
		if each.isForgotten {
			continue
		}
		first := 1
		for each.times[first] > 0 {
			first++
		}
		if wrote := max(each.wrote, each.highest); first <= wrote {
			fmt.Fprintf(&text, "%s wrote %d lines, of which %d came, the highest is %d, and the first that is missing %d; ", name, wrote, len(each.times), each.highest, first)
		}
	}
	return text.String()
}
