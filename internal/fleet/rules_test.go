// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func parse(t *testing.T, text string) *Rules {
	t.Helper()
	rules, err := Parse("values rollout", []byte(text))
	require.NoError(t, err)
	return rules
}

func TestParse_RejectsInvalidRules(t *testing.T) {
	for text, want := range map[string]string{
		"maxConcurent: 3":                                         "values rollout:1: maxConcurent: unknown key; did you mean maxConcurrent?",
		"maxConcurrent: 0":                                        "values rollout:1: maxConcurrent: minimum",
		"maxConcurrent: 3.5":                                      "values rollout:1: maxConcurrent: got number, want integer or string",
		`maxConcurrent: "0%"`:                                     "values rollout:1: maxConcurrent: '0%' does not match pattern",
		`maxConcurrent: "101%"`:                                   "values rollout:1: maxConcurrent: '101%' does not match pattern",
		`windows: [{from: "08:00"}]`:                              "values rollout:1: windows.0: missing property 'to'",
		`windows: [{from: "8:00", to: "9:00"}]`:                   "values rollout:1: windows.0.from: '8:00' does not match pattern",
		`windows: [{from: "25:00", to: "09:00"}]`:                 "values rollout:1: windows.0.from: '25:00' does not match pattern",
		`windows: [{days: [Monday], from: "08:00", to: "09:00"}]`: "values rollout:1: windows.0.days.0: ",
		"\nwindows:\n- {from: '08:00', to: '09:00'}\n- {from: '08:00', to: '08:00'}": `values rollout:2: windows.1.to: the window closes when it opens, at 08:00: write from: "00:00" and to: "24:00" for a whole day`,
		`windows: [{from: "08:00", to: "09:00", timeZone: Europe/Berlyn}]`:           `values rollout:1: windows.0.timeZone: unknown time zone "Europe/Berlyn"; use an IANA name such as Europe/Berlin`,
		`windows: [{from: "08:00", to: "09:00", timeZone: Local}]`:                   `unknown time zone "Local"`,
	} {
		t.Run(text, func(t *testing.T) {
			_, err := Parse("values rollout", []byte(text))
			require.ErrorContains(t, err, want)
		})
	}
}

// maxConcurrent is a number of slots, or a percentage of all workloads, which is at least one slot.
func TestLimit_ComputesSlotsFromRules(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "maxConcurrent: null": 0, "maxConcurrent: 20": 20, `maxConcurrent: "2%"`: 5, `maxConcurrent: "1%"`: 3, `maxConcurrent: "100%"`: 250,
	} {
		require.Equal(t, want, parse(t, text).Limit(250), text)
	}
	require.Equal(t, 1, parse(t, `maxConcurrent: "2%"`).Limit(0), "never none at all")
	require.Equal(t, 0, (&Rules{}).Limit(5))
}

// Each case is a time and the windows of the rules, and until when rollouts wait.
func TestClosedWindow_EvaluatesWindows(t *testing.T) {
	const (
		office = `windows: [{days: [Mon, Tue, Wed, Thu], from: "08:00", to: "16:00", timeZone: Europe/Berlin}]`
		night  = `windows: [{days: [Fri], from: "22:00", to: "02:00"}]`
		spring = `windows: [{from: "02:15", to: "02:45", timeZone: Europe/Berlin}]`
	)
	for name, test := range map[string]struct{ rules, now, since, until string }{
		"no rules":                     {"", "2026-11-23T12:00:00Z", "", ""},
		"no windows":                   {"windows: []", "2026-11-23T12:00:00Z", "", ""},
		"open, on a Monday":            {office, "2026-11-23T09:00:00Z", "", ""},
		"it opens":                     {office, "2026-11-23T07:00:00Z", "", ""},
		"a moment before":              {office, "2026-11-23T06:59:59Z", "2026-11-19T15:00:00Z", "2026-11-23T07:00:00Z"},
		"it closes":                    {office, "2026-11-23T15:00:00Z", "2026-11-23T15:00:00Z", "2026-11-24T07:00:00Z"},
		"over the weekend":             {office, "2026-11-26T20:00:00Z", "2026-11-26T15:00:00Z", "2026-11-30T07:00:00Z"},
		"in summer it is an hour less": {office, "2026-07-06T06:00:00Z", "", ""},
		"over a change of clocks":      {office, "2026-10-24T12:00:00Z", "2026-10-22T14:00:00Z", "2026-10-26T07:00:00Z"},
		"across midnight":              {night, "2026-11-28T01:59:59Z", "", ""},
		"only from that day":           {night, "2026-11-27T01:00:00Z", "2026-11-21T02:00:00Z", "2026-11-27T22:00:00Z"},
		"every day":                    {`windows: [{from: "00:00", to: "24:00"}]`, "2026-11-23T00:00:00Z", "", ""},
		"one of two":                   {`windows: [{from: "06:00", to: "07:00"}, {from: "12:00", to: "13:00"}]`, "2026-11-23T12:30:00Z", "", ""},
		"between two":                  {`windows: [{from: "06:00", to: "07:00"}, {from: "12:00", to: "13:00"}]`, "2026-11-23T08:00:00Z", "2026-11-23T07:00:00Z", "2026-11-23T12:00:00Z"},
		"overlapping ones are one":     {`windows: [{from: "06:00", to: "09:00"}, {from: "08:00", to: "13:00"}]`, "2026-11-23T09:30:00Z", "", ""},
		"an hour that clocks skip":     {spring, "2026-03-28T12:00:00Z", "2026-03-28T01:45:00Z", "2026-03-29T01:15:00Z"},
		"a week that clocks leave out": {`windows: [{days: [Sun], from: "02:30", to: "03:00", timeZone: Europe/Berlin}]`, "2026-03-23T12:00:00Z", "2026-03-22T02:00:00Z", "2026-04-05T00:30:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			now, err := time.Parse(time.RFC3339, test.now)
			require.NoError(t, err)

			since, until, isClosed := parse(t, test.rules).ClosedWindow(now)

			require.Equal(t, test.until != "", isClosed)
			if isClosed {
				require.Equal(t, test.since, since.UTC().Format(time.RFC3339), "since")
				require.Equal(t, test.until, until.UTC().Format(time.RFC3339), "until")
			}
		})
	}
}
