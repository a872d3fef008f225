// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Effect is the failure of a write. With the zero value, the write succeeds.
type Effect struct {
	Name string
	// commits sends the write to the API server before the failure.
	commits bool
	// cuts breaks the connection instead of an answer.
	cuts bool
	// crashes ends the program instead of an answer.
	crashes bool
	// status is the HTTP status of an answer that replaces the API server's.
	status int
	// delay is the delay of the answer.
	delay time.Duration
	// watches changes the watches before the write, until recovery.
	watches func(*Streams)
	// backdates lets the next life list the state before the write, until recovery.
	backdates bool
}

// recovery is the duration of failing watches.
const recovery = 2 * time.Second

// Effects without an answer of the API server.
var (
	CrashBefore = Effect{Name: "crash before", crashes: true}
	CrashAfter  = Effect{Name: "crash after", crashes: true, commits: true}
	// CutRequest breaks the connection before the API server has the request.
	CutRequest = Effect{Name: "cut request", cuts: true}
	// LoseAnswer breaks the connection after the write, before the answer.
	LoseAnswer = Effect{Name: "lost answer", cuts: true, commits: true}
)

// Effects with an answer of the API server.
var (
	// SlowAnswer delays the answer.
	SlowAnswer = Effect{Name: "slow answer", delay: recovery}
	// HoldWatches delays the watch events of the write.
	HoldWatches = Effect{Name: "watches held", watches: (*Streams).Hold}
	// CutWatches breaks the watches, so that the program watches again.
	CutWatches = Effect{Name: "watches cut", watches: (*Streams).Cut}
	// ExpireWatches expires the watches, so that the program lists all objects again.
	ExpireWatches = Effect{Name: "watches expired", watches: (*Streams).Expire}
	// CrashIntoPast ends the program after the write. The next program lists the state before the write, as an API
	// server with a lagging cache serves it.
	CrashIntoPast = Effect{Name: "crash after, into the past", commits: true, crashes: true, backdates: true}
)

// Answer returns the effect that rejects a write with a status of an API server.
func Answer(status int) Effect { return Effect{Name: strconv.Itoa(status), status: status} }

// Crashes returns whether the effect ends the program.
func (e Effect) Crashes() bool { return e.crashes }

// Status returns the HTTP status of the answer, or 0 if the answer is not replaced.
func (e Effect) Status() int { return e.status }

// Fault is an effect on one write.
type Fault struct {
	At     Write
	Effect Effect
}

// String describes the fault, such as "lost answer at apply deployments, number 2".
func (f Fault) String() string { return fmt.Sprintf("%s at %s", f.Effect.Name, f.At) }

// errCut is a client's error of a broken connection.
var errCut = fmt.Errorf("cut by a test: %w", syscall.ECONNRESET)

// statuses are the statuses of Answer, each with the error of an API server.
var statuses = map[int]func(resource schema.GroupResource, name string) *apierrors.StatusError{
	http.StatusForbidden: func(r schema.GroupResource, name string) *apierrors.StatusError {
		return apierrors.NewForbidden(r, name, errInjected)
	},
	http.StatusConflict: func(r schema.GroupResource, name string) *apierrors.StatusError {
		return apierrors.NewConflict(r, name, errInjected)
	},
	http.StatusUnprocessableEntity: func(r schema.GroupResource, name string) *apierrors.StatusError {
		return apierrors.NewInvalid(schema.GroupKind{Group: r.Group, Kind: r.Resource}, name, nil)
	},
	http.StatusTooManyRequests: func(schema.GroupResource, string) *apierrors.StatusError {
		return apierrors.NewTooManyRequests(errInjected.Error(), 1)
	},
	http.StatusInternalServerError: func(schema.GroupResource, string) *apierrors.StatusError {
		return apierrors.NewInternalError(errInjected)
	},
	http.StatusServiceUnavailable: func(schema.GroupResource, string) *apierrors.StatusError {
		return apierrors.NewServiceUnavailable(errInjected.Error())
	},
	http.StatusGatewayTimeout: func(schema.GroupResource, string) *apierrors.StatusError {
		return apierrors.NewTimeoutError(errInjected.Error(), 0)
	},
	http.StatusGone: func(schema.GroupResource, string) *apierrors.StatusError {
		return apierrors.NewResourceExpired(errInjected.Error())
	},
}

var errInjected = fmt.Errorf("a test said so")

// answer returns the response with which an API server rejects a request.
func answer(request *http.Request, status int) (*http.Response, error) {
	refuse, known := statuses[status]
	if !known {
		return nil, fmt.Errorf("answering with %d: not a status that this package knows", status)
	}
	refusal := refuse(schema.GroupResource{Resource: resourceOf(request.URL.Path)}, "injected").Status()
	refusal.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	text, err := json.Marshal(refusal)
	if err != nil {
		return nil, fmt.Errorf("writing a status: %w", err)
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if status == http.StatusTooManyRequests {
		header.Set("Retry-After", "1")
	}
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)), Request: request,
	}, nil
}
