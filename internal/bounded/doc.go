// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package bounded parses all text that users wrote: YAML, TOML, JSON, JSON schemas, archives and folders. A text goes
// in with its Limits. A value of the caller's type, a parser with positions, or an Error with line, size, limit and
// advice comes out. Package arch enforces that no other package calls a parser.
//
// A text has at most 512 KiB. The values, the depth, and the lengths of keys and paths are counted before the text is
// decoded:
//
//   - A scanner counts JSON.
//   - YAML is counted on the nodes of its parser, with aliases written out. Before that, the characters that may start
//     a node are counted.
//   - TOML is counted on the expressions of its parser. Before that, the depth of brackets is checked, because the
//     decoder does not limit the depth.
//
// Large texts also wait for a Budget that all workers share. Results of parsing are cached in a Store, which is
// limited by bytes.
package bounded
