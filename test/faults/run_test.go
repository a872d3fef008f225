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
	// patience is for how long nothing may change in the namespace while a state is waited
	// for: on a busy machine the garbage collector takes its time, and the operator looks for
	// ReplicaSets after 5, 10, 20 and 40 s. utmost is how long a state may take to come after a
	// fault, however much changes: how fast fifty rollouts go side by side with others is the
	// machine's affair.
	patience, utmost = 90 * time.Second, 5 * time.Minute
	// calm is how long nothing is written when all is done: more than the time for
	// which a status is held back.
	calm = 1500 * time.Millisecond
	// futile is how long nothing is asked for, and nothing said to go on, when what is
	// missing will not come any more: more than the first waits before another try.
	futile = 6 * time.Second
	// anew is when a person starts the operator anew, whose write was refused as one
	// that will always be refused.
	anew = 3 * time.Second
)

// course is how a run went.
type course struct {
	// states are those at the ends of the steps, and ends the parts of them that do not
	// tell of the way.
	states, ends []state
	// rollouts are the pod templates that each Deployment went through.
	rollouts map[string][]string
	// writes are how many there were of each kind.
	writes map[string]int
}

// errNotReached says that the write that was to fail was not made.
var errNotReached = errors.New("the write was not made")

// game is one run of a scenario.
type game struct {
	scenario *scenario
	// program is what is tried; nil for inProcess.
	program program
	// fault is what happens to it, nil for nothing.
	fault *wire.Fault
	// before is what else happens, before a write goes on its way.
	before map[wire.Write]func()
	// should is the course without all that, nil to learn it.
	should *course
}

// play plays a game, and returns the course that it took. The error says how that was
// not as it should have been.
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
	// Whether there were pods before the operator came must be the same in every run.
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

// player plays one scenario.
type player struct {
	*place
	*game
	took *course
	// skipped says that the end of a step was not waited for.
	skipped bool
	// restarted says that a person has started the operator anew.
	restarted bool
	// compared is what was compared last, and differs what came of it.
	compared, differs string

	mishaps sync.Mutex
	// failed is what an owner could not do meanwhile.
	failed error
}

// arrange puts on the wire what happens beside the faults.
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

// differences compares a state with that at the end of a step. To write an object down
// takes longer than to read it, so what was compared is not compared again.
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

// isFutile has a person start the operator anew after a refusal for good, and says
// whether to give up: not on an operator that has just been started, which on a busy
// machine may take longer to begin than nothing was written before.
func (p *player) isFutile(s *seen) bool {
	if !p.restarted && p.hasFired() && p.fault.Effect.Status() == http.StatusUnprocessableEntity && p.wire.Quiet() > anew {
		p.restarted = true
		p.crash()
		return false
	}
	return !p.restarted && p.wire.Idle() > futile && s.unsettled() == ""
}

// learn waits for the end of a step without a fault: what is said, and then calm.
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

// finish waits until it stays as it is, and compares the way with that without a fault.
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

// compareRollouts holds a run to the pod templates that there are without the fault,
// and to no more of them.
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

// until looks at the namespace until nothing is missing, patience is over, or it is
// futile to wait.
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
