// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/removal"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// cart is the Deployment of most scenarios. It has no pods, so a rollout finishes at once.
func cart(namespace string) *objects.Deployment {
	return objects.NewDeployment("cart", namespace).WithReplicas(0).Labeled("logs", "v")
}

// logs is the VectorSidecar of most scenarios.
func logs(namespace string) *objects.VectorSidecar {
	return objects.NewVectorSidecar("logs", namespace).Selecting("logs", "v").WithMaxConcurrent("100%")
}

// mounting adds logs of all containers, from a volume that is mounted into them.
func mounting(vs *objects.VectorSidecar, path string) *objects.VectorSidecar {
	return vs.Sidecar(func(s *v1alpha1.SidecarSpec) {
		s.Logs = &v1alpha1.LogsSpec{Path: path, Containers: []string{"*"}}
	})
}

// initialObjects returns the objects that exist at the start.
func initialObjects(build ...func(namespace string) client.Object) func(namespace string) []client.Object {
	return func(namespace string) (all []client.Object) {
		for _, one := range build {
			all = append(all, one(namespace))
		}
		return all
	}
}

func plain(namespace string) client.Object { return cart(namespace).Build() }

func cartWithTwoContainers(namespace string) client.Object {
	return cart(namespace).WithContainer("second").Build()
}

// unlabeled is a Deployment without the label that selects it.
func unlabeled(namespace string) client.Object {
	return objects.NewDeployment("cart", namespace).WithReplicas(0).WithContainer("second").Build()
}

func migrating(namespace string) client.Object {
	return cart(namespace).WithContainer("second").WithInitContainer("migrate").Build()
}

func withLogs(namespace string) client.Object { return logs(namespace).Build() }

func withMounts(namespace string) client.Object {
	return mounting(logs(namespace), "/var/log/app").Build()
}

// Steps of many scenarios.

func inject(vs func(string) client.Object, containers ...string) step {
	return step{"inject", add(vs), []condition{has("cart", containers...), matched("logs", 1)}}
}

func labelOff(containers ...string) step {
	return step{"label off", label("cart", "logs", ""), []condition{has("cart", containers...), matched("logs", 0)}}
}

func deleted(containers ...string) step {
	return step{"delete", remove(sidecarNamed("logs")), []condition{has("cart", containers...), isDeleted("logs")}}
}

func updated(name string, change func(*v1alpha1.VectorSidecar), says ...condition) step {
	return step{name, sidecar("logs", change), says}
}

// revertAtOnce returns a scenario in which the change with the fault is reverted at once.
func revertAtOnce(s scenario) scenario {
	s.name, s.hurries = s.name+", taken back at once", true
	return s
}

// scenarios are all scenarios that are tested with faults.
func scenarios() []scenario {
	var every []scenario
	every = append(every, injections()...)
	every = append(every, configurations()...)
	every = append(every, removals()...)
	every = append(every, owners()...)
	every = append(every, ofKinds()...)
	every = append(every, revisions()...)
	every = append(every, atAdmission()...)
	return every
}

// injections are the scenarios that inject a sidecar and change it.
func injections() []scenario {
	return []scenario{
		{name: "inject", given: initialObjects(plain), steps: []step{inject(withLogs, "vector", "app")}},
		{name: "inject before init containers", given: initialObjects(migrating), steps: []step{inject(withLogs, "vector", "migrate", "app", "second")}},
		{name: "inject with mounts", given: initialObjects(cartWithTwoContainers), steps: []step{inject(withMounts, "vector", "app", "second")}},
		{name: "inject with mounts before init containers", given: initialObjects(migrating), steps: []step{
			inject(withMounts, "vector", "migrate", "app", "second"), labelOff("migrate", "app", "second"),
		}},
		{name: "two sidecars", given: initialObjects(migrating), steps: []step{
			inject(withLogs, "vector", "migrate", "app", "second"),
			{"inject the second", add(second), []condition{has("cart", "vector", "second-vector", "migrate", "app", "second")}},
			{"delete the first", remove(sidecarNamed("logs")), []condition{has("cart", "second-vector", "migrate", "app", "second"), isDeleted("logs")}},
			{"delete the second", remove(sidecarNamed("more")), []condition{has("cart", "migrate", "app", "second"), isDeleted("more")}},
		}},
		{name: "two sidecars, mounts removed first", given: initialObjects(migrating), steps: []step{
			inject(withMounts, "vector", "migrate", "app", "second"),
			{"inject the second", add(second), []condition{has("cart", "vector", "second-vector", "migrate", "app", "second")}},
			{"delete the first", remove(sidecarNamed("logs")), []condition{has("cart", "second-vector", "migrate", "app", "second"), isDeleted("logs")}},
			{"inject a third", add(withMounts), []condition{ahead("cart", "migrate", "vector", "second-vector"), matched("logs", 1)}},
		}},
		{name: "other log folder with mounts", given: initialObjects(migrating), steps: []step{
			inject(withMounts, "vector", "migrate", "app", "second"),
			updated("move", func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.Logs.Path = "/srv/logs" }, hasTemplateText("cart", "/srv/logs"), lacksTemplateText("cart", "/var/log/app")),
		}},
		{name: "mounts no more", given: initialObjects(cartWithTwoContainers), steps: []step{
			inject(func(ns string) client.Object {
				return mounting(logs(ns), "/var/log/app").WithEnv("COLOR", "blue").Build()
			}, "vector", "app", "second"),
			updated("without mounts", func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.Logs = nil }, lacksTemplateText("cart", "/var/log/app"), hasTemplateText("cart", "COLOR")),
			updated("without the variable", func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.Env = nil }, lacksTemplateText("cart", "COLOR")),
		}},
		{name: "other image", given: initialObjects(migrating), steps: []step{
			inject(withLogs, "vector", "migrate", "app", "second"),
			updated("change", func(vs *v1alpha1.VectorSidecar) {
				vs.Spec.Sidecar = &v1alpha1.SidecarSpec{Image: "docker.io/timberio/vector:0.56.0-alpine", LogLevel: "trace"}
			}, hasTemplateText("cart", "0.56.0-alpine")),
		}},
		{name: "rename the container", given: initialObjects(migrating), steps: []step{
			inject(withLogs, "vector", "migrate", "app", "second"),
			updated("rename", func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{Name: "shipper"} },
				has("cart", "shipper", "migrate", "app", "second")),
		}},
		{name: "other environment", given: initialObjects(plain), steps: []step{
			inject(withLogs, "vector", "app"),
			updated("change", func(vs *v1alpha1.VectorSidecar) { vs.Spec.Environment = "production" }, has("cart", "vector", "app"), inEnvironment("logs", "production")),
		}},
		{name: "other template set", given: initialObjects(plain, templateSet("info")), steps: []step{
			inject(func(ns string) client.Object { return logs(ns).FromSet("edge").Build() }, "vector", "app"),
			{"change", configMap("templates-edge", func(c *corev1.ConfigMap) { c.Data = templateData("error") }), []condition{hasTemplateText("cart", "error")}},
		}},
		fanOut(50),
	}
}

func second(namespace string) client.Object {
	return objects.NewVectorSidecar("more", namespace).Selecting("logs", "v").WithMaxConcurrent("100%").Named("second-vector").Sidecar(func(s *v1alpha1.SidecarSpec) {
		metrics, health := int32(9599), int32(8687)
		s.Metrics, s.Health = &v1alpha1.MetricsSpec{Port: &metrics}, &v1alpha1.HealthSpec{Port: &health}
	}).Build()
}

func templateData(level string) map[string]string {
	return map[string]string{"values__development.yaml": "sidecar:\n  logLevel: " + level + "\n"}
}

func templateSet(level string) func(string) client.Object {
	return func(namespace string) client.Object {
		object := objects.NewConfigMap("templates-edge", namespace, "", "")
		object.Labels, object.Data = map[string]string{meta.LabelTemplateSet: "edge"}, templateData(level)
		return object
	}
}

func fanOut(n int) scenario {
	return scenario{
		name: fmt.Sprintf("fan-out to %d", n),
		given: func(namespace string) (all []client.Object) {
			for i := range n {
				all = append(all, objects.NewDeployment(fmt.Sprintf("app-%02d", i), namespace).WithReplicas(0).Labeled("logs", "v").Build())
			}
			return all
		},
		steps: []step{{"inject", add(withLogs), []condition{allHave(n, "vector", "app"), matched("logs", int32(n))}}},
	}
}

// configurations are the scenarios that change Vector's configuration.
func configurations() []scenario {
	referring := func(ns string) client.Object { return logs(ns).WithConfigMap("pipeline", "").Build() }
	pipeline := func(ns string) client.Object {
		return objects.NewConfigMap("pipeline", ns, "vector.yaml", objects.VectorConfig("one"))
	}
	other := func(message string) action {
		return configMap("pipeline", func(c *corev1.ConfigMap) { c.Data = map[string]string{"vector.yaml": objects.VectorConfig(message)} })
	}
	live := func(vs *objects.VectorSidecar) client.Object {
		return vs.Sidecar(func(s *v1alpha1.SidecarSpec) { s.Reload = v1alpha1.ReloadLive }).Build()
	}
	inline := func(message string) func(vs *v1alpha1.VectorSidecar) {
		return func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.Config.Inline = objects.VectorConfig(message) }
	}
	return []scenario{
		{name: "inline configuration", given: initialObjects(plain), steps: []step{
			inject(func(ns string) client.Object { return logs(ns).WithInlineConfig(objects.VectorConfig("one")).Build() }, "vector", "app"),
			updated("change", inline("other"), configured("other")),
		}},
		{name: "inline configuration, live", given: initialObjects(plain), steps: []step{
			inject(func(ns string) client.Object { return live(logs(ns).WithInlineConfig(objects.VectorConfig("one"))) }, "vector", "app"),
			updated("change", inline("other"), configured("other")),
			deleted("app"),
		}},
		{name: "referenced ConfigMap", given: initialObjects(plain, pipeline), steps: []step{
			inject(referring, "vector", "app"),
			{"change", other("other"), []condition{has("cart", "vector", "app")}},
			deleted("app"),
		}},
		{name: "referenced ConfigMap, live", given: initialObjects(plain, pipeline), steps: []step{
			inject(func(ns string) client.Object { return live(logs(ns).WithConfigMap("pipeline", "")) }, "vector", "app"),
			{"change", other("other"), []condition{has("cart", "vector", "app")}},
		}},
		{name: "referenced ConfigMap that turns bad and good", given: initialObjects(plain, pipeline), steps: []step{
			inject(referring, "vector", "app"),
			{"turn bad", configMap("pipeline", func(c *corev1.ConfigMap) { c.Data = map[string]string{"vector.yaml": "sources: nonsense"} }), []condition{has("cart", "vector", "app")}},
			{"turn good", other("third"), []condition{has("cart", "vector", "app")}},
		}},
	}
}

// removals are the scenarios that remove the sidecar or orphan it.
func removals() []scenario {
	orphan := func(ns string) client.Object {
		vs := logs(ns).Build()
		vs.Spec.DeletionPolicy = v1alpha1.DeletionOrphan
		return vs
	}
	disable := func(enabled bool) func(*v1alpha1.VectorSidecar) {
		return func(vs *v1alpha1.VectorSidecar) { vs.Spec.Enabled = &enabled }
	}
	withMountsAndMigration := func(after ...step) []step {
		return append([]step{inject(withMounts, "vector", "migrate", "app", "second")}, after...)
	}
	optOut := step{"opt out", annotate("cart", meta.AnnotationInject, "false"), []condition{has("cart", "migrate", "app", "second"), matched("logs", 1)}}
	return []scenario{
		{name: "label off and on", given: initialObjects(migrating), steps: []step{
			inject(withLogs, "vector", "migrate", "app", "second"), labelOff("migrate", "app", "second"),
			{"label on", label("cart", "logs", "v"), []condition{has("cart", "vector", "migrate", "app", "second"), matched("logs", 1)}},
		}},
		{name: "label off and on with mounts", given: initialObjects(migrating), steps: withMountsAndMigration(
			labelOff("migrate", "app", "second"),
			step{"label on", label("cart", "logs", "v"), []condition{has("cart", "vector", "migrate", "app", "second"), matched("logs", 1)}},
		)},
		revertAtOnce(scenario{name: "label off with mounts", given: initialObjects(migrating), steps: withMountsAndMigration(labelOff("migrate", "app", "second"))}),
		revertAtOnce(scenario{name: "label off", given: initialObjects(migrating), steps: []step{inject(withLogs, "vector", "migrate", "app", "second"), labelOff("migrate", "app", "second")}}),
		{name: "opt out and back", given: initialObjects(migrating), steps: withMountsAndMigration(optOut,
			step{"opt in", annotate("cart", meta.AnnotationInject, ""), []condition{has("cart", "vector", "migrate", "app", "second")}},
		)},
		revertAtOnce(scenario{name: "opt out", given: initialObjects(migrating), steps: withMountsAndMigration(optOut)}),
		{name: "other selector", given: initialObjects(migrating, func(ns string) client.Object {
			return objects.NewDeployment("shop", ns).WithReplicas(0).Labeled("ship", "yes").Build()
		}), steps: []step{
			inject(withLogs, "vector", "migrate", "app", "second"),
			updated("select another", func(vs *v1alpha1.VectorSidecar) { vs.Spec.Selector.MatchLabels = map[string]string{"ship": "yes"} },
				has("cart", "migrate", "app", "second"), has("shop", "vector", "app")),
		}},
		{name: "disable and enable", given: initialObjects(migrating), steps: withMountsAndMigration(
			updated("disable", disable(false), has("cart", "migrate", "app", "second")),
			updated("enable", disable(true), has("cart", "vector", "migrate", "app", "second")),
		)},
		{name: "delete", given: initialObjects(migrating), steps: []step{inject(withLogs, "vector", "migrate", "app", "second"), deleted("migrate", "app", "second")}},
		{name: "delete with mounts", given: initialObjects(migrating), steps: withMountsAndMigration(deleted("migrate", "app", "second"))},
		revertAtOnce(scenario{name: "delete with mounts", given: initialObjects(migrating), steps: withMountsAndMigration(deleted("migrate", "app", "second"))}),
		{name: "delete and create anew", given: initialObjects(migrating), steps: []step{
			inject(withLogs, "vector", "migrate", "app", "second"), deleted("migrate", "app", "second"), inject(withMounts, "vector", "migrate", "app", "second"),
		}},
		{name: "leave", given: initialObjects(plain), steps: []step{inject(orphan, "vector", "app"), deleted("vector", "app")}},
		{name: "leave and take over", given: initialObjects(plain), steps: []step{
			inject(orphan, "vector", "app"), deleted("vector", "app"), inject(withLogs, "vector", "app"), deleted("app"),
		}},
		{name: "uninstall", given: initialObjects(migrating), steps: withMountsAndMigration(step{"uninstall", uninstalled, []condition{has("cart", "migrate", "app", "second"), isDeleted("logs")}})},
	}
}

// uninstalled runs the uninstall Job of the chart.
func uninstalled(ctx context.Context, p *place) error {
	hook := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "uninstall"}}
	hook.Spec.Suspend = ptr.To(true) // It runs here, and in no pod.
	hook.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{
		{Name: "uninstall", Image: "registry.example/operator:1", Args: []string{"uninstall"}},
	}}
	if err := client.IgnoreAlreadyExists(world.Client.Create(ctx, hook, client.FieldOwner("helm"))); err != nil {
		return err
	}
	return p.job(ctx, func(ctx context.Context, config *rest.Config) error {
		return removal.BeforeUninstall(ctx, config, removal.Options{
			Job: hook.Name, Policy: removal.Eject, Timeout: time.Minute,
			Operator: removal.Operator{Namespace: p.namespace, WatchNamespaces: []string{p.namespace}},
		}, io.Discard)
	})
}

// manifest has the settings of an application owner's manifest.
type manifest struct {
	version int
	// unlabeled leaves out the label that selects the workload.
	unlabeled bool
	// more adds an annotation and a volume.
	more bool
	// folder always adds a volume, because kubectl apply removes all volumes, including injected ones, if a manifest
	// had some and has none any more.
	folder bool
}

func (m manifest) text() string {
	labels, annotations := "{logs: v}", "{}"
	if m.unlabeled {
		labels = "{}"
	}
	var folders []string
	if m.folder {
		folders = append(folders, "{name: folder, emptyDir: {}}")
	}
	if m.more {
		annotations, folders = "{team: shop}", append(folders, "{name: cache, emptyDir: {}}")
	}
	volumes := "[" + strings.Join(folders, ", ") + "]"
	text := fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: cart, labels: %s}, spec: {replicas: 0, selector: {matchLabels: {app: cart}}, template: {
  metadata: {labels: {app: cart}, annotations: %s}, spec: {
    initContainers: [{name: migrate, image: "registry.example/migrate:%d"}],
    containers: [{name: app, image: "registry.example/app:%d"}], volumes: %s}}}}`, labels, annotations, m.version, m.version, volumes)
	// Empty fields are not in the manifest.
	return strings.NewReplacer(", annotations: {}", "", ", volumes: []", "").Replace(text)
}

// owners are the scenarios in which an application owner changes the workload.
func owners() []scenario {
	var every []scenario
	for _, tool := range []struct {
		name  string
		apply func(manifest string) action
	}{{"server-side", applyOnServer}, {"client-side", applyOnClient}} {
		every = append(every, deploying(tool.name, func(m manifest) action { return tool.apply(m.text()) })...)
	}
	late := corev1.Container{Name: "late", Image: "registry.example/late:1"}
	return append(every,
		scenario{name: "owner adds an init container", given: initialObjects(plain), steps: []step{
			inject(withMounts, "vector", "app"),
			{"edit", edit("cart", func(d *appsv1.Deployment) { pod(d).InitContainers = append(pod(d).InitContainers, late) }), []condition{hasTemplateText("cart", "late")}},
			deleted("late", "app"),
		}},
		scenario{name: "owner undoes the rollout", given: initialObjects(migrating), steps: []step{
			inject(withLogs, "vector", "migrate", "app", "second"),
			{"undo", undo("cart"), []condition{has("cart", "vector", "migrate", "app", "second")}},
			deleted("migrate", "app", "second"),
		}},
		scenario{name: "paused Deployment", given: initialObjects(migrating), steps: []step{
			{"pause", edit("cart", func(d *appsv1.Deployment) { d.Spec.Paused = true }), nil},
			inject(withMounts, "migrate", "app", "second"),
			{"go on", edit("cart", func(d *appsv1.Deployment) { d.Spec.Paused = false }), []condition{has("cart", "vector", "migrate", "app", "second")}},
		}},
		scenario{name: "new Deployment", races: true, given: initialObjects(withMounts), steps: []step{
			{"deploy", applyOnClient(manifest{version: 1}.text()), []condition{has("cart", "vector", "migrate", "app"), matched("logs", 1)}},
		}},
		scenario{name: "Deployment of the same name", given: initialObjects(migrating), steps: []step{
			inject(withMounts, "vector", "migrate", "app", "second"),
			{"delete", remove(deploymentNamed("cart")), []condition{matched("logs", 0), bare}},
			{"create", add(unlabeled), []condition{has("cart", "app", "second"), matched("logs", 0)}},
			{"label on", label("cart", "logs", "v"), []condition{has("cart", "vector", "app", "second"), matched("logs", 1)}},
		}},
	)
}

// deploying are the scenarios that may depend on the deployment tool.
func deploying(tool string, deploy func(manifest) action) []scenario {
	begin := step{"deploy", deploy(manifest{version: 1}), []condition{has("cart", "migrate", "app")}}
	meanwhile := func(kind string) map[string]action {
		return map[string]action{kind: deploy(manifest{version: 2})}
	}
	injected := []condition{has("cart", "vector", "migrate", "app"), hasTemplateText("cart", "app:2")}
	return []scenario{
		{
			name: "owner deploys during the write, " + tool, meanwhile: meanwhile("apply deployments"),
			steps: []step{begin, {"inject", add(withLogs), injected}},
		},
		{
			name: "owner deploys during the write of mounts, " + tool, meanwhile: meanwhile("strategic merge patch deployments"),
			steps: []step{begin, {"inject", add(withMounts), injected}},
		},
		{
			name: "owner adds and drops beside mounts, " + tool,
			steps: []step{
				begin,
				{"inject", add(withMounts), []condition{has("cart", "vector", "migrate", "app")}},
				{"add", deploy(manifest{version: 1, more: true}), []condition{hasTemplateText("cart", "team"), hasTemplateText("cart", "cache")}},
				{"label off", deploy(manifest{version: 1, more: true, unlabeled: true}), []condition{has("cart", "migrate", "app"), matched("logs", 0)}},
				{"drop", deploy(manifest{version: 1, unlabeled: true}), []condition{lacksTemplateText("cart", "team"), lacksTemplateText("cart", "cache")}},
				{"add again", deploy(manifest{version: 1, more: true, unlabeled: true}), []condition{hasTemplateText("cart", "team"), hasTemplateText("cart", "cache")}},
			},
		},
	}
}
