// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package vrl checks programs in the Vector Remap Language (VRL). It takes a program, a release of Vector and
// the limits of the caller. It returns the certain faults for which Vector rejects the program: syntax,
// functions, arguments, variables, unhandled errors and types. It does not run programs; `make vrl-functions`
// generates the table of functions from the sources of Vector and VRL.
package vrl
