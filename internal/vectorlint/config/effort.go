// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import "context"

const (
	// mostEffort is the maximum number of character comparisons in one check, which take about a tenth of a
	// second. It limits the steps with a number of comparisons that grows faster than the size of the
	// configuration.
	mostEffort = 20_000_000
	// effortPerLook is the number of character comparisons after which the context is checked again.
	effortPerLook = 100_000
	// longestName is the maximum length of a name for which a similar name is searched.
	longestName = 100
)

// effort is the remaining budget for comparisons in one check.
type effort struct {
	ctx       context.Context
	remaining int
	// nextCheck is the value of remaining at which the context is checked again.
	nextCheck int
	// err is the error of the context after it has ended.
	err error
	// match is the function Reader.Nearest.
	match func(name string, candidates []string) string
}

// newEffort returns the effort for one check: mostEffort. match finds the most similar candidate for a name.
func newEffort(ctx context.Context, match func(name string, candidates []string) string) *effort {
	return &effort{ctx: ctx, match: match, remaining: mostEffort, nextCheck: mostEffort - effortPerLook, err: ctx.Err()}
}

// spendCharacters subtracts a number of comparisons from the budget. It reports whether the check may continue.
func (e *effort) spendCharacters(characters int) bool {
	if e.remaining -= characters; e.remaining < e.nextCheck {
		e.nextCheck = e.remaining - effortPerLook
		e.err = e.ctx.Err()
	}
	return e.remaining >= 0 && e.err == nil
}

// nearestName returns the candidate that is most similar to a misspelled name. It returns "" if no candidate is
// similar or if the comparisons would exceed the budget.
func (e *effort) nearestName(name string, candidates []string) string {
	if len(name) > longestName {
		return ""
	}
	short := make([]string, 0, len(candidates))
	for _, candidate := range candidates {
		if len(candidate) > longestName {
			continue
		}
		if !e.spendCharacters(len(name) * len(candidate)) {
			return ""
		}
		short = append(short, candidate)
	}
	return e.match(name, short)
}
