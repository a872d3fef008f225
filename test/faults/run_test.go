// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"kontroloop.ai/vector-sidecar-operator/test/faults/wire"
)

const (
	// patience is how long a state may take to come after a fault.
	patience = 40 * time.Second
	// calm is how long nothing is written when all is done: more than the time for
	// which a status is held back.
	calm = 1500 * time.Millisecond
	// futile is how long nothing is written, and nothing said to go on, when what is
	// missing will not come any more: more than the first waits before another try.
	futile = 6 * time.Second
	// anew is when a person starts the operator anew, whose write was refused as one
	// that will always be refused.
	anew = 3 * time.Second
)

// course is how a run went.
type course struct {
	// states are those at the ends of the steps.
	states []state
	// rollouts are the pod templates that each Deployment went through.
	rollouts map[string][]string
	// writes are how many there were of each kind.
	writes map[string]int
}

// errNotReached says that the write that was to fail was not made.
var errNotReached = errors.New("the write was not made")

// play plays a scenario with a fault, and compares it with the course that it takes
// without one; or without either, to learn that course.
func play(ctx context.Context, s *scenario, fault *wire.Fault, should *course) (took *course, err error) {
	w := wire.New(fault)
	p, err := newPlace(ctx, w)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.end(context.WithoutCancel(ctx))) }()
	for kind, do := range s.meanwhile {
		w.Before(wire.Write{Kind: kind, N: 1}, func() { err = errors.Join(err, do(ctx, p)) })
	}
	p.waits = s.hurries && fault != nil && fault.Effect.Crashes()
	if s.given != nil {
		if err := create(s.given)(ctx, p); err != nil {
			return nil, err
		}
	}
	p.start(ctx)
	if err := p.until(ctx, func(s *seen) string { return s.unsettled() }, nil); err != nil {
		return nil, err
	}
	played := &player{place: p, scenario: s, fault: fault, should: should, took: &course{}}
	for i := range s.steps {
		if err := played.step(ctx, i); err != nil {
			return nil, fmt.Errorf("step %d, %q: %w", i+1, s.steps[i].name, err)
		}
	}
	return played.finish(ctx)
}

// player plays one scenario.
type player struct {
	*place
	scenario *scenario
	fault    *wire.Fault
	should   *course
	took     *course
	// skipped says that the end of a step was not waited for.
	skipped bool
	// restarted says that a person has started the operator anew.
	restarted bool
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

// differences compares a state with that at the end of a step.
func (p *player) differences(i int, s *seen) string {
	should, is := p.should.states[i], s.state()
	if p.skipped {
		should, is = withoutHistory(should), withoutHistory(is)
	}
	return differences(should, is)
}

// withoutHistory is a state less what only tells of the way to it.
func withoutHistory(of state) state {
	rest := state{}
	for name, text := range of {
		if name[:min(len(name), 10)] != "ReplicaSet" {
			rest[name] = text
		}
	}
	return rest
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
// whether to give up.
func (p *player) isFutile(s *seen) bool {
	if !p.restarted && p.hasFired() && p.fault.Effect.Status() == http.StatusUnprocessableEntity && p.wire.Quiet() > anew {
		p.restarted = true
		p.crash()
		return false
	}
	return p.wire.Quiet() > futile && s.unsettled() == ""
}

// learn waits for the end of a step without a fault: what is said, and then calm.
func (p *player) learn(ctx context.Context, one *step) error {
	var last state
	since := time.Now()
	return p.until(ctx, func(s *seen) string {
		lacks := s.unsettled()
		for _, met := range one.ends {
			if lacks == "" {
				lacks = met(s)
			}
		}
		if now := s.state(); lacks != "" || differences(last, now) != "" {
			last, since = now, time.Now()
		}
		switch {
		case lacks != "":
			return lacks
		case time.Since(since) < calm || p.wire.Quiet() < calm:
			return "it is not calm"
		}
		p.took.states = append(p.took.states, last)
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
	s, err := look(ctx, p.namespace, true)
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
	if !p.hasFired() {
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
	if p.scenario.extra != nil {
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
	deadline := time.Now().Add(patience)
	for {
		s, err := look(ctx, p.namespace, false)
		if err != nil {
			return err
		}
		lacks := missing(s)
		if lacks == "" {
			return nil
		}
		if time.Now().After(deadline) || isFutile != nil && isFutile(s) {
			return fmt.Errorf("waiting in vain: %s%s", lacks, s.told())
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}
