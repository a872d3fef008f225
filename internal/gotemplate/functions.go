// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"reflect"
	"strings"

	"github.com/Masterminds/sprig/v3"
)

// newFunctions returns all functions that templates can call. It is an allow-list. A function that a later
// version of sprig adds is not available at first. A developer must check which data the function reads, and
// how large its result can become.
func newFunctions() map[string]*function {
	functions := map[string]*function{}
	add := func(called *function) { functions[called.name] = called }
	sprigFunctions := sprig.TxtFuncMap()
	for _, group := range sprigGroups() {
		for name := range strings.FieldsSeq(group.names) {
			add(&function{name: name, fn: reflect.ValueOf(sprigFunctions[name]), missing: group.missing, guard: group.guard})
		}
	}
	for _, group := range [][]ownFunction{coreFunctions(), textFunctions(), listFunctions(), codecFunctions(), regexFunctions()} {
		for _, entry := range group {
			for name := range strings.FieldsSeq(entry.names) {
				fn := reflect.ValueOf(entry.fn)
				add(&function{
					name: name, fn: fn, missing: entry.missing, guard: entry.guard, isOwn: true,
					bound: fn.Type().NumIn() > 0 && fn.Type().In(0) == reflect.TypeFor[*frame](),
				})
			}
		}
	}
	// The frame evaluates and, and or, because they may skip arguments.
	for _, name := range []string{"and", "or"} {
		add(&function{name: name})
	}
	return functions
}

// sprigGroup is a set of sprig functions with the same guard.
type sprigGroup struct {
	guard   guard
	missing missingRule
	names   string
}

func sprigGroups() []sprigGroup {
	return []sprigGroup{
		{guard: guardDeep, names: `abbrev abbrevboth trunc trim upper lower title untitle substr trimall trimAll
			trimSuffix trimPrefix nospace initials swapcase contains hasPrefix hasSuffix
			plural sha1sum sha256sum sha512sum adler32sum b64enc b64dec b32dec hello base dir clean ext isAbs
			compact mustCompact`},
		{guard: guardPrinted(copiedPerByte), names: `toString toStrings sortAlpha`},
		{guard: guardPrinted(12), names: `quote squote`},
		{guard: guardShort, names: `atoi int64 int float64 toDecimal add1 add sub div mod mul max min biggest
			maxf minf ceil floor round duration`},
		{guard: guardCost(12, copiedPerNode), names: `snakecase camelcase kebabcase urlParse urlJoin b32enc`},
		{guard: guardClock, names: `durationRound`},
		{guard: guardNumbers, names: `add1f addf subf divf mulf`},
		{guard: guardShort, names: `semver semverCompare`},
		{guard: guardDeep, missing: asNil, names: `deepEqual`},
		{guard: guardNothing, missing: asNil, names: `empty all any kindOf kindIs typeOf typeIs typeIsLike`},
		{guard: guardKey, missing: asNil, names: `get hasKey`},
		{guard: guardPluck, missing: asNil, names: `pluck`},
		{guard: guardUnread, names: `list tuple`},
		{guard: guardShallow, names: `set unset pick omit first mustFirst last mustLast
			rest mustRest initial mustInitial append mustAppend push mustPush prepend mustPrepend concat
			slice mustSlice reverse mustReverse`},
		{guard: guardDict, names: `dict`},
		{guard: guardPairs, names: `uniq mustUniq without mustWithout`},
		{guard: guardPairs, missing: asNil, names: `has mustHas`},
		{guard: guardChunk, names: `chunk mustChunk`},
		{guard: guardCost(copiedPerByte, 512), names: `merge mergeOverwrite mustMerge mustMergeOverwrite`},
	}
}

// ownFunction is a function that this package implements, with one or more names. A function with a frame as
// its first parameter may charge the meter while it runs.
type ownFunction struct {
	names   string
	fn      any
	missing missingRule
	guard   guard
}
