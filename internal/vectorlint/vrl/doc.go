// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package vrl reads programs in the Vector Remap Language, and finds why Vector would refuse
// one: its syntax, functions, arguments and variables, errors that are not handled and values of
// the wrong kind. It knows what functions there are in each release of Vector, and runs no
// program. What it cannot decide for certain it lets pass.
package vrl
