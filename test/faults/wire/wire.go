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

// Wire is all that goes from one program, and those that take its place, to the API
// server. Make one with New.
type Wire struct {
	// Streams are the watches that are open.
	Streams *Streams

	mu     sync.Mutex
	counts map[string]int
	// last is when the last write was, and asked when a program began or sent anything.
	last, asked time.Time
	fault       *Fault
	before      map[Write]func()
	fired       chan struct{}
}

// New returns a wire with a fault on it, or with none.
func New(fault *Fault) *Wire {
	return &Wire{
		Streams: newStreams(), counts: map[string]int{}, fault: fault,
		before: map[Write]func(){}, fired: make(chan struct{}), last: time.Now(), asked: time.Now(),
	}
}

// Before has something done before a write goes on its way, which waits for it.
func (w *Wire) Before(at Write, do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before[at] = do
}

// Fired is closed when the fault has had its effect.
func (w *Wire) Fired() <-chan struct{} { return w.fired }

// Counts are the writes so far, by kind.
func (w *Wire) Counts() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.counts)
}

// Quiet is how long ago the last write was.
func (w *Wire) Quiet() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.last)
}

// Idle is how long ago a program began, or read or wrote anything but a lease or an event: one that has
// just been started reads before it writes, and on a busy machine that takes a while.
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

// number counts a write, and says what is to be done before it, if anything, and what
// becomes of it.
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

// errDead is what a program that has crashed would see, if it saw anything.
var errDead = errors.New("this program has crashed")

// Life is one run of a program, from its start to its end or crash.
type Life struct {
	wire *Wire

	mu       sync.Mutex
	isDead   bool
	inFlight sync.WaitGroup
	crashed  chan struct{}
}

// Begin begins the life of a program.
func (w *Wire) Begin() *Life {
	w.ask()
	return &Life{wire: w, crashed: make(chan struct{})}
}

// Crashed is closed when the program is not to go on: nothing of it reaches the API
// server any more, and nothing of the API server's reaches it.
func (l *Life) Crashed() <-chan struct{} { return l.crashed }

// Crash ends the life, and returns when the API server has done what it was already
// asked for.
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

// enter lets a request of a program that lives through. What it returns says that the
// request is done with; a watch never is.
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

// Through returns the transport of the program, through which it reaches another.
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

// refuse does not send a request; whoever makes one expects its body to be closed.
func refuse(request *http.Request, err error) (*http.Response, error) {
	return nil, errors.Join(err, closeBody(request))
}

func closeBody(request *http.Request) error {
	if request.Body == nil {
		return nil
	}
	return request.Body.Close()
}

// swallow keeps an answer from whoever waits for it.
func swallow(response *http.Response, err error) (*http.Response, error) {
	if response != nil {
		_ = response.Body.Close() // Nobody asks for what it says.
	}
	return nil, err
}
