// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	_ "embed" // for data/
	"maps"
	"slices"
	"strings"
	"sync"
)

//go:embed data/components.tsv
var componentsTSV string

//go:embed data/codecs.tsv
var codecsTSV string

//go:embed data/options.tsv
var optionsTSV string

// timeZones are the names of time zones, one per line.
//
//go:embed data/timezones.txt
var timeZones string

// charsets are the labels of encodings, one per line.
//
//go:embed data/charsets.txt
var charsets string

// events is a set of kinds of events, as bits.
type events uint8

const (
	logs events = 1 << iota
	metrics
	traces
	everything = logs | metrics | traces
)

// String returns the kinds in the set, such as "log, metric".
func (e events) String() string {
	var names []string
	for i, name := range []string{"log", "metric", "trace"} {
		if e&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// parseEvents parses a cell of a table, such as "log|metric (…)" or "by encoding.codec". It also returns
// whether the kinds depend on the codec.
func parseEvents(text string) (kinds events, byCodec bool) {
	head, note, _ := strings.Cut(text, " ")
	for name := range strings.SplitSeq(head, "|") {
		kinds |= map[string]events{"log": logs, "metric": metrics, "trace": traces, "by": everything}[name]
	}
	return kinds, head == "by" || strings.Contains(note, "codec")
}

// profile contains the properties of a component type in the tables.
type profile struct {
	inputEvents, outputEvents   events
	inputByCodec, outputByCodec bool
	named, acknowledges         bool
	// alias is the current name of a type that was renamed, or "".
	alias string
	// sinceMinor and removedMinor are the minor versions in which the type was added and removed, or 0 for
	// none. instead is the replacement of a removed type.
	sinceMinor, removedMinor int
	instead                  string
	nodeOnly                 bool
	listens                  []listening
	confined                 []confined
	checkpoints              bool
}

// listening is an option with an address on which the component listens. standard is the default of the option.
type listening struct{ option, protocol, standard string }

// confined is an option with a template that must start with literal text. kind is the rule for that text
// (checkTemplate).
type confined struct{ option, kind string }

// facts contains the data of all tables.
type facts struct {
	profiles map[kind]map[string]*profile
	// names are the types in the newest version, by kind. They are used for suggestions.
	names   map[kind][]string
	encodes map[string]events
	decodes map[string]events
	secrets map[string]bool
	// globalsRemoved contains the minor version in which an option outside of components was removed, by the
	// option's path.
	globalsRemoved map[string]int
}

// tables returns the data of all tables. It parses data/ at the first call.
var tables = sync.OnceValue(func() *facts {
	f := &facts{
		profiles: map[kind]map[string]*profile{source: {}, transform: {}, sink: {}},
		names:    map[kind][]string{},
		encodes:  map[string]events{}, decodes: map[string]events{},
		secrets: map[string]bool{}, globalsRemoved: map[string]int{},
	}
	for _, row := range tableRows(componentsTSV) {
		f.addComponent(row)
	}
	for _, profiles := range f.profiles {
		for name, p := range profiles {
			if target := profiles[p.alias]; target != nil {
				fresh := *target
				fresh.alias, fresh.sinceMinor = p.alias, p.sinceMinor
				profiles[name] = &fresh
			}
		}
	}
	for _, row := range tableRows(codecsTSV) {
		kinds, _ := parseEvents(row[2])
		if row[0] == "encode" {
			f.encodes[row[1]] = kinds
		} else {
			f.decodes[row[1]] = kinds
		}
	}
	for _, row := range tableRows(optionsTSV) {
		f.addOption(row)
	}
	for k, profiles := range f.profiles {
		for _, name := range slices.Sorted(maps.Keys(profiles)) {
			if profiles[name].removedMinor == 0 && profiles[name].alias == "" {
				f.names[k] = append(f.names[k], name)
			}
		}
	}
	return f
})

// tableRows returns the rows of a table without the header.
func tableRows(tsv string) [][]string {
	var parsed [][]string
	for line := range strings.SplitSeq(strings.TrimSpace(tsv), "\n") {
		parsed = append(parsed, strings.Split(line, "\t"))
	}
	return parsed[1:]
}

// addComponent adds a row of components.tsv. Its columns are kind, type, status, since, removed_in, input, output,
// named outputs, acknowledgements and roles.
func (f *facts) addComponent(row []string) {
	p := &profile{named: row[7] != "-", acknowledges: row[8] != "no", nodeOnly: row[9] == "daemon"}
	p.inputEvents, p.inputByCodec = parseEvents(row[5])
	p.outputEvents, p.outputByCodec = parseEvents(row[6])
	_, p.alias, _ = strings.Cut(row[2], "alias of ")
	p.sinceMinor, _ = parseMinor(row[3])
	if p.removedMinor, p.instead = parseMinor(row[4]); p.removedMinor > 0 {
		p.inputEvents, p.outputEvents = everything, everything // The table has no other data for it.
	}
	f.profiles[kind(row[0])][row[1]] = p
}

// addOption adds a row of options.tsv. Its columns are kind, type, option, role, detail and default.
func (f *facts) addOption(row []string) {
	p := f.profiles[kind(row[0])][row[1]]
	option, detail := row[2], row[4]
	switch row[3] {
	case "listens":
		p.listens = append(p.listens, listening{option, detail, strings.TrimPrefix(row[5], "-")})
	case "confined":
		p.confined = append(p.confined, confined{option, detail})
	case "checkpoints":
		p.checkpoints = true
	case "removed":
		f.globalsRemoved[option], _ = parseMinor(detail)
	case "secret":
		f.secrets[option] = true
	}
}
