// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"regexp"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// failureLimit is the maximum length of a failure's message in bytes.
const failureLimit = 256

// Failures returns the first failures that the sidecar caused, for status.rollout.failures. If the VectorSidecar
// cannot be rendered, its own failure comes first.
func (d *Decision) Failures(sidecar *v1alpha1.VectorSidecar) []v1alpha1.RolloutFailure {
	var failures []v1alpha1.RolloutFailure
	if d.Invalid != nil {
		kind, name := meta.KindAndName(sidecar.Name)
		failures = append(failures, v1alpha1.RolloutFailure{Namespace: sidecar.Namespace, Kind: kind, Name: name, Reason: d.Invalid.Reason, Message: d.Invalid.Message})
	}
	for i := 0; i < len(d.Plans) && len(failures) < fleet.MaxFailures; i++ {
		if p := &d.Plans[i]; p.Rollout.SidecarFailed {
			failures = append(failures, v1alpha1.RolloutFailure{
				Namespace: p.Target.Namespace, Kind: p.Target.Kind, Name: p.Target.Name, Reason: p.Rollout.Reason, Container: p.Rollout.Container, Message: p.Rollout.Message,
			})
		}
	}
	for i := range failures {
		failures[i].Message = FailureMessage(failures[i].Message)
	}
	return failures
}

// templateLocation matches the file, line and column of a template in an error message.
var templateLocation = regexp.MustCompile(`[^\s()]+\.(?:tpl|yaml|yml|txt):\d+(?::\d+)?`)

// FailureMessage returns a message in one line of at most failureLimit bytes. The error of a template that calls fail
// ends with the file and line. If this end would be cut, the file and line come first.
func FailureMessage(message string) string {
	const maxLength = failureLimit - len(" …")
	message = strings.Join(strings.Fields(message), " ")
	if position := templateLocation.FindStringIndex(message); position != nil && len(message) > maxLength && position[1] > maxLength {
		message = message[position[0]:position[1]] + ": " + message
	}
	return humanize.ShortenMessage(message, maxLength)
}
