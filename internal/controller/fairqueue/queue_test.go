// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fairqueue

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
)

// shareFor returns the namespace of an item. The items of these tests are named NAMESPACE/NAME.
func shareFor(key string) string {
	namespace, _, _ := strings.Cut(key, "/")
	return namespace
}

func newQueue(t *testing.T, workers int) (*Queue[string], *recorder) {
	t.Helper()
	recorded := &recorder{depth: map[int]int{}}
	q := New(Options[string]{
		Workers: workers, ShareFor: shareFor, Metrics: recorded,
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Minute),
	})
	t.Cleanup(q.ShutDown)
	return q, recorded
}

func low() *int { return new(handler.LowPriority) }

func wait(duration time.Duration) { time.Sleep(duration) } //nolint:forbidigo // the test's own clock

// Items of one namespace are processed in the order in which they were added, and namespaces take turns.
func TestQueue_AlternatesBetweenNamespaces(t *testing.T) {
	for name, test := range map[string]struct {
		add  func(*Queue[string])
		want []string
	}{
		"first come, first served within a namespace": {
			func(q *Queue[string]) { q.Add("a/2"); q.Add("a/1"); q.Add("a/3") },
			[]string{"a/2", "a/1", "a/3"},
		},
		"namespaces take turns": {
			func(q *Queue[string]) { q.Add("a/1"); q.Add("a/2"); q.Add("b/1"); q.Add("b/2"); q.Add("c/1") },
			[]string{"a/1", "b/1", "c/1", "a/2", "b/2"},
		},
		"of equal namespaces, the first one that waits": {
			func(q *Queue[string]) { q.Add("b/1"); q.Add("a/1"); q.Add("c/1"); q.Add("a/2") },
			[]string{"b/1", "a/1", "c/1", "a/2"},
		},
		"an item is in the queue once": {
			func(q *Queue[string]) { q.Add("a/1"); q.Add("a/2"); q.Add("a/1") },
			[]string{"a/1", "a/2"},
		},
		"low priority comes after the others of the namespace only": {
			func(q *Queue[string]) {
				q.AddWithOpts(priorityqueue.AddOpts{Priority: low()}, "a/low", "b/low")
				q.Add("a/1")
			},
			[]string{"a/1", "b/low", "a/low"},
		},
		"a higher priority replaces a lower one, as the last of its priority": {
			func(q *Queue[string]) {
				q.AddWithOpts(priorityqueue.AddOpts{Priority: low()}, "a/2", "a/3")
				q.Add("a/1")
				q.Add("a/3")
				q.AddWithOpts(priorityqueue.AddOpts{Priority: low()}, "a/1")
			},
			[]string{"a/1", "a/3", "a/2"},
		},
		"the shorter delay counts": {
			func(q *Queue[string]) {
				q.AddAfter("a/1", 2*time.Second)
				q.AddAfter("a/1", time.Hour)
				q.AddAfter("a/2", time.Hour)
				q.AddAfter("a/2", time.Second)
				q.AddAfter("a/3", time.Hour)
				q.Add("a/3")
				q.AddAfter("a/4", time.Hour)
				wait(3 * time.Second)
			},
			[]string{"a/3", "a/2", "a/1"},
		},
		"a delayed item keeps its higher priority": {
			func(q *Queue[string]) {
				q.AddWithOpts(priorityqueue.AddOpts{Priority: low(), After: time.Second}, "a/1")
				q.AddAfter("a/1", time.Hour)
				q.AddWithOpts(priorityqueue.AddOpts{Priority: low()}, "a/2")
				wait(2 * time.Second)
			},
			[]string{"a/1", "a/2"},
		},
		"a rate limit delays": {
			func(q *Queue[string]) {
				q.AddRateLimited("a/1")
				q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true, After: time.Millisecond}, "a/2")
				wait(10 * time.Millisecond)
			},
			[]string{"a/2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, _ := newQueue(t, 1)
				test.add(q)
				synctest.Wait()
				require.Equal(t, len(test.want), q.Len())
				var got []string
				for range len(test.want) {
					key, isShutDown := q.Get()
					require.False(t, isShutDown)
					wait(time.Millisecond)
					q.Done(key)
					got = append(got, key)
				}
				require.Equal(t, test.want, got)
				require.Zero(t, q.Len())
				q.ShutDown()
			})
		})
	}
}

// If one namespace has more items than there are workers, three quarters of the workers stay free for other namespaces.
func TestQueue_LimitsNamespaceToQuarterOfWorkers(t *testing.T) {
	for _, test := range []struct{ workers, limit int }{{1, 1}, {2, 1}, {4, 1}, {7, 1}, {8, 2}, {12, 3}} {
		t.Run(fmt.Sprintf("%d workers", test.workers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, _ := newQueue(t, test.workers)
				var started []string
				var mu sync.Mutex
				for range test.workers {
					go func() {
						key, isShutDown := q.Get()
						if !isShutDown {
							mu.Lock()
							defer mu.Unlock()
							started = append(started, key)
						}
					}()
				}
				for n := range 2 * test.workers {
					q.Add(fmt.Sprintf("a/%d", n))
				}
				synctest.Wait()
				require.Len(t, started, test.limit, "no other namespace waits")
				if test.workers > 1 {
					q.Add("b/1")
					synctest.Wait()
					require.Equal(t, "b/1", started[test.limit])
				}
				q.ShutDown()
				synctest.Wait()
			})
		})
	}
}

// A namespace uses its limit of workers. When one of its items is finished, a waiting worker gets the next item of that
// namespace.
func TestQueue_ContinuesNamespaceAfterDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := newQueue(t, 2)
		q.Add("a/1")
		q.Add("a/2")
		first, _ := q.Get()
		got := make(chan string, 1)
		go func() {
			second, _ := q.Get()
			got <- second
		}()
		synctest.Wait()
		require.Empty(t, got)
		q.Done(first)
		require.Equal(t, "a/2", <-got)
		q.ShutDown()
	})
}

// An item that is added while it is in progress is processed again after that, never twice at the same time.
func TestQueue_RepeatsItemAddedInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, recorded := newQueue(t, 8)
		q.Add("a/1")
		key, _ := q.Get()
		q.AddWithOpts(priorityqueue.AddOpts{Priority: low()}, "a/1")
		q.Add("a/1")
		q.Add("a/1")
		require.Equal(t, 1, q.Len())
		got := make(chan string, 1)
		go func() {
			again, priority, _ := q.GetWithPriority()
			got <- fmt.Sprintf("%s with priority %d", again, priority)
		}()
		synctest.Wait()
		require.Empty(t, got)
		q.Done(key)
		require.Equal(t, "a/1 with priority 0", <-got)
		q.AddAfter("a/1", time.Second)
		wait(2 * time.Second)
		synctest.Wait()
		require.Equal(t, 1, q.Len())
		q.Done("a/1")
		q.Done("a/unknown")
		key, _ = q.Get()
		q.Done(key)
		require.Zero(t, q.Len())
		require.Equal(t, 3, recorded.added)
		q.ShutDown()
	})
}

// serve runs a worker. Each item takes the time that its namespace needs.
func serve(q *Queue[string], needs map[string]time.Duration, done func(string)) {
	for {
		key, isShutDown := q.Get()
		if isShutDown {
			return
		}
		wait(needs[shareFor(key)])
		done(key)
		q.Done(key)
	}
}

// If the items of a namespace take ten times as long as those of others, the namespace gets a tenth of the turns.
func TestQueue_WeightsTurnsByWorkerTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := newQueue(t, 1)
		for n := range 1000 {
			q.Add(fmt.Sprintf("slow/%d", n))
			q.Add(fmt.Sprintf("quick/%d", n))
		}
		done := map[string]int{}
		var mu sync.Mutex
		go serve(q, map[string]time.Duration{"slow": time.Second, "quick": 100 * time.Millisecond}, func(key string) {
			mu.Lock()
			defer mu.Unlock()
			done[shareFor(key)]++
		})
		wait(60*time.Second + time.Millisecond)
		mu.Lock()
		require.InDelta(t, 30, done["slow"], 1)
		require.InDelta(t, 300, done["quick"], 10)
		mu.Unlock()
		q.ShutDown()
		wait(time.Second)
	})
}

// The item of a quiet namespace waits only for a free worker, however many items a busy namespace has queued.
func TestQueue_ServesQuietNamespaceFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := newQueue(t, 8)
		at := map[string]time.Time{}
		var mu sync.Mutex
		for range 8 {
			go serve(q, map[string]time.Duration{"busy": time.Second, "quiet": time.Millisecond}, func(key string) {
				mu.Lock()
				defer mu.Unlock()
				at[key] = time.Now()
			})
		}
		for n := range 1500 {
			q.Add(fmt.Sprintf("busy/%d", n))
		}
		for n := range 20 {
			wait(7 * time.Second)
			added, key := time.Now(), fmt.Sprintf("quiet/%d", n)
			q.Add(key)
			wait(time.Millisecond)
			synctest.Wait()
			mu.Lock()
			require.Equal(t, added.Add(time.Millisecond), at[key])
			mu.Unlock()
		}
		q.ShutDown()
		wait(time.Second)
	})
}

// A namespace without items for an hour gets no credit for that hour. After a short pause, its earlier use of workers
// still counts.
func TestQueue_KeepsUseOverShortPauseOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := newQueue(t, 1)
		work := func(needs time.Duration) string {
			key, _ := q.Get()
			wait(needs)
			q.Done(key)
			return key
		}
		for n := range 5 {
			q.Add(fmt.Sprintf("a/%d", n))
		}
		require.Equal(t, "a/0", work(time.Hour))
		q.Add("b/0")
		q.Add("b/1")
		q.Add("b/2")
		require.Equal(t, "b/0", work(time.Minute), "a used an hour")
		require.Equal(t, "b/1", work(time.Hour))
		require.Equal(t, "a/1", work(time.Second), "b used more since it came")
		q.Add("c/0")
		require.Equal(t, "c/0", work(30*time.Minute))
		q.Add("c/1")
		require.Equal(t, "a/2", work(time.Second), "c has used more, although it had nothing to do between")
		for q.Len() > 0 {
			work(time.Second)
		}
		require.Empty(t, q.turns.shares, "nothing is remembered when all is done")
		require.Zero(t, q.turns.idle.Len())
		q.ShutDown()
	})
}

// ShutDown ends each waiting worker. Delayed and later items are not processed.
func TestQueue_EndsWorkersAtShutDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := newQueue(t, 8)
		ended := make(chan bool, 8)
		for range 8 {
			go func() {
				_, isShutDown := q.Get()
				ended <- isShutDown
			}()
		}
		q.AddAfter("a/delayed", time.Second)
		synctest.Wait()
		require.False(t, q.ShuttingDown())
		q.ShutDown()
		q.ShutDown()
		for range 8 {
			require.True(t, <-ended)
		}
		q.Add("a/late")
		wait(2 * time.Second)
		require.True(t, q.ShuttingDown())
		require.Zero(t, q.Len())
		_, isShutDown := q.Get()
		require.True(t, isShutDown)
		q.ShutDownWithDrain()
	})
}

// ShutDownWithDrain waits until the queued items are processed. Delayed and later items are not processed.
func TestQueue_FinishesQueuedItemsAtDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, _ := newQueue(t, 2)
		q.Add("a/1")
		q.Add("a/2")
		q.AddAfter("a/delayed", time.Second)
		first, _ := q.Get()
		q.Add("a/1")
		drained := make(chan struct{})
		go func() {
			q.ShutDownWithDrain()
			close(drained)
		}()
		synctest.Wait()
		q.Add("a/late")
		q.Done(first)
		var rest []string
		go serve(q, nil, func(key string) { rest = append(rest, key) })
		<-drained
		synctest.Wait()
		require.Equal(t, []string{"a/2", "a/1"}, rest)
	})
}

// AddRateLimited adds an item after a backoff that doubles, until Forget resets it.
func TestQueue_DelaysRateLimitedItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, recorded := newQueue(t, 1)
		for n := range 3 {
			q.AddRateLimited("a/1")
			require.Equal(t, n+1, q.NumRequeues("a/1"))
			require.Zero(t, q.Len())
			wait(time.Second << n)
			synctest.Wait()
			require.Equal(t, 1, q.Len())
			key, _ := q.Get()
			q.Done(key)
		}
		q.Forget("a/1")
		require.Zero(t, q.NumRequeues("a/1"))
		require.Equal(t, 3, recorded.retried)
		q.ShutDown()
	})
}

// The queue records its depth by priority, and the waiting and working times of its items.
func TestQueue_RecordsMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, recorded := newQueue(t, 12)
		q.Add("a/1")
		q.AddWithOpts(priorityqueue.AddOpts{Priority: low()}, "a/2", "a/3")
		require.Equal(t, map[int]int{0: 1, handler.LowPriority: 2}, recorded.depth)
		q.Add("a/3")
		require.Equal(t, map[int]int{0: 2, handler.LowPriority: 1}, recorded.depth)
		wait(2 * time.Second)
		for range 3 {
			_, _ = q.Get()
		}
		require.Equal(t, map[int]int{0: 0, handler.LowPriority: 0}, recorded.depth)
		require.Equal(t, []time.Duration{2 * time.Second, 2 * time.Second, 2 * time.Second}, recorded.waited)
		wait(4*time.Second + time.Millisecond)
		synctest.Wait()
		require.Equal(t, [2]time.Duration{12 * time.Second, 4 * time.Second}, recorded.unfinished)
		q.Done("a/2")
		require.Equal(t, []time.Duration{4*time.Second + time.Millisecond}, recorded.worked)
		require.Equal(t, 3, recorded.added)
		q.ShutDown()
	})
}

// Items are added, delayed and processed at random. Each item is processed, never twice at the same time, and no
// namespace uses more than a quarter of the workers.
func TestQueue_LosesNoItemAtRandom(t *testing.T) {
	for seed := range uint64(50) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { runAtRandom(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func runAtRandom(t *testing.T, random *rand.Rand) {
	workers := 1 + random.IntN(9)
	q, recorded := newQueue(t, workers)
	var mu sync.Mutex
	asked, running, inShare := map[string]time.Time{}, map[string]bool{}, map[string]int{}
	for range workers {
		go func() {
			for {
				key, isShutDown := q.Get()
				if isShutDown {
					return
				}
				mu.Lock()
				if running[key] || inShare[shareFor(key)] >= max(1, workers/workerShare) {
					t.Errorf("%s is in progress twice, or its namespace has too many workers: %v", key, inShare)
				}
				running[key] = true
				inShare[shareFor(key)]++
				delete(asked, key)
				needs := time.Duration(random.IntN(5000)) * time.Microsecond
				again := random.IntN(10) == 0
				mu.Unlock()
				wait(needs)
				if again {
					q.AddRateLimited(key)
				} else {
					q.Forget(key)
				}
				mu.Lock()
				running[key] = false
				inShare[shareFor(key)]--
				mu.Unlock()
				q.Done(key)
			}
		}()
	}
	for range 300 {
		mu.Lock()
		key := fmt.Sprintf("%c/%d", 'a'+random.IntN(4), random.IntN(20))
		asked[key] = time.Now()
		options := priorityqueue.AddOpts{After: time.Duration(random.IntN(3)) * time.Millisecond}
		if random.IntN(2) == 0 {
			options.Priority = low()
		}
		pause := time.Duration(random.IntN(1000)) * time.Microsecond
		mu.Unlock()
		q.AddWithOpts(options, key)
		wait(pause)
	}
	wait(10 * time.Minute)
	synctest.Wait()
	mu.Lock()
	require.Empty(t, slices.Collect(maps.Keys(asked)), "items that were lost")
	mu.Unlock()
	require.Zero(t, q.Len())
	require.Empty(t, q.items)
	require.Empty(t, q.processing)
	require.Empty(t, q.turns.shares)
	require.Equal(t, len(recorded.waited), recorded.added)
	require.Equal(t, len(recorded.worked), recorded.added)
	q.ShutDown()
	synctest.Wait()
}

// Goroutines add and process items at the same time, for the race detector.
func TestQueue_SupportsConcurrentCalls(t *testing.T) {
	const items = 2000
	q, _ := newQueue(t, 8)
	var workers, adders sync.WaitGroup
	var mu sync.Mutex
	done := map[string]bool{}
	for range 8 {
		workers.Go(func() {
			serve(q, nil, func(key string) {
				mu.Lock()
				defer mu.Unlock()
				done[key] = true
			})
		})
	}
	for adder := range 4 {
		adders.Go(func() {
			for n := range items {
				key := fmt.Sprintf("%d/%d", n%5, n)
				switch (n + adder) % 3 {
				case 0:
					q.Add(key)
				case 1:
					q.AddAfter(key, time.Microsecond)
				default:
					q.AddWithOpts(priorityqueue.AddOpts{Priority: low()}, key)
				}
				_ = q.Len()
			}
		})
	}
	adders.Wait()
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(done) == items
	}, time.Minute, time.Millisecond)
	q.ShutDownWithDrain()
	workers.Wait()
}

// recorder implements Metrics. The lock of the queue guards it.
type recorder struct {
	added, retried int
	depth          map[int]int
	waited, worked []time.Duration
	unfinished     [2]time.Duration
}

func (r *recorder) RecordAdd()                       { r.added++ }
func (r *recorder) RecordRetry()                     { r.retried++ }
func (r *recorder) ChangeDepth(priority, change int) { r.depth[priority] += change }
func (r *recorder) RecordWait(waited time.Duration)  { r.waited = append(r.waited, waited) }
func (r *recorder) RecordWork(worked time.Duration)  { r.worked = append(r.worked, worked) }
func (r *recorder) SetUnfinished(a, b time.Duration) { r.unfinished = [2]time.Duration{a, b} }
