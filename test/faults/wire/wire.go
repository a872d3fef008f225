// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Wire carries all requests of a program, and of the programs that replace it, to the API server. Use New to create
// one.
type Wire struct {
	// Streams are the open watches.
	Streams *Streams

	mu     sync.Mutex
	counts map[string]int
	// last is the time of the last write, and asked the time of the last start or request of a program.
	last, asked time.Time
	fault       *Fault
	before      map[Write]func()
	fired       chan struct{}
}

// New returns a wire with a fault, or without one.
func New(fault *Fault) *Wire {
	return &Wire{
		Streams: newStreams(), counts: map[string]int{}, fault: fault,
		before: map[Write]func(){}, fired: make(chan struct{}), last: time.Now(), asked: time.Now(),
	}
}

// Before registers a function that is called before a write is sent. The write waits for it.
func (w *Wire) Before(at Write, do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before[at] = do
}

// Fired returns a channel that is closed when the fault has happened.
func (w *Wire) Fired() <-chan struct{} { return w.fired }

// Counts returns the numbers of writes so far, by kind.
func (w *Wire) Counts() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.counts)
}

// Quiet returns the time since the last write.
func (w *Wire) Quiet() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.last)
}

// Idle returns the time since a program last started, read or wrote, without requests for Leases and events. A
// program reads before it writes, which may be slow on a busy machine.
func (w *Wire) Idle() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.asked)
}

func (w *Wire) ask() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = time.Now()
}

// number counts a write, and returns the function to call before it and its effect.
func (w *Wire) number(kind string) (before func(), effect Effect) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[kind]++
	w.last = time.Now()
	at := Write{Kind: kind, N: w.counts[kind]}
	if w.fault != nil && w.fault.At == at {
		effect, w.fault = w.fault.Effect, nil
		defer close(w.fired)
	}
	return w.before[at], effect
}

// errDead is the error of all requests after a crash.
var errDead = errors.New("this program has crashed")

// Life is one run of a program, from its start to its end or crash.
type Life struct {
	wire *Wire

	mu       sync.Mutex
	isDead   bool
	inFlight sync.WaitGroup
	crashed  chan struct{}
}

// Begin starts the life of a program.
func (w *Wire) Begin() *Life {
	w.ask()
	return &Life{wire: w, crashed: make(chan struct{})}
}

// Crashed returns a channel that is closed at the crash. After it, requests of the program do not reach the API
// server, and answers do not reach the program.
func (l *Life) Crashed() <-chan struct{} { return l.crashed }

// Crash ends the life, and returns when the API server has finished the requests that were already sent.
func (l *Life) Crash() {
	l.die()
	l.inFlight.Wait()
}

func (l *Life) die() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isDead {
		l.isDead = true
		close(l.crashed)
	}
}

// enter allows a request of a living program. The returned function ends the request; a watch does not end.
func (l *Life) enter(request *http.Request) (leave func(), lives bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isDead || isWatch(request) {
		return func() {}, !l.isDead
	}
	l.inFlight.Add(1)
	return l.inFlight.Done, true
}

func (l *Life) dead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.isDead
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip makes a request.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// Through returns the transport of the program, based on another one.
func (l *Life) Through(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		leave, lives := l.enter(request)
		if !lives {
			return refuse(request, errDead)
		}
		defer leave()
		response, err := l.send(next, request)
		if l.dead() {
			return swallow(response, errDead)
		}
		return response, err
	})
}

func (l *Life) send(next http.RoundTripper, request *http.Request) (*http.Response, error) {
	kind, counts := KindOf(request)
	if counts || request.Method == http.MethodGet && !slices.Contains(uncounted, resourceOf(request.URL.Path)) {
		l.wire.ask()
	}
	if isWatch(request) {
		return l.wire.Streams.open(next, request)
	}
	if !counts {
		return next.RoundTrip(l.wire.Streams.backdate(request))
	}
	before, effect := l.wire.number(kind)
	if before != nil {
		before()
	}
	switch {
	case effect.crashes && !effect.commits:
		l.die()
		return refuse(request, errDead)
	case effect.cuts && !effect.commits:
		return refuse(request, errCut)
	case effect.status != 0:
		response, err := answer(request, effect.status)
		return response, errors.Join(err, closeBody(request))
	}
	if err := l.wire.Streams.suffer(effect, next, request); err != nil {
		return refuse(request, err)
	}
	response, err := next.RoundTrip(request)
	switch {
	case effect.crashes:
		l.die()
		return swallow(response, errDead)
	case effect.cuts:
		return swallow(response, errCut)
	case effect.delay > 0:
		select {
		case <-time.After(effect.delay):
		case <-request.Context().Done():
		}
	}
	return response, err
}

// refuse returns an error without sending the request. It closes the request's body, as a transport must.
func refuse(request *http.Request, err error) (*http.Response, error) {
	return nil, errors.Join(err, closeBody(request))
}

func closeBody(request *http.Request) error {
	if request.Body == nil {
		return nil
	}
	return request.Body.Close()
}

// swallow drops a response.
func swallow(response *http.Response, err error) (*http.Response, error) {
	if response != nil {
		_ = response.Body.Close() // Nobody asks for what it says.
	}
	return nil, err
}
