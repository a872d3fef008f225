// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package bounded parses all text that users wrote: YAML, TOML, JSON, JSON schemas, archives and folders. A text goes in
// with its Limits; a value of the caller's type, a parser with positions, or an Error with line, size, limit and advice
// comes out. Package arch enforces that no other package calls a parser.
//
// A text is at most 512 KiB, and what a parser makes of it is counted before it is decoded: values, depth, lengths of keys
// and paths. JSON is counted by a scanner. YAML is counted on the nodes of its parser, with aliases written out, after a count
// of the characters at which nodes may begin. TOML is counted on the expressions of its parser, after a check of the depth
// of brackets, because the decoder has no limit of depth.
//
// Large texts also wait for a Budget that all workers share. What is made of texts is kept in a
// Store limited by bytes.
package bounded
