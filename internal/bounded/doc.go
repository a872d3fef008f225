// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package bounded parses all text that users wrote: YAML, TOML, JSON, JSON schemas, archives
// and folders. It enforces Limits while it reads, before there is a tree, so that the cost
// of a text is limited by its bytes. It does not interpret the text, and leaves syntax
// errors to the parser.
//
// How it works: a scanner reads the bytes once, finds where strings, comments and brackets
// begin and end, and counts the nodes that a parser could create: never too few, seldom too
// many. Only then is a parser called, and only here: package arch enforces that. A YAML text
// with aliases has few nodes at this point, so it is parsed into nodes once to count them
// with all aliases expanded.
//
// Large texts also wait for a Budget that all workers share. What is made of texts is kept in a
// Store limited by bytes.
package bounded
