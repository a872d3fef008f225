// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package gotemplate executes untrusted Go templates hermetically and within limits. Template files and Options go
// into [Compile], which parses and checks a set once. Data goes into [Set.Execute], which executes one template of
// the set and returns its text or an [Error]. The package implements the language of Helm's templates, byte for byte
// for ordinary templates, and does not depend on Kubernetes, charts or values files.
//
// The package does not use text/template to execute, for three reasons:
//
//   - Users who may change a ConfigMap write the templates, and the templates run in the process that writes to
//     workloads. text/template has no limits: it cannot be canceled, it does not count steps, and one line can hang it
//     or end the process.
//   - text/template does not report the values that a template has read. These values determine which workloads can
//     share a rendering.
//   - text/template.Execute looks up methods by name. If a program links it, Go's linker keeps every exported method of
//     the program, which costs 12 MB of binary and 13 MiB of memory.
//
// Package text/template/parse builds the syntax trees, and this package walks them. A frame is a template that is
// executing. It charges each action, iteration and function call to a meter, which enforces the Budget. Before each
// function call, a guard measures the arguments. If the result may be much larger than the arguments, its size is also
// computed before the call. Each read of a watched value is recorded in [Reads].
//
// Intended differences from Helm's engine:
//
//   - The use of a missing key is an error. A test for the key is allowed, for example with if, with, range, and, or,
//     not, default, empty, coalesce, ternary, required, hasKey, get, dig, has, kindIs and eq. A variable may have a
//     missing value until it is used.
//   - An invalid regular expression, a value that toYaml and toJson cannot print, and .Files.Get of a missing file are
//     errors. Helm's engine ignores them.
//   - keys returns sorted keys, and values returns the values in the order of their keys.
//   - Compile rejects functions that read the clock, randomness, the network, the environment or the cluster, or that
//     handle key material.
//   - No function prints an address: printf accepts neither %p nor %#v, and a pointer is printed only by its own
//     method or as its target.
//   - Only listed methods can be called: the methods of Files, the methods of the versions that semver returns, unless
//     they change them, and the methods in Options.Methods.
//   - fromToml returns dates as text, because a date would depend on the local time zone.
package gotemplate
