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

// environments is the ConfigMap with the installation's values in the operator namespace, which is the namespace of
// the run.
const environments = "environments"

// values returns the installation's values of a run with a log level.
func values(level string) map[string]string {
	return map[string]string{"development.yaml": "sidecar: {logLevel: " + level + "}"}
}

// revisionOf returns the revision of such values, with an operator change that rolls workloads; empty means none.
func revisionOf(level, roll string) string {
	return (&fleet.Content{Values: fleet.Files{Data: values(level)}, Roll: roll}).Revision()
}

// staged returns values with a single wave.
func staged() map[string]string {
	data := values("info")
	data[desired.RolloutKey] = "halt: {}"
	return data
}

// mayStore and whoStores let the operator store revisions in the namespace of the run, as in the operator namespace.
func mayStore(namespace string) client.Object {
	return &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "stores"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"apps"}, Resources: []string{"controllerrevisions"}, Verbs: []string{"get", "list", "create", "patch", "delete"},
	}}}
}

func newRevisionRoleBinding(namespace string) client.Object {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "stores"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "stores"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: harness.AccountNamespace, Name: harness.Account}},
	}
}

// revisions are the scenarios in which the installation publishes several revisions.
func revisions() []scenario {
	change := func(level string, ends ...condition) step {
		return step{"values: " + level, configMap(environments, func(c *corev1.ConfigMap) {
			c.Data["development.yaml"] = values(level)["development.yaml"]
		}), append(ends, hasTemplateText("cart", `"`+level+`"`), has("cart", "vector", "app"), hasRevision("logs", revisionOf(level, "")))}
	}
	undo := func(from string, ends ...condition) step {
		return step{"undo", configMap(environments, func(c *corev1.ConfigMap) {
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationUndoRollout, from+"/"+revisionOf("info", ""))
		}), append(ends, hasTemplateText("cart", `"info"`), hasRevision("logs", revisionOf("info", "")))}
	}
	return []scenario{{
		name: "revisions", values: staged(), given: initialObjects(plain, mayStore, newRevisionRoleBinding),
		steps: []step{inject(withLogs, "vector", "app"), change("warn"), undo(revisionOf("warn", "")), change("error"), deleted("app")},
	}, {
		name: "upgrade", values: staged(), given: initialObjects(plain, mayStore, newRevisionRoleBinding),
		steps: []step{
			inject(withLogs, "vector", "app"),
			{"upgrade", upgrade(""), []condition{lacksTemplateText("cart", ofNextRelease), stores("info", ofNextRelease)}},
			change("warn", hasTemplateText("cart", ofNextRelease)),
			deleted("app"),
		},
	}, {
		name: "upgrade that rolls and is undone", values: staged(), given: initialObjects(plain, mayStore, newRevisionRoleBinding),
		steps: []step{
			inject(withLogs, "vector", "app"),
			{"upgrade", upgrade("1"), []condition{hasTemplateText("cart", ofNextRelease), hasRevision("logs", revisionOf("info", "1"))}},
			undo(revisionOf("info", "1"), lacksTemplateText("cart", ofNextRelease)),
			deleted("app"),
		},
	}, {
		name: "spec that fails and is reverted", given: initialObjects(impatient),
		steps: []step{
			inject(reverting, "vector", "app"),
			updated("crash", func(vs *v1alpha1.VectorSidecar) {
				vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "warn", Image: "registry.example/vector:crashes"}
			}, hasTemplateText("cart", `"info"`), isReverted("logs")),
			updated("correct", func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "error"} }, hasTemplateText("cart", `"error"`)),
		},
	}}
}

// ofNextRelease is a setting that only the next release renders.
const ofNextRelease = "FallbackToLogsOnError"

// upgrade runs the operator of the next release. roll is as for harness.NextRelease.
func upgrade(roll string) action {
	return func(_ context.Context, p *place) error {
		chart, err := harness.NextRelease(roll)
		if err == nil {
			p.upgrade(chart)
		}
		return err
	}
}

// stores requires a string in the built-in templates that are stored with the revision of a log level.
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

// impatient is a Deployment with a pod and a short progress deadline.
func impatient(namespace string) client.Object {
	object := cart(namespace).WithReplicas(1).Build()
	object.Spec.ProgressDeadlineSeconds = ptr.To[int32](5)
	return object
}

// reverting is a VectorSidecar that reverts a failing spec.
func reverting(namespace string) client.Object {
	object := logs(namespace).Build()
	object.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "info"}
	object.Spec.Rollout.OnFailure = v1alpha1.OnFailureRevert
	return object
}

// isReverted requires that a VectorSidecar has reverted its own spec.
func isReverted(name string) condition {
	return func(s *seen) string {
		if vs := s.sidecars[name]; vs == nil || vs.Status.Reverted == nil {
			return name + " has not gone back"
		}
		return ""
	}
}

// hasRevision requires that a VectorSidecar has a revision of the installation's values.
func hasRevision(name, revision string) condition {
	return func(s *seen) string {
		if vs := s.sidecars[name]; vs == nil || vs.Status.Rollout == nil || vs.Status.Rollout.Revision != revision {
			return name + " has not revision " + revision
		}
		return ""
	}
}
