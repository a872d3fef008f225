// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package humanize prepares text for people: it suggests the known name closest to what they
// wrote, and escapes text from elsewhere so that it cannot affect its readers: a terminal
// through escape sequences, a person through bidirectional controls or faked lines, a CI
// pipeline through commands in its log. Such characters are shown as \x1b or \u202e, so that
// nothing is lost. Callers decide what to print, and which of it is from elsewhere.
package humanize
