// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
)

// guarded serves a handler behind a gate that reads requests to the end and then waits for the
// test. It counts the requests that have begun.
func guarded(t *testing.T, timeout time.Duration) (address string, begun *atomic.Int32, finish func()) {
	t.Helper()
	begun, held := &atomic.Int32{}, make(chan struct{})
	of, _ := LimitRequests(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun.Add(1)
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		<-held
	}), byNobody, func() {}).(*gate)
	of.timeout = timeout
	server := httptest.NewServer(of)
	finish = sync.OnceFunc(func() { close(held) })
	t.Cleanup(server.Close)
	t.Cleanup(finish)
	return server.Listener.Addr().String(), begun, finish
}

// byNobody is the proof of unauthenticated clients.
func byNobody(*http.Request) bool { return false }

// Clients without a certificate are rejected if they send more bytes per second than allowed. Clients with one are not.
func TestLimitRequests_LimitsRateOfUnauthenticatedClients(t *testing.T) {
	rejected := 0
	of, _ := LimitRequests(http.NotFoundHandler(), func(r *http.Request) bool { return r.Host == "proven" }, func() { rejected++ }).(*gate)
	of.timeout, of.limiter = 10*time.Millisecond, rate.NewLimiter(1, leastPaced)
	ask := func(host string) int {
		answer := httptest.NewRecorder()
		of.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "http://"+host+"/", strings.NewReader("{}")))
		return answer.Code
	}

	require.Equal(t, http.StatusNotFound, ask("stranger"))
	began := time.Now()
	require.Equal(t, http.StatusTooManyRequests, ask("stranger"))
	require.GreaterOrEqual(t, time.Since(began), of.timeout, "it is not back at once")
	require.Equal(t, 1, rejected)
	require.Equal(t, http.StatusNotFound, ask("proven"))
}

func posted(t *testing.T, address string, body io.Reader) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address, body)
	if err != nil {
		return 0
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

// untold hides the length of a text.
type untold struct{ io.Reader }

func TestLimitRequests_RejectsLargeRequests(t *testing.T) {
	address, begun, finish := guarded(t, time.Minute)
	finish()
	require.Equal(t, http.StatusRequestEntityTooLarge, posted(t, address, bytes.NewReader(make([]byte, largestRequest+1))))
	require.Zero(t, begun.Load())
	require.Equal(t, http.StatusBadRequest, posted(t, address, untold{bytes.NewReader(make([]byte, largestRequest+1))}))
	require.Equal(t, http.StatusOK, posted(t, address, bytes.NewReader(make([]byte, largestRequest))))
}

// The metrics count each request that the limit rejects.
func TestLimitRequests_CountsRejectedRequests(t *testing.T) {
	rejected := 0
	of := LimitRequests(http.NotFoundHandler(), byNobody, func() { rejected++ })
	large := httptest.NewRequest(http.MethodPost, "/", http.NoBody)
	large.ContentLength = largestRequest + 1

	of.ServeHTTP(httptest.NewRecorder(), large)
	require.Equal(t, 1, rejected)
	of.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}")))
	require.Equal(t, 1, rejected)
}

// Large requests wait for each other, so that only a few are in memory. All of them are answered.
func TestLimitRequests_QueuesLargeRequests(t *testing.T) {
	address, begun, finish := guarded(t, time.Minute)
	var asking sync.WaitGroup
	var answers [4]int
	for n := range answers {
		asking.Go(func() { answers[n] = posted(t, address, bytes.NewReader(make([]byte, largestRequest/2))) })
	}
	require.Eventually(t, func() bool { return begun.Load() == 2 }, time.Minute, time.Millisecond)
	require.Never(t, func() bool { return begun.Load() > 2 }, 50*time.Millisecond, time.Millisecond)
	finish()
	asking.Wait()
	require.Equal(t, [4]int{http.StatusOK, http.StatusOK, http.StatusOK, http.StatusOK}, answers)
}

// While one request uses the only slot, another one waits for its time limit, and is then rejected with 429.
func TestLimitRequests_RejectsRequestsThatWaitTooLong(t *testing.T) {
	address, begun, finish := guarded(t, time.Second)
	first := make(chan int, 1)
	go func() { first <- posted(t, address, untold{strings.NewReader("{}")}) }()
	require.Eventually(t, func() bool { return begun.Load() == 1 }, time.Minute, time.Millisecond)

	require.Equal(t, http.StatusTooManyRequests, posted(t, address, strings.NewReader("{}")))

	finish()
	require.Equal(t, http.StatusOK, <-first, "it was sent in time, and may take its time now")
}

// The server closes the connection of a client that sends a byte now and then, so that this client does not block
// others for long.
func TestLimitRequests_DropsSlowClients(t *testing.T) {
	address, _, finish := guarded(t, time.Second)
	finish()
	connection, err := net.Dial("tcp", address) //nolint:noctx // It is closed below.
	require.NoError(t, err)
	defer connection.Close()
	_, err = fmt.Fprintf(connection, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n{", largestRequest)
	require.NoError(t, err)

	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)

	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusBadRequest, answer.StatusCode)
	require.Equal(t, http.StatusOK, posted(t, address, untold{strings.NewReader("{}")}), "there is all the room again")
}

// If too many requests wait, the next ones are rejected with 429.
func TestLimitRequests_LimitsWaitingRequests(t *testing.T) {
	address, begun, finish := guarded(t, time.Minute)
	var asking sync.WaitGroup
	var away atomic.Int32
	for range mostWaiting + 5 {
		asking.Go(func() {
			if posted(t, address, strings.NewReader("{}")) == http.StatusTooManyRequests {
				away.Add(1)
			}
		})
	}
	require.Eventually(t, func() bool { return away.Load() == 5 }, time.Minute, time.Millisecond)
	require.LessOrEqual(t, int(begun.Load()), bytesAtOnce/leastBytes)
	finish()
	asking.Wait()
}
