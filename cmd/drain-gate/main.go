// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command drain-gate delays the shutdown of Vector from its own container, a native sidecar that
// the kubelet terminates before Vector. Its arguments are Vector's data_dir and Vector's file
// sources in JSON. It ends when Vector has finished with its log files, or after the seconds in
// VECTORSIDECAR_DRAIN_SECONDS. With --socket it also removes the socket that a killed Vector left,
// until it is terminated. It keeps running with invalid arguments, because a pod starts only with
// all of its native sidecars.
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
	"strings"
	"syscall"
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/draingate"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// memory is the soft memory limit of the garbage collector, well below the container's limit.
const memory = 6 << 20

func main() {
	debug.SetMemoryLimit(memory)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	socket, args := parseSocket(os.Args[1:])
	var gate *draingate.Gate
	if socket == "" || len(args) > 0 {
		gate = parseGate(args, log)
	}
	if socket != "" {
		kept := &draingate.Socket{Path: socket, Log: log}
		kept.RemoveLeftovers(ctx)
	}
	<-ctx.Done()
	if gate != nil {
		gate.Wait(context.Background())
	}
}

// parseSocket returns the path of the argument --socket, or "" without it, and the arguments after it.
func parseSocket(args []string) (path string, rest []string) {
	if len(args) > 0 {
		if path, isGiven := strings.CutPrefix(args[0], "--socket="); isGiven {
			return path, args[1:]
		}
	}
	return "", args
}

// parseGate returns the gate for the arguments DATA_DIR and SOURCES. If they are invalid, the gate has an error in
// Broken, which is logged.
func parseGate(args []string, log *slog.Logger) *draingate.Gate {
	gate := &draingate.Gate{Started: time.Now(), Log: log}
	seconds, err := strconv.ParseUint(os.Getenv(meta.VariableDrainSeconds), 10, 16)
	if err != nil {
		gate.Broken = fmt.Errorf("%s: %w", meta.VariableDrainSeconds, err)
	}
	gate.Bound = time.Duration(seconds) * time.Second
	if len(args) != 2 {
		gate.Broken = errors.Join(gate.Broken, errors.New("usage: drain-gate [--socket=PATH] [DATA_DIR SOURCES]"))
	} else {
		gate.DataDir = args[0]
		gate.Sources, err = draingate.ReadSources([]byte(args[1]))
		gate.Broken = errors.Join(gate.Broken, err)
	}
	if gate.Broken != nil {
		gate.Log.Error("cannot check files, waiting for the full time", "error", gate.Broken.Error(), "seconds", gate.Bound.Seconds())
	}
	return gate
}
