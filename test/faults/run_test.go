// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"kontroloop.ai/vector-sidecar-operator/test/faults/wire"
)

const (
	// patience is the maximum time without a change in the namespace while the test waits for a state. On a busy
	// machine the garbage collector is slow, and the operator reads ReplicaSets after 5, 10, 20 and 40 s. utmost is
	// the maximum time until a state is reached after a fault, with any number of changes, because parallel rollouts
	// depend on the machine.
	patience, utmost = 90 * time.Second, 5 * time.Minute
	// calm is the time without writes after which a run is finished. It is longer than the delay of a status.
	calm = 1500 * time.Millisecond
	// futile is the time without requests after which a missing state is not expected any more. It is longer than the
	// first backoffs.
	futile = 6 * time.Second
	// anew is the time after which the test restarts the operator, if a write was rejected permanently.
	anew = 3 * time.Second
)

// course is the result of a run.
type course struct {
	// states are the states at the ends of the steps, and ends the parts of them that do not depend on earlier steps.
	states, ends []state
	// rollouts are the pod templates that each Deployment has had.
	rollouts map[string][]string
	// writes are the numbers of writes by kind.
	writes map[string]int
}

// errNotReached is returned if the write with the fault did not happen.
var errNotReached = errors.New("the write was not made")

// game is one run of a scenario.
type game struct {
	scenario *scenario
	// program is the program under test; nil means inProcess.
	program program
	// fault is the injected fault, if any.
	fault *wire.Fault
	// before has functions that are called before a write is sent.
	before map[wire.Write]func()
	// should is the course of a run without faults; nil records it.
	should *course
}

// play runs a game and returns its course. The error describes the difference from the expected course.
func play(ctx context.Context, g *game) (took *course, err error) {
	w := wire.New(g.fault)
	runs := g.program
	if runs == nil {
		runs = inProcess
		if g.scenario.injects {
			runs = injecting
		}
	}
	p, err := newPlace(ctx, w, runs, g.scenario.kind, g.scenario.values)
	if err != nil {
		return nil, err
	}
	played := &player{place: p, game: g, took: &course{}}
	defer func() { err = errors.Join(err, played.mishap(), p.end(context.WithoutCancel(ctx))) }()
	played.arrange(ctx)
	if g.scenario.given != nil {
		if err := create(g.scenario.given)(ctx, p); err != nil {
			return nil, err
		}
	}
	// In every run, the pods must exist before the operator starts.
	if err := p.until(ctx, (*seen).rolling, nil); err != nil {
		return nil, err
	}
	p.start(ctx)
	if err := p.until(ctx, func(s *seen) string { return s.unsettled() }, nil); err != nil {
		return nil, err
	}
	for i := range g.scenario.steps {
		if err := played.step(ctx, i); err != nil {
			return nil, fmt.Errorf("step %d, %q: %w", i+1, g.scenario.steps[i].name, err)
		}
	}
	return played.finish(ctx)
}

// player runs one game.
type player struct {
	*place
	*game
	took *course
	// skipped is true if the end of a step was not awaited.
	skipped bool
	// restarted is true if the test has restarted the operator.
	restarted bool
	// compared is the version of the last compared state, and differs the result.
	compared, differs string

	mishaps sync.Mutex
	// failed is the error of a change that the scenario makes before a write.
	failed error
}

// arrange registers the functions of the game and the scenario on the wire.
func (p *player) arrange(ctx context.Context) {
	for at, do := range p.before {
		p.wire.Before(at, do)
	}
	for kind, do := range p.scenario.meanwhile {
		p.wire.Before(wire.Write{Kind: kind, N: 1}, func() {
			err := do(ctx, p.place)
			p.mishaps.Lock()
			defer p.mishaps.Unlock()
			p.failed = errors.Join(p.failed, err)
		})
	}
	p.waits = p.scenario.hurries && p.fault != nil && p.fault.Effect.Crashes()
}

func (p *player) mishap() error {
	p.mishaps.Lock()
	defer p.mishaps.Unlock()
	return p.failed
}

func (p *player) step(ctx context.Context, i int) error {
	one := &p.scenario.steps[i]
	if err := one.do(ctx, p.place); err != nil {
		return err
	}
	if p.skipped {
		p.goOn()
	}
	if p.should == nil {
		return p.learn(ctx, one)
	}
	isLast := i == len(p.scenario.steps)-1
	if isLast {
		p.goOn()
	}
	err := p.until(ctx, func(s *seen) string {
		if p.hasFired() && p.scenario.hurries && !isLast && !p.skipped {
			p.skipped = true
			return ""
		}
		if still := s.unsettled(); still != "" {
			return still
		}
		return p.differences(i, s)
	}, p.isFutile)
	return err
}

// differences compares a state with the expected state at the end of a step. Serialization is slower than reading, so
// an unchanged state is not compared again.
func (p *player) differences(i int, s *seen) string {
	compared := fmt.Sprint(i, p.skipped, s.versions)
	switch {
	case compared == p.compared:
	case p.skipped || p.scenario.races:
		p.differs = differences(p.should.ends[i], s.ends())
	default:
		p.differs = differences(p.should.states[i], s.state())
	}
	p.compared = compared
	return p.differs
}

func (p *player) goOn() {
	select {
	case p.resume <- struct{}{}:
	default:
	}
}

func (p *player) hasFired() bool {
	select {
	case <-p.wire.Fired():
		return true
	default:
		return false
	}
}

// isFutile restarts the operator once after a permanent rejection. It returns whether to stop waiting: not while the
// operator is starting, which may be slow on a busy machine.
func (p *player) isFutile(s *seen) bool {
	if !p.restarted && p.hasFired() && p.fault.Effect.Status() == http.StatusUnprocessableEntity && p.wire.Quiet() > anew {
		p.restarted = true
		p.crash()
		return false
	}
	return !p.restarted && p.wire.Idle() > futile && s.unsettled() == ""
}

// learn waits for the end of a step without a fault: until the conditions are met, and then for calm.
func (p *player) learn(ctx context.Context, one *step) error {
	versions, since := "", time.Now()
	return p.until(ctx, func(s *seen) string {
		lacks := s.unsettled()
		for _, met := range one.ends {
			if lacks == "" {
				lacks = met(s)
			}
		}
		if lacks != "" || s.versions != versions {
			versions, since = s.versions, time.Now()
		}
		switch {
		case lacks != "":
			return lacks
		case time.Since(since) < calm || p.wire.Quiet() < calm:
			return "it is not calm"
		}
		p.took.states, p.took.ends = append(p.took.states, s.state()), append(p.took.ends, s.ends())
		return ""
	}, nil)
}

// finish waits until nothing changes any more, and compares the rollouts with those of the run without a fault.
func (p *player) finish(ctx context.Context) (*course, error) {
	for p.wire.Quiet() < calm/2 {
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
	s, err := p.look(ctx, true)
	if err != nil {
		return nil, err
	}
	if p.took.rollouts, err = p.rollouts.upTo(ctx, s); err != nil {
		return nil, err
	}
	p.took.writes = p.wire.Counts()
	if p.should == nil {
		return p.took, nil
	}
	if p.fault != nil && !p.hasFired() {
		return nil, errNotReached
	}
	if differs := p.differences(len(p.scenario.steps)-1, s); differs != "" {
		return nil, errors.New("it does not stay:\n" + differs)
	}
	return p.took, p.compareRollouts()
}

// compareRollouts requires that the run has only the pod templates of the run without a fault, and not more of them.
func (p *player) compareRollouts() error {
	extra := 0
	if p.fault != nil && p.scenario.extra != nil {
		extra = p.scenario.extra(p.fault.Effect)
	}
	for name, is := range p.took.rollouts {
		should := p.should.rollouts[name]
		if len(is) > len(should)+extra {
			return fmt.Errorf("%s rolled out %d times and not %d", name, len(is)-1, len(should)-1)
		}
		for _, template := range is {
			if !p.skipped && !slices.Contains(should, template) {
				return fmt.Errorf("%s had, in between, pods that it does not have without the fault:\n%s", name, template)
			}
		}
	}
	return nil
}

// until checks the namespace until nothing is missing, patience has passed, or isFutile returns true.
func (p *place) until(ctx context.Context, missing func(*seen) string, isFutile func(*seen) bool) error {
	began, versions := time.Now(), ""
	changed := began
	for {
		s, err := p.look(ctx, false)
		if err == nil && s.versions != versions {
			changed, versions = time.Now(), s.versions
		}
		isOver := time.Since(changed) > patience || time.Since(began) > utmost
		if err != nil && (isOver || ctx.Err() != nil) {
			return err
		}
		if err != nil { // The API server may be what fails.
			_ = pause(ctx) // The next look says so.
			continue
		}
		lacks := missing(s)
		if lacks == "" {
			return nil
		}
		if isOver || isFutile != nil && isFutile(s) {
			return fmt.Errorf("waiting in vain: %s%s", lacks, s.told())
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}
