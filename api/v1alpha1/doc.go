// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the observability.kontroloop.ai/v1alpha1 API: what a user
// writes to have a Vector sidecar merged into workloads, and the status that the
// operator reports. It holds types and their defaults only; the behaviour is
// implemented elsewhere.
//
// +kubebuilder:object:generate=true
// +groupName=observability.kontroloop.ai
package v1alpha1
