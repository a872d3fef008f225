// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import "context"

const (
	// mostEffort is the maximum number of characters that one check may compare with others, in steps that grow faster
	// than the configuration: about a tenth of a second.
	mostEffort = 20_000_000
	// effortPerLook is the number of characters between two checks of the context.
	effortPerLook = 100_000
	// longestName is the maximum length of a name for which the check looks for a likely typo.
	longestName = 100
)

// effort is the remaining effort of a check.
type effort struct {
	ctx       context.Context
	remaining int
	// nextCheck is the remaining effort at the next check of the context.
	nextCheck int
	// err is the error of the context after it has ended.
	err error
	// match is Reader.Nearest.
	match func(name string, candidates []string) string
}

func newEffort(ctx context.Context, match func(name string, candidates []string) string) *effort {
	return &effort{ctx: ctx, match: match, remaining: mostEffort, nextCheck: mostEffort - effortPerLook, err: ctx.Err()}
}

// spend counts comparisons, and reports whether more are allowed.
func (e *effort) spend(characters int) bool {
	if e.remaining -= characters; e.remaining < e.nextCheck {
		e.nextCheck = e.remaining - effortPerLook
		e.err = e.ctx.Err()
	}
	return e.remaining >= 0 && e.err == nil
}

// nearest returns the name that was probably meant, "" if there is none or if finding it would take too much effort.
func (e *effort) nearest(name string, candidates []string) string {
	if len(name) > longestName {
		return ""
	}
	short := make([]string, 0, len(candidates))
	for _, candidate := range candidates {
		if len(candidate) > longestName {
			continue
		}
		if !e.spend(len(name) * len(candidate)) {
			return ""
		}
		short = append(short, candidate)
	}
	return e.match(name, short)
}
