// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package template executes Go templates that others wrote, hermetically and
// within bounds: [Compile] parses and checks a set once, [Set.Execute] runs one
// template of it. It speaks the language of Helm's templates, byte for byte on
// ordinary ones, and knows nothing of Kubernetes, charts or values files.
//
// Why it is ours. Templates come from people who may change a ConfigMap, and are executed
// in the process that writes to workloads. text/template cannot be held to any bound:
// it cannot be canceled, it counts nothing, and one line hangs it or ends the process.
// Nor does it tell what a template has read, which says whom a rendering serves. And
// linking text/template.Execute, which looks methods up by name, has Go's linker keep
// every exported method of the program: 12 MB of binary and 13 MiB of memory.
//
// How it works. text/template/parse makes the syntax trees; walking them is our own. A
// frame is one template at work; every action, iteration and function call of it is
// charged to a meter, which holds the Budget. A function is called only through a guard
// that measures its arguments first, and, for functions that multiply, its result before
// that exists. Each look into the watched value is noted where it happens, as a [Read].
//
// Where it differs from Helm's engine, on purpose:
//
//   - A missing key is an error wherever it is used. It is not one where people
//     ask whether it is there: if, with, range, and, or, not, default, empty,
//     coalesce, ternary, required, hasKey, get, dig, has, kindIs, eq and their
//     kin. A variable may hold a missing value until it is used.
//   - A bad regular expression, a value that toYaml and toJson cannot print, and
//     .Files.Get of a file that is not there are errors, and not silence.
//   - keys and values return sorted keys, and values in the order of their keys.
//   - Functions that read the clock, randomness, the network, the environment or
//     the cluster, or that handle key material, are refused by Compile.
//   - No function prints an address: printf takes neither %p nor %#v, and a pointer
//     is printed only by a text of its own, or as what it leads to.
//   - Only listed methods can be called: those of Files and of versions that semver
//     returns, unless they change these, and what the caller allows (Options.Methods).
//   - fromToml gives dates as text, since a date would bring the local time zone.
package template
