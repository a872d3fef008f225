// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package fleet limits rollouts across all VectorSidecars of an installation. It assigns rollout slots, checks rollout
// windows, and orders the waves in which a revision of the installation's templates and values is started. Inputs are
// the installation's rules and the statuses of the VectorSidecars. The package does not read a cluster or a clock.
package fleet

import (
	_ "embed" // Embeds the schema.
	"encoding/json"
	"fmt"
	"slices"
	"time"
	_ "time/tzdata" // The operator's image does not contain time zones.

	"k8s.io/apimachinery/pkg/util/intstr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
)

//go:embed schema.json
var schema []byte

// Rules are the rollout settings of an installation. The zero value does not limit rollouts. They are immutable.
type Rules struct {
	// MaxConcurrent is the maximum number of workloads that roll out or soak at the same time: a number, or a share of
	// all matched workloads. It is nil for no limit.
	MaxConcurrent *intstr.IntOrString `json:"maxConcurrent"`
	// Waves are the groups of VectorSidecars, in the order in which they get changed templates and values.
	Waves []Wave `json:"waves"`
	// Halt is the limit of failures that halts a revision, or nil for none.
	Halt *Halt `json:"halt"`
	// OnFailure is the action of VectorSidecars that have a halted revision, unless their own spec sets an action.
	OnFailure v1alpha1.OnFailure `json:"onFailure"`
	// Windows are the times at which rollouts may start. Without windows, they may start at any time.
	Windows []Window `json:"windows"`
}

// Parse parses the rules of an installation. The error contains the source, line and path.
func Parse(source string, text []byte) (*Rules, error) {
	layer, err := environment.ParseLayer(source, text)
	if err != nil {
		return nil, err
	}
	compiled, err := environment.CompileSchema("the rollout's schema", schema)
	if err != nil {
		return nil, err
	}
	if err := compiled.Check(&layer); err != nil {
		return nil, err
	}
	rules := &Rules{}
	data, err := json.Marshal(layer.Tree)
	if err == nil {
		err = json.Unmarshal(data, rules)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	if err := rules.loadWaves(); err != nil {
		return nil, fmt.Errorf("%s: %w", layer.Position("waves"), err)
	}
	for i := range rules.Windows {
		if err := rules.Windows[i].parse(); err != nil {
			return nil, fmt.Errorf("%s: windows.%d.%w", layer.Position("windows"), i, err)
		}
	}
	return rules, nil
}

// isLimited reports whether the number of rollouts in progress is limited.
func (r *Rules) isLimited() bool { return r.MaxConcurrent != nil }

// Limit returns the maximum number of matched workloads with a rollout in progress, or 0 for no limit.
func (r *Rules) Limit(matched int) int {
	if !r.isLimited() {
		return 0
	}
	scaled, err := intstr.GetScaledValueFromIntOrPercent(r.MaxConcurrent, matched, true)
	if err != nil { // The schema allows only numbers and percentages.
		return 1
	}
	return max(scaled, 1)
}

// ClosedWindow reports whether a moment is between windows, so that rollouts may not start. closedSince is the end of
// the last window, or zero if no window has been open in the two weeks before. closedUntil is the start of the next
// one.
func (r *Rules) ClosedWindow(now time.Time) (closedSince, closedUntil time.Time, isClosed bool) {
	if r == nil || len(r.Windows) == 0 {
		return closedSince, closedUntil, false
	}
	for i := range r.Windows {
		for _, opening := range r.Windows[i].openings(now) {
			switch {
			case opening.from.After(now):
				if closedUntil.IsZero() || opening.from.Before(closedUntil) {
					closedUntil = opening.from
				}
			case opening.to.After(now):
				return time.Time{}, time.Time{}, false
			case opening.to.After(closedSince):
				closedSince = opening.to
			}
		}
	}
	return closedSince, closedUntil, true
}

// Window is a time of day on some days.
type Window struct {
	Days     []string `json:"days"`
	From     string   `json:"from"`
	To       string   `json:"to"`
	TimeZone string   `json:"timeZone"`

	zone     *time.Location
	from, to time.Duration
}

// parse sets the parsed fields of the window. It returns an error for an unknown time zone, and if the window closes
// when it opens.
func (w *Window) parse() (err error) {
	if w.zone, err = time.LoadLocation(w.TimeZone); err != nil || w.TimeZone == "Local" {
		return fmt.Errorf("timeZone: unknown time zone %q; use an IANA name such as Europe/Berlin", w.TimeZone)
	}
	w.from, w.to = timeSinceMidnight(w.From), timeSinceMidnight(w.To)
	if w.from == w.to {
		return fmt.Errorf("to: the window closes when it opens, at %s: write from: \"00:00\" and to: \"24:00\" for a whole day", w.To)
	}
	return nil
}

// timeSinceMidnight parses a time of day. The schema has checked its format.
func timeSinceMidnight(text string) time.Duration {
	hour, minute := 0, 0
	_, _ = fmt.Sscanf(text, "%d:%d", &hour, &minute)
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute
}

// opening is one day's window.
type opening struct{ from, to time.Time }

// aroundDays is the number of days before and after a moment for which openings are computed. A change of clocks may
// skip the only window of a week, so two weeks are necessary. A window across midnight needs one more day.
const aroundDays = 15

// openings returns the windows that start within two weeks before and after a moment. They follow the local time, even
// if clocks change.
func (w *Window) openings(now time.Time) []opening {
	var openings []opening
	today := now.In(w.zone)
	timeOn := func(day int, offset time.Duration) time.Time {
		return time.Date(today.Year(), today.Month(), today.Day()+day, int(offset/time.Hour), int(offset%time.Hour/time.Minute), 0, 0, w.zone)
	}
	for day := -aroundDays; day <= aroundDays; day++ {
		// Noon is on that day in every zone; midnight may be left out when clocks change.
		if len(w.Days) > 0 && !slices.Contains(w.Days, timeOn(day, 12*time.Hour).Weekday().String()[:3]) {
			continue
		}
		end := day
		if w.to <= w.from {
			end++
		}
		// A window between two times that a change of clocks skips is left out.
		if candidate := (opening{timeOn(day, w.from), timeOn(end, w.to)}); candidate.to.After(candidate.from) {
			openings = append(openings, candidate)
		}
	}
	return openings
}
