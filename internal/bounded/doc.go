// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package bounded is the door through which every text that others wrote comes in:
// YAML, TOML, JSON, JSON schemas, archives and folders. It holds them to Limits while
// it reads, before there is a tree, so that what a text costs is known from its bytes.
// What a text means is not its business, and what is wrong with its grammar is left to
// the parser behind the door to say.
//
// How it works. A scanner goes over the bytes once, knows where texts, comments and
// brackets begin and end, and counts the nodes that a parser could make of them: never
// fewer, seldom more. Only then a parser is called, and only here: package arch holds
// everybody else to that. A YAML text with aliases, whose nodes are few by then, is
// read into nodes once to count what it is with every alias written out.
//
// Large texts also wait for a Budget, which all workers share.
package bounded
