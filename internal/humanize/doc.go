// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package humanize makes text fit for the people who read it: names the nearest known
// name to what they wrote, and escapes what others wrote, so that it does not steer who
// reads it: a terminal by escape sequences, a reader by what turns the direction of
// writing or begins a line of its own, a pipeline by commands in the log. Such characters
// are shown as \x1b or \u202e, so that nothing is lost. What is said, and what of it is
// the program's own, is for others.
package humanize
