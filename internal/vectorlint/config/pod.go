// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
)

// Pod describes the parts of a pod outside of Vector's container.
type Pod struct {
	Ports []Port
	// GraceSeconds is terminationGracePeriodSeconds of the pod, or nil if it is unknown.
	GraceSeconds *int64
}

// Port is a port that another container of the pod declares.
type Port struct {
	Container, Protocol string
	Port                int
}

// defaultShutdownSeconds is Vector's default of VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS.
const defaultShutdownSeconds = 60

// Listens reports whether a component of the configuration, or Vector's API, listens on a port. It ignores unknown
// addresses.
func (r *Report) Listens() bool { return len(r.listeners) > 0 }

// CheckPod returns the findings about the configuration in a pod. Callers can use the same report for many
// pods.
func (r *Report) CheckPod(pod Pod) []Finding {
	var findings []Finding
	for _, l := range r.listeners {
		for _, port := range pod.Ports {
			if port.Port == l.port && port.Protocol == l.protocol {
				f := r.newFinding(portInUse, "%s listens on %s port %d, which container %q declares", l.path, l.protocol, l.port, port.Container)
				f.Source, f.Line, f.Column, f.Path = l.source, l.pos.line, l.pos.column, l.path
				findings = append(findings, f)
			}
		}
	}
	if pod.GraceSeconds == nil || r.container == nil {
		return findings
	}
	limit, isKnown := r.commandLine.Number("graceful-shutdown-limit-secs")
	isUnlimited, _ := r.commandLine.Toggle("no-graceful-shutdown-limit")
	if limit == 0 {
		limit = defaultShutdownSeconds
	}
	total := limit + r.container.DrainSeconds
	switch {
	case isUnlimited:
		findings = append(findings, r.newFinding(shutdownTooLong, "draining has no limit, but the pod's grace period is %d s", *pod.GraceSeconds))
	case isKnown && total > *pod.GraceSeconds:
		findings = append(findings, r.newFinding(shutdownTooLong, "draining may take %d s, but the pod's grace period is %d s", total, *pod.GraceSeconds))
	}
	return findings
}

// newFinding returns a finding of a rule without a position.
func (*Report) newFinding(code Code, format string, args ...any) Finding {
	rule := ruleFor(code)
	return Finding{Code: code, Level: rule.Level, Message: fmt.Sprintf(format, args...), Help: rule.Help}
}
