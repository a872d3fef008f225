// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Streams controls how a program reads the API server's state: its watches, and the lists that start them. Without a
// change, all responses are forwarded.
type Streams struct {
	mu    sync.Mutex
	all   map[*stream]bool
	held  chan struct{} // closed when watches go on; nil while they do
	gone  bool          // watches that ask to go on are answered with 410
	dated string        // the version of lists; empty for the latest
}

func newStreams() *Streams { return &Streams{all: map[*stream]bool{}} }

// Hold delays the watch events until Release.
func (s *Streams) Hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		s.held = make(chan struct{})
	}
}

// Release forwards the delayed events in their order, and serves current lists.
func (s *Streams) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != nil {
		close(s.held)
	}
	s.held, s.dated, s.gone = nil, "", false
}

// Cut breaks every open watch and drops its delayed events.
func (s *Streams) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.all {
		one.cut()
	}
}

// Expire breaks every open watch. Until Release, the API server rejects the versions at which a program would resume.
func (s *Streams) Expire() {
	s.mu.Lock()
	s.gone = true
	s.mu.Unlock()
	s.Cut()
}

// Backdate serves lists of a resource version, and no later events, until Release, as an API server with a lagging
// cache does. Reads of the latest state are not changed.
func (s *Streams) Backdate(version string) {
	s.Hold()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dated = version
}

// suffer applies the effect of a write to the watches.
func (s *Streams) suffer(effect Effect, next http.RoundTripper, write *http.Request) error {
	switch {
	case effect.backdates:
		version, err := latest(next, write)
		if err != nil {
			return err
		}
		s.Backdate(version)
	case effect.watches != nil:
		effect.watches(s)
	default:
		return nil
	}
	time.AfterFunc(recovery, s.Release)
	return nil
}

// latest returns the current version of the state. The API server of a write creates the next one.
func latest(next http.RoundTripper, write *http.Request) (string, error) {
	before, _, _ := strings.Cut(write.URL.Path, "/apis/")
	_, below, _ := strings.Cut(write.URL.Path, "/namespaces/")
	namespace, _, _ := strings.Cut(below, "/")
	if before == write.URL.Path {
		before, _, _ = strings.Cut(before, "/api/")
	}
	request := write.Clone(write.Context())
	request.Method, request.Body, request.ContentLength = http.MethodGet, http.NoBody, 0
	request.URL.Path, request.URL.RawQuery = before+"/api/v1/namespaces/"+namespace+"/configmaps", "limit=1"
	request.Header.Set("Accept", "application/json")
	response, err := next.RoundTrip(request)
	if err != nil {
		return "", fmt.Errorf("asking for the latest version: %w", err)
	}
	defer response.Body.Close()
	var list struct{ Metadata metav1.ListMeta }
	if err := json.NewDecoder(response.Body).Decode(&list); err != nil {
		return "", fmt.Errorf("reading the latest version: %w", err)
	}
	return list.Metadata.ResourceVersion, nil
}

// backdate changes a request for any state into a request for an old state.
func (s *Streams) backdate(request *http.Request) *http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	query := request.URL.Query()
	if s.dated == "" || request.Method != http.MethodGet || query.Get("resourceVersion") != "0" {
		return request
	}
	query.Set("resourceVersion", s.dated)
	query.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchExact))
	request = request.Clone(request.Context())
	request.URL.RawQuery = query.Encode()
	return request
}

// open opens a watch.
func (s *Streams) open(next http.RoundTripper, request *http.Request) (*http.Response, error) {
	s.mu.Lock()
	gone, dated := s.gone, s.dated != ""
	s.mu.Unlock()
	query := request.URL.Query()
	// A streaming list cannot have an exact version. It is rejected, so that the program sends a list request.
	if dated && query.Get("sendInitialEvents") == "true" {
		return answer(request, http.StatusUnprocessableEntity)
	}
	if gone && query.Get("resourceVersion") != "" && query.Get("sendInitialEvents") != "true" {
		return answer(request, http.StatusGone)
	}
	response, err := next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	one := &stream{streams: s, body: response.Body, ended: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[one] = true
	response.Body = one
	return response, nil
}

// stream is an open watch.
type stream struct {
	streams *Streams
	body    io.ReadCloser
	once    sync.Once
	ended   chan struct{}
}

// Read reads the forwarded events.
func (s *stream) Read(into []byte) (int, error) {
	n, err := s.body.Read(into)
	s.streams.mu.Lock()
	held := s.streams.held
	s.streams.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-s.ended:
		}
	}
	select {
	case <-s.ended:
		return 0, errCut
	default:
		return n, err
	}
}

// Close ends the watch.
func (s *stream) Close() error {
	s.cut()
	s.streams.mu.Lock()
	defer s.streams.mu.Unlock()
	delete(s.streams.all, s)
	return nil
}

// cut breaks the connection of the watch.
func (s *stream) cut() {
	s.once.Do(func() {
		close(s.ended)
		_ = s.body.Close() // It is cut in any case.
	})
}
