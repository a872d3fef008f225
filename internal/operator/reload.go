// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"bytes"
	"context"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
)

// reloadInterval is how often the configuration file is looked at. It is a few
// lines, and on a mounted ConfigMap a minute behind anyway.
const reloadInterval = 2 * time.Second

// LevelSetter sets the least level that is logged.
type LevelSetter interface{ SetLevel(level zapcore.Level) }

// reloader follows the configuration file. It runs in those that stand by, too.
type reloader struct {
	path  string
	level LevelSetter
	log   logr.Logger
	// arguments are the command line, whose flags go before the file.
	arguments []string
	current   zapcore.Level
	text      []byte
	values    map[string]string
}

func newReloader(options Options, level LevelSetter, log logr.Logger) *reloader {
	r := &reloader{path: options.Config, level: level, log: log.WithName("configuration").WithValues("file", options.Config), arguments: options.arguments, current: options.LogLevel}
	r.text, _ = os.ReadFile(r.path) // It was read a moment ago, without a mistake.
	if read, err := readFile(r.path); err == nil {
		r.values = read.values
	}
	return r
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (r *reloader) NeedLeaderElection() bool { return false }

// Start follows the file until the context ends.
func (r *reloader) Start(ctx context.Context) error {
	ticker := time.NewTicker(reloadInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			r.look()
		}
	}
}

// look takes over what can be taken over, once for each content of the file.
func (r *reloader) look() {
	text, err := os.ReadFile(r.path)
	if err != nil || bytes.Equal(text, r.text) {
		return // While a file is replaced, there may be none for a moment.
	}
	r.text = text
	options, err := ParseOptions(r.arguments)
	if err != nil {
		r.log.Error(err, "the changed configuration is not used")
		return
	}
	read, err := readFile(r.path)
	if err != nil {
		return // It changed again; the next look finds that.
	}
	r.set(options.LogLevel)
	if keys := changedKeys(r.values, read.values); len(keys) > 0 {
		r.log.Info("start the operator anew for these keys to take effect", "keys", keys)
	}
	r.values = read.values
}

// set sets the level, and says so while lines of INFO are still or already logged.
func (r *reloader) set(level zapcore.Level) {
	said := "configuration read again"
	if level > r.current {
		r.log.Info(said, "log-level", level.CapitalString())
		r.level.SetLevel(level)
	} else {
		r.level.SetLevel(level)
		r.log.Info(said, "log-level", level.CapitalString())
	}
	r.current = level
}

// changedKeys are those that take effect only at a start.
func changedKeys(before, after map[string]string) []string {
	changed := map[string]bool{}
	for _, pair := range [][2]map[string]string{{before, after}, {after, before}} {
		for key, value := range pair[0] {
			if other, is := pair[1][key]; key != "log-level" && (!is || other != value) {
				changed[key] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(changed))
}
