// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package humanize prepares text for people. It suggests the name closest to a misspelled one. It escapes external
// text so that terminals, readers and CI pipelines are not affected by escape sequences, bidirectional controls,
// faked lines or log commands. Escaped characters are shown as \x1b or \u202e, so nothing is lost. Callers decide
// which text to escape.
package humanize
