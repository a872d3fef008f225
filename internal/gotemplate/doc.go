// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package gotemplate executes untrusted Go templates hermetically and within bounds: [Compile]
// parses and checks a set once, [Set.Execute] runs one template of it. It implements the
// language of Helm's templates, byte for byte on ordinary ones, and knows nothing of
// Kubernetes, charts or values files.
//
// Why not text/template? Templates come from people who may change a ConfigMap, and run in
// the process that writes to workloads. text/template cannot be bounded: it cannot be
// canceled, it counts nothing, and one line can hang it or end the process. Nor does it
// report what a template has read, which decides which workloads can share a rendering. And
// linking text/template.Execute, which looks methods up by name, makes Go's linker keep
// every exported method of the program: 12 MB of binary and 13 MiB of memory.
//
// How it works: text/template/parse builds the syntax trees, and this package walks them. A
// frame is one executing template. Each of its actions, iterations and function calls is
// charged to a meter, which holds the Budget. A function is called only through a guard that
// measures its arguments first, and, for functions that multiply, also computes the size of
// the result in advance. Each access to the watched value is recorded as a [Read].
//
// Intended differences from Helm's engine:
//
//   - Using a missing key is an error. Testing for it is not: if, with, range, and, or, not,
//     default, empty, coalesce, ternary, required, hasKey, get, dig, has, kindIs, eq and the
//     like. A variable may hold a missing value until it is used.
//   - An invalid regular expression, a value that toYaml and toJson cannot print, and
//     .Files.Get of a missing file are errors, where Helm's engine is silent.
//   - keys returns sorted keys, and values the values in the order of their keys.
//   - Functions that read the clock, randomness, the network, the environment or the
//     cluster, or that handle key material, are refused by Compile.
//   - No function prints an address: printf takes neither %p nor %#v, and a pointer is
//     printed only by its own method or as what it points to.
//   - Only listed methods can be called: those of Files and of the versions that semver
//     returns, unless they change them, and those in Options.Methods.
//   - fromToml returns dates as text, since a date would bring the local time zone.
package gotemplate
