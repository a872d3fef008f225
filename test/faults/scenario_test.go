// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/faults/wire"
)

// scenario is a story of a namespace, told in steps.
type scenario struct {
	name string
	// kind is that of its workloads, "" for Deployments.
	kind string
	// given is there before the operator runs.
	given func(namespace string) []client.Object
	// values is the data of the ConfigMap of the installation's values.
	values map[string]string
	steps  []step
	// hurries has the owner not wait for the step in which the fault strikes: the
	// next one follows at once, before an operator takes the place of one that has
	// crashed. Where the run ends is the same; what lies between is less.
	hurries bool
	// races has a Deployment that is new while its VectorSidecar is there: whether its
	// controller or the operator is first makes a difference to what lies between.
	races bool
	// injects has the API server inject by what the operator has written.
	injects bool
	// meanwhile is done before the first write of a kind goes on its way, by an
	// owner that knows nothing of it.
	meanwhile map[string]action
	// extra are the rollouts that a fault explains: none, unless it says why.
	extra func(effect wire.Effect) int
}

// step is what an owner does, and what is to come of it.
type step struct {
	name string
	do   action
	ends []condition
}

// action is something that an owner does in a namespace.
type action func(ctx context.Context, p *place) error

// condition says what a namespace lacks, "" if nothing.
type condition func(s *seen) string

func pod(d *appsv1.Deployment) *corev1.PodSpec { return &d.Spec.Template.Spec }

func containers(object workload.Object) (names []string) {
	template := workload.PodTemplate(object)
	for _, c := range template.Spec.InitContainers {
		names = append(names, c.Name)
	}
	for _, c := range template.Spec.Containers {
		names = append(names, c.Name)
	}
	return names
}

// has wants a workload to have just these init containers and containers, in order.
func has(deployment string, names ...string) condition {
	return func(s *seen) string {
		d := s.workloads[deployment]
		if d == nil {
			return deployment + " is gone"
		}
		if is := containers(d); !slices.Equal(is, names) {
			return fmt.Sprintf("%s has %v and not %v", deployment, is, names)
		}
		return ""
	}
}

// ahead wants containers of a Deployment to start before another one.
func ahead(deployment, of string, names ...string) condition {
	return func(s *seen) string {
		if s.workloads[deployment] == nil {
			return deployment + " is gone"
		}
		is := containers(s.workloads[deployment])
		for _, name := range names {
			if at := slices.Index(is, name); at < 0 || at > slices.Index(is, of) {
				return fmt.Sprintf("%s has %v, where %s is not ahead of %s", deployment, is, name, of)
			}
		}
		return ""
	}
}

// allHave wants it of some number of Deployments.
func allHave(n int, names ...string) condition {
	return func(s *seen) string {
		if len(s.workloads) != n {
			return fmt.Sprintf("there are %d Deployments and not %d", len(s.workloads), n)
		}
		for name := range s.workloads {
			if lacks := has(name, names...)(s); lacks != "" {
				return lacks
			}
		}
		return ""
	}
}

// says wants a text in the pod template of a Deployment.
func says(deployment, what string) condition {
	return func(s *seen) string {
		if d := s.workloads[deployment]; d == nil || !strings.Contains(text(workload.PodTemplate(d)), what) {
			return fmt.Sprintf("the pods of %s do not say %q", deployment, what)
		}
		return ""
	}
}

// saysNot wants it not to be there.
func saysNot(deployment, what string) condition {
	return func(s *seen) string {
		if says(deployment, what)(s) == "" {
			return fmt.Sprintf("the pods of %s say %q", deployment, what)
		}
		return ""
	}
}

// gone wants a VectorSidecar not to be there.
func gone(name string) condition {
	return func(s *seen) string {
		if s.sidecars[name] != nil {
			return name + " is there"
		}
		return ""
	}
}

// matched wants a VectorSidecar to have matched some Deployments.
func matched(name string, n int32) condition {
	return func(s *seen) string {
		if vs := s.sidecars[name]; vs == nil || vs.Status.MatchedWorkloads != n {
			return fmt.Sprintf("%s does not match %d", name, n)
		}
		return ""
	}
}

// inEnvironment wants a VectorSidecar to be of an environment.
func inEnvironment(name, environment string) condition {
	return func(s *seen) string {
		if vs := s.sidecars[name]; vs == nil || vs.Status.Environment != environment {
			return fmt.Sprintf("%s is not of environment %s", name, environment)
		}
		return ""
	}
}

// bare wants no companion.
func bare(s *seen) string {
	for i := range s.configMaps {
		if c := &s.configMaps[i]; c.Labels[meta.LabelSidecar] != "" {
			return "companion " + c.Name + " is there"
		}
	}
	return ""
}

// configured wants a companion that says something.
func configured(what string) condition {
	return func(s *seen) string {
		for i := range s.configMaps {
			c := &s.configMaps[i]
			if len(c.Labels) > 0 && strings.Contains(text(c.Data), what) {
				return ""
			}
		}
		return fmt.Sprintf("no companion says %q", what)
	}
}
