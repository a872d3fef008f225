// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import "context"

const (
	// mostEffort is how many characters one check may compare with others where that
	// grows faster than the configuration does: about a tenth of a second.
	mostEffort = 20_000_000
	// effortPerLook is how much of that may pass between two looks at the context.
	effortPerLook = 100_000
	// longestName is that of a name for which it is worth looking for a likely slip.
	longestName = 100
)

// effort is what a check has left, and whether it may go on.
type effort struct {
	ctx  context.Context
	left int
	// look is what is left at the next look at the context.
	look int
	// err is the context's once it has ended.
	err error
	// match is Reader.Nearest.
	match func(name string, candidates []string) string
}

func newEffort(ctx context.Context, match func(name string, candidates []string) string) *effort {
	return &effort{ctx: ctx, match: match, left: mostEffort, look: mostEffort - effortPerLook, err: ctx.Err()}
}

// spend counts comparisons, and tells whether there may be more.
func (e *effort) spend(characters int) bool {
	if e.left -= characters; e.left < e.look {
		e.look = e.left - effortPerLook
		e.err = e.ctx.Err()
	}
	return e.left >= 0 && e.err == nil
}

// nearest returns the name that was probably meant, "" if there is none or it would take
// too much to find it.
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
