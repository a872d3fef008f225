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

// Effect is what becomes of a write. The zero value lets it through.
type Effect struct {
	Name string
	// commits has the API server get the write, before what else happens.
	commits bool
	// cuts breaks the connection in place of an answer.
	cuts bool
	// crashes ends the program in place of an answer.
	crashes bool
	// status is answered in place of the API server.
	status int
	// delay is how long the answer takes.
	delay time.Duration
	// watches is what happens to the watches before the write, until recovery.
	watches func(*Streams)
	// backdates has the next life see what there was before the write, until recovery.
	backdates bool
}

// recovery is how long the watches of a program are not as they should be.
const recovery = 2 * time.Second

// What can become of a write, other than an answer of the API server.
var (
	CrashBefore = Effect{Name: "crash before", crashes: true}
	CrashAfter  = Effect{Name: "crash after", crashes: true, commits: true}
	// CutRequest breaks the connection before the API server has the request.
	CutRequest = Effect{Name: "cut request", cuts: true}
	// LoseAnswer breaks it when the write is done and not answered.
	LoseAnswer = Effect{Name: "lost answer", cuts: true, commits: true}
)

// What can become of a write that is done and answered.
var (
	// SlowAnswer is one that takes a while.
	SlowAnswer = Effect{Name: "slow answer", delay: recovery}
	// HoldWatches has a program not see what comes of its write for a while.
	HoldWatches = Effect{Name: "watches held", watches: (*Streams).Hold}
	// CutWatches has it connect again.
	CutWatches = Effect{Name: "watches cut", watches: (*Streams).Cut}
	// ExpireWatches has it list everything again.
	ExpireWatches = Effect{Name: "watches expired", watches: (*Streams).Expire}
	// CrashIntoPast has the program in its place begin with what there was before the
	// write, as an API server whose cache is behind serves it.
	CrashIntoPast = Effect{Name: "crash after, into the past", commits: true, crashes: true, backdates: true}
)

// Answer has a write answered with a status that an API server may give, and not
// done.
func Answer(status int) Effect { return Effect{Name: strconv.Itoa(status), status: status} }

// Crashes reports whether the effect ends the program.
func (e Effect) Crashes() bool { return e.crashes }

// Status is the status that is answered, 0 for none.
func (e Effect) Status() int { return e.status }

// Fault is an effect on one write.
type Fault struct {
	At     Write
	Effect Effect
}

// String names the fault as in "lost answer at apply deployments, number 2".
func (f Fault) String() string { return fmt.Sprintf("%s at %s", f.Effect.Name, f.At) }

// errCut is what a program sees of a connection that breaks.
var errCut = fmt.Errorf("cut by a test: %w", syscall.ECONNRESET)

// Statuses are those that Answer knows, each with what an API server says with it.
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

// answer is the response with which an API server refuses a request.
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
