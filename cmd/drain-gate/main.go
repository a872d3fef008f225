// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command drain-gate runs in a native sidecar behind Vector's, which the kubelet tells to end
// before it. It does nothing until then, and ends when Vector has finished with its log files,
// or when the seconds in VECTORSIDECAR_DRAIN_SECONDS are over. Its arguments are Vector's
// data_dir, and Vector's file sources in JSON. Whatever is wrong with them, it runs: a pod
// starts only with all of its native sidecars.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/draingate"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// memory is what garbage is collected for, well below the container's limit.
const memory = 6 << 20

func main() {
	debug.SetMemoryLimit(memory)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	gate := gateOf(os.Args[1:])
	if gate.Broken != nil {
		gate.Log.Error("The end of the pod will take all of the seconds", "error", gate.Broken.Error(), "seconds", gate.Bound.Seconds())
	}
	<-stop
	gate.Wait(context.Background())
}

func gateOf(args []string) *draingate.Gate {
	gate := &draingate.Gate{Started: time.Now(), Log: slog.New(slog.NewJSONHandler(os.Stderr, nil))}
	seconds, err := strconv.ParseUint(os.Getenv(meta.VariableDrainSeconds), 10, 16)
	if err != nil {
		gate.Broken = fmt.Errorf("%s: %w", meta.VariableDrainSeconds, err)
	}
	gate.Bound = time.Duration(seconds) * time.Second
	if len(args) != 2 {
		gate.Broken = errors.Join(gate.Broken, errors.New("usage: drain-gate DATA_DIR SOURCES"))
		return gate
	}
	gate.DataDir = args[0]
	if gate.Sources, err = draingate.ReadSources([]byte(args[1])); err != nil {
		gate.Broken = errors.Join(gate.Broken, err)
	}
	return gate
}
