// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// collect takes what Vector's http sink sends, in JSON, and tells at /report of each
// writer how many lines it wrote, and how many of these never came, or more than once.
func collect(ctx context.Context, _ []string) error {
	c := &collector{writers: map[string]*received{}}
	routes := http.NewServeMux()
	routes.HandleFunc("POST /lines", c.take)
	routes.HandleFunc("POST /wrote", c.wrote)
	routes.HandleFunc("GET /report", c.report)
	server := &http.Server{Addr: ":8080", Handler: routes, ReadHeaderTimeout: time.Minute}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

type collector struct {
	mu      sync.Mutex
	writers map[string]*received
}

// received is what came of one writer.
type received struct {
	// Wrote is how many lines it wrote; 0 as long as it has not said so.
	Wrote int
	// Lost never came, of those up to Wrote or to the last that came. Twice came again.
	Lost, Twice, Came int
	times             map[int]int
}

func (c *collector) of(name string) *received {
	if c.writers[name] == nil {
		c.writers[name] = &received{times: map[int]int{}}
	}
	return c.writers[name]
}

func (c *collector) take(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for decoder := json.NewDecoder(r.Body); ; {
		var value json.RawMessage
		if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var events []struct{ Message string }
		if json.Unmarshal(value, &events) != nil {
			events = make([]struct{ Message string }, 1)
			if err := json.Unmarshal(value, &events[0]); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
		}
		for _, event := range events {
			name, number, _ := strings.Cut(event.Message, " ")
			if n, err := strconv.Atoi(number); err == nil {
				c.of(name).times[n]++
			}
		}
	}
}

func (c *collector) wrote(w http.ResponseWriter, r *http.Request) {
	count, err := strconv.Atoi(r.FormValue("count"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of(r.FormValue("writer")).Wrote = count
}

func (c *collector) report(w http.ResponseWriter, _ *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, each := range c.writers {
		each.Lost, each.Twice, each.Came = 0, 0, len(each.times)
		highest := each.Wrote
		for n, times := range each.times {
			highest = max(highest, n)
			each.Twice += times - 1
		}
		each.Lost = highest - len(each.times)
	}
	_ = json.NewEncoder(w).Encode(c.writers)
}
