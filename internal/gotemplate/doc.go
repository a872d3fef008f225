// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package gotemplate executes untrusted Go templates hermetically and within limits. Template files and Options go
// into [Compile], which parses and checks a set once. Data goes into [Set.Execute], which runs one template of the
// set; the text or an [Error] comes out. The package implements the language of Helm's templates, byte for byte on
// ordinary ones, and does not know Kubernetes, charts or values files.
//
// The package does not use text/template to execute, for three reasons:
//
//   - Templates are written by users who may change a ConfigMap, and run in the process that writes to workloads.
//     text/template cannot be bounded: it cannot be canceled, it counts nothing, and one line can hang it or end the
//     process.
//   - text/template does not report the values that a template has read. These decide which workloads can share a
//     rendering.
//   - text/template.Execute looks methods up by name. Linking it makes Go's linker keep every exported method of the
//     program: 12 MB of binary and 13 MiB of memory.
//
// Package text/template/parse builds the syntax trees, and this package walks them. A frame is one executing template.
// Each of its actions, iterations and function calls is charged to a meter, which has the Budget. Before each function
// call, a guard measures the arguments. For functions that multiply, the guard also computes the size of the result.
// Each access to the watched value is recorded as a [Read].
//
// Intended differences from Helm's engine:
//
//   - Using a missing key is an error. Testing for it is allowed: if, with, range, and, or, not, default, empty,
//     coalesce, ternary, required, hasKey, get, dig, has, kindIs, eq and the like. A variable may have a missing value
//     until it is used.
//   - An invalid regular expression, a value that toYaml and toJson cannot print, and .Files.Get of a missing file are
//     errors. Helm's engine ignores them.
//   - keys returns sorted keys, and values the values in the order of their keys.
//   - Compile rejects functions that read the clock, randomness, the network, the environment or the cluster, or that
//     handle key material.
//   - No function prints an address: printf accepts neither %p nor %#v, and a pointer is printed only by its own
//     method or as its target.
//   - Only listed methods can be called: the methods of Files, the methods of the versions that semver returns, unless
//     they change them, and the methods in Options.Methods.
//   - fromToml returns dates as text, because a date would depend on the local time zone.
package gotemplate
