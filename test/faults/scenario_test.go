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

// scenario is a sequence of steps in a namespace.
type scenario struct {
	name string
	// kind is the kind of its workloads; empty means Deployment.
	kind string
	// given returns the objects that exist before the operator starts.
	given func(namespace string) []client.Object
	// values is the data of the ConfigMap of the installation's values.
	values map[string]string
	steps  []step
	// hurries starts the next step at once after the fault, before another operator replaces a crashed one. The final
	// state is the same, with fewer states between.
	hurries bool
	// races is true if a Deployment is created after its VectorSidecar. The states between depend on whether its
	// controller or the operator is first.
	races bool
	// injects enables admission injection.
	injects bool
	// meanwhile has concurrent changes of an application owner, made before the first write of a kind is sent.
	meanwhile map[string]action
	// extra returns the number of additional rollouts that a fault explains. Each scenario gives the reason.
	extra func(effect wire.Effect) int
}

// step is a change and its expected result.
type step struct {
	name string
	do   action
	ends []condition
}

// action makes a change in a namespace.
type action func(ctx context.Context, p *place) error

// condition describes what is missing in a namespace, or returns the empty string.
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

// has requires exactly these init containers and containers of a workload, in order.
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

// ahead requires that containers of a Deployment start before another one.
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

// allHave requires these containers of the given number of Deployments.
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

// hasTemplateText requires a string in the pod template of a Deployment.
func hasTemplateText(deployment, what string) condition {
	return func(s *seen) string {
		if d := s.workloads[deployment]; d == nil || !strings.Contains(text(workload.PodTemplate(d)), what) {
			return fmt.Sprintf("the pods of %s do not say %q", deployment, what)
		}
		return ""
	}
}

// lacksTemplateText requires that the pod template does not have the string.
func lacksTemplateText(deployment, what string) condition {
	return func(s *seen) string {
		if hasTemplateText(deployment, what)(s) == "" {
			return fmt.Sprintf("the pods of %s say %q", deployment, what)
		}
		return ""
	}
}

// isDeleted requires that a VectorSidecar does not exist.
func isDeleted(name string) condition {
	return func(s *seen) string {
		if s.sidecars[name] != nil {
			return name + " is there"
		}
		return ""
	}
}

// matched requires that a VectorSidecar has matched the given number of Deployments.
func matched(name string, n int32) condition {
	return func(s *seen) string {
		if vs := s.sidecars[name]; vs == nil || vs.Status.MatchedWorkloads != n {
			return fmt.Sprintf("%s does not match %d", name, n)
		}
		return ""
	}
}

// inEnvironment requires the environment of a VectorSidecar.
func inEnvironment(name, environment string) condition {
	return func(s *seen) string {
		if vs := s.sidecars[name]; vs == nil || vs.Status.Environment != environment {
			return fmt.Sprintf("%s is not of environment %s", name, environment)
		}
		return ""
	}
}

// bare requires that no companion ConfigMap exists.
func bare(s *seen) string {
	for i := range s.configMaps {
		if c := &s.configMaps[i]; c.Labels[meta.LabelSidecar] != "" {
			return "companion " + c.Name + " is there"
		}
	}
	return ""
}

// configured requires a companion ConfigMap that contains a string.
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
