// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	ctrl "sigs.k8s.io/controller-runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/schedule"
)

// reloadInterval is the interval for checking the configuration file. The file is small. In a
// mounted ConfigMap, it is up to a minute late in any case.
const reloadInterval = 2 * time.Second

// LevelSetter sets the minimum level that is logged.
type LevelSetter interface{ SetLevel(level zapcore.Level) }

// reloader reloads the configuration file when it changes, also in standby replicas.
type reloader struct {
	path  string
	level LevelSetter
	log   logr.Logger
	// arguments are the command line. Its flags take precedence over the file.
	arguments []string
	// current is the log level in use.
	current zapcore.Level
	// text and values are the content of the file at the last check.
	text   []byte
	values map[string]string
}

// addReloader makes the manager follow the configuration file, if there is one.
func addReloader(mgr ctrl.Manager, options Options, level LevelSetter) error {
	if options.Config == "" {
		return nil
	}
	reloader := newReloader(options, level, mgr.GetLogger())
	checks := schedule.Every(reloadInterval, func(context.Context) error {
		reloader.checkFile()
		return nil
	})
	if err := mgr.Add(schedule.OnEveryReplica(checks)); err != nil {
		return fmt.Errorf("watching %s: %w", options.Config, err)
	}
	return nil
}

// newReloader returns a reloader that knows the current content of the configuration file.
func newReloader(options Options, level LevelSetter, log logr.Logger) *reloader {
	r := &reloader{path: options.Config, level: level, log: log.WithName("configuration").WithValues("file", options.Config), arguments: options.arguments, current: options.LogLevel}
	r.text, _ = os.ReadFile(r.path) // ParseOptions has just read it without an error.
	if read, err := readFile(r.path); err == nil {
		r.values = read.values
	}
	return r
}

// checkFile reads the configuration file, and applies the changed log level. It logs other changed keys, and keeps
// the previous settings if the file is invalid.
func (r *reloader) checkFile() {
	text, err := os.ReadFile(r.path)
	if err != nil || bytes.Equal(text, r.text) {
		return // The file may be missing for a moment while it is replaced.
	}
	r.text = text
	options, err := ParseOptions(r.arguments)
	if err != nil {
		r.log.Error(err, "ignoring the changed configuration")
		return
	}
	read, err := readFile(r.path)
	if err != nil {
		return // The file has changed again; the next check reads it.
	}
	r.setLevel(options.LogLevel)
	if keys := changedKeys(r.values, read.values); len(keys) > 0 {
		r.log.Info("restart the operator for these keys to take effect", "keys", keys)
	}
	r.values = read.values
}

// setLevel sets the log level. It logs the change while INFO is enabled: before the level rises, or after it falls.
func (r *reloader) setLevel(level zapcore.Level) {
	const message = "configuration reloaded"
	if level > r.current {
		r.log.Info(message, "log-level", level.CapitalString())
		r.level.SetLevel(level)
	} else {
		r.level.SetLevel(level)
		r.log.Info(message, "log-level", level.CapitalString())
	}
	r.current = level
}

// changedKeys returns the changed keys that take effect only after a restart.
func changedKeys(before, after map[string]string) []string {
	changed := map[string]bool{}
	for _, pair := range [][2]map[string]string{{before, after}, {after, before}} {
		for key, value := range pair[0] {
			if otherValue, ok := pair[1][key]; key != "log-level" && (!ok || otherValue != value) {
				changed[key] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(changed))
}
