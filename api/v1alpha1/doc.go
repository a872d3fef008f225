// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the observability.kontroloop.ai/v1alpha1 API: the objects that request a
// Vector sidecar in workloads, and the status that the operator reports. It holds only types and
// their defaults. The behavior is implemented in other packages.
//
// +kubebuilder:object:generate=true
// +groupName=observability.kontroloop.ai
package v1alpha1
