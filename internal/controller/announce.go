// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
)

// Events are sent one after the other, so that those of a fan-out do not take the
// API server from the writes, and from everybody else.
const (
	eventsASecond = 50
	eventsAtOnce  = 100
	// eventsWaiting is how many may wait. What comes on top of them is left out:
	// the event on the VectorSidecar counts all.
	eventsWaiting = 1000
)

// announcer sends events at a pace. It makes no other use of the recorder than to
// hand them on.
type announcer struct {
	events.EventRecorder
	waiting chan func()
	pace    *rate.Limiter
}

func newAnnouncer(recorder events.EventRecorder) *announcer {
	return &announcer{recorder, make(chan func(), eventsWaiting), rate.NewLimiter(eventsASecond, eventsAtOnce)}
}

// Eventf notes an event, to be sent.
func (a *announcer) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	select {
	case a.waiting <- func() { a.EventRecorder.Eventf(regarding, related, kind, reason, action, note, args...) }:
	default:
	}
}

// Start sends the events until the context ends, and then those that still wait.
func (a *announcer) Start(ctx context.Context) error {
	for ctx.Err() == nil {
		select {
		case send := <-a.waiting:
			_ = a.pace.Wait(ctx) // Its only error is that of the context.
			send()
		case <-ctx.Done():
		}
	}
	for {
		select {
		case send := <-a.waiting:
			send()
		default:
			return nil
		}
	}
}
