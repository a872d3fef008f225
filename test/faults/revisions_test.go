// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// environments is the ConfigMap with the installation's values, in the operator's namespace: the one of
// the run.
const environments = "environments"

// values are those of the installation that a run is given, with a log level.
func values(level string) map[string]string {
	return map[string]string{"development.yaml": "sidecar: {logLevel: " + level + "}"}
}

// revisionOf is the revision of such values, with a change of the operator's own that is to roll, "" for none.
func revisionOf(level, roll string) string {
	return (&fleet.Content{Values: fleet.Files{Data: values(level)}, Roll: roll}).Revision()
}

// staged are values that go by waves: there is one alone.
func staged() map[string]string {
	data := values("info")
	data[desired.RolloutKey] = "halt: {}"
	return data
}

// mayStore and whoStores let the operator store revisions in the namespace of the run, as it may in its
// own.
func mayStore(namespace string) client.Object {
	return &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "stores"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"apps"}, Resources: []string{"controllerrevisions"}, Verbs: []string{"get", "list", "create", "patch", "delete"},
	}}}
}

func whoStores(namespace string) client.Object {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "stores"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "stores"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: harness.AccountNamespace, Name: harness.Account}},
	}
}

// revisions are the scenarios in which the installation gives out one revision after another.
func revisions() []scenario {
	change := func(level string, ends ...condition) step {
		return step{"values: " + level, configMap(environments, func(c *corev1.ConfigMap) {
			c.Data["development.yaml"] = values(level)["development.yaml"]
		}), append(ends, says("cart", `"`+level+`"`), has("cart", "vector", "app"), isAt("logs", revisionOf(level, "")))}
	}
	undo := func(from string, ends ...condition) step {
		return step{"undo", configMap(environments, func(c *corev1.ConfigMap) {
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationUndoRollout, from+"/"+revisionOf("info", ""))
		}), append(ends, says("cart", `"info"`), isAt("logs", revisionOf("info", "")))}
	}
	return []scenario{{
		name: "revisions", values: staged(), given: given(plain, mayStore, whoStores),
		steps: []step{inject(withLogs, "vector", "app"), change("warn"), undo(revisionOf("warn", "")), change("error"), deleted("app")},
	}, {
		name: "upgrade", values: staged(), given: given(plain, mayStore, whoStores),
		steps: []step{
			inject(withLogs, "vector", "app"),
			{"upgrade", upgrade(""), []condition{saysNot("cart", ofNextRelease), stores("info", ofNextRelease)}},
			change("warn", says("cart", ofNextRelease)),
			deleted("app"),
		},
	}, {
		name: "upgrade that rolls and is undone", values: staged(), given: given(plain, mayStore, whoStores),
		steps: []step{
			inject(withLogs, "vector", "app"),
			{"upgrade", upgrade("1"), []condition{says("cart", ofNextRelease), isAt("logs", revisionOf("info", "1"))}},
			undo(revisionOf("info", "1"), saysNot("cart", ofNextRelease)),
			deleted("app"),
		},
	}, {
		name: "spec that fails and is reverted", given: given(impatient),
		steps: []step{
			inject(reverting, "vector", "app"),
			updated("crash", func(vs *v1alpha1.VectorSidecar) {
				vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "warn", Image: "registry.example/vector:crashes"}
			}, says("cart", `"info"`), isReverted("logs")),
			updated("correct", func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "error"} }, says("cart", `"error"`)),
		},
	}}
}

// ofNextRelease is what the next release renders, and this one does not.
const ofNextRelease = "FallbackToLogsOnError"

// upgrade has the next release's operator run. roll is as of harness.NextRelease.
func upgrade(roll string) action {
	return func(_ context.Context, p *place) error {
		chart, err := harness.NextRelease(roll)
		if err == nil {
			p.upgrade(chart)
		}
		return err
	}
}

// stores wants a text in the operator's own templates that are stored with the revision of a log level.
func stores(level, text string) condition {
	return func(s *seen) string {
		content, err := fleet.ReadContent(environments, revisionOf(level, ""), func(name string) (*appsv1.ControllerRevision, error) {
			at := slices.IndexFunc(s.revisions, func(one appsv1.ControllerRevision) bool { return one.Name == name })
			if at < 0 {
				return nil, nil
			}
			return &s.revisions[at], nil
		})
		if err != nil {
			return err.Error()
		}
		for _, file := range content.BuiltIn.Text() {
			if strings.Contains(file, text) {
				return ""
			}
		}
		return "no template that is stored has " + text
	}
}

// impatient has a pod to wait for, and not for long.
func impatient(namespace string) client.Object {
	object := cart(namespace).WithReplicas(1).Build()
	object.Spec.ProgressDeadlineSeconds = ptr.To[int32](5)
	return object
}

// reverting goes back from a spec that fails.
func reverting(namespace string) client.Object {
	object := logs(namespace).Build()
	object.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "info"}
	object.Spec.Rollout.OnFailure = v1alpha1.OnFailureRevert
	return object
}

// isReverted wants a VectorSidecar to have gone back from its own spec.
func isReverted(name string) condition {
	return func(s *seen) string {
		if vs := s.sidecars[name]; vs == nil || vs.Status.Reverted == nil {
			return name + " has not gone back"
		}
		return ""
	}
}

// isAt wants a VectorSidecar to have a revision of the installation's values.
func isAt(name, revision string) condition {
	return func(s *seen) string {
		if vs := s.sidecars[name]; vs == nil || vs.Status.Rollout == nil || vs.Status.Rollout.Revision != revision {
			return name + " has not revision " + revision
		}
		return ""
	}
}
