// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/freeport"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// before is the folder in bin with the program, chart and values of the previous release.
const before = "before"

// kind is a kind of sidecar that the upgrade is tested with.
type kind struct {
	// of are its VectorSidecars, each of which selects by a label with its name.
	of []*v1alpha1.VectorSidecar
	// rolls is the line of CHANGELOG.md about the rollout of this kind, "" if the upgrade does not roll it.
	rolls string
	// limits are the limits and requests of each container of its workloads.
	limits corev1.ResourceList
}

// kinds returns the kinds of sidecars that are rendered differently.
func kinds() map[string]kind {
	sidecar := func(name string, change func(*example.VectorSidecar)) *v1alpha1.VectorSidecar {
		builder := example.NewVectorSidecar(name, "shop").Selecting(name, "vector").WithMaxConcurrent("100%")
		change(builder)
		return builder.Build()
	}
	plain := func(*example.VectorSidecar) {}
	return map[string]kind{
		"default": {of: []*v1alpha1.VectorSidecar{sidecar("logs", plain)}},
		"mounted": {of: []*v1alpha1.VectorSidecar{sidecar("files", func(b *example.VectorSidecar) {
			b.WithLogs("/var/log/app").Sidecar(func(s *v1alpha1.SidecarSpec) { s.Logs.Containers = []string{"*"} })
		})}},
		"referenced": {of: []*v1alpha1.VectorSidecar{
			sidecar("own", func(b *example.VectorSidecar) { b.WithConfigMap("own", "vector.yaml") }),
		}},
		"reloading": {of: []*v1alpha1.VectorSidecar{sidecar("live", func(b *example.VectorSidecar) {
			b.Sidecar(func(s *v1alpha1.SidecarSpec) { s.Reload = v1alpha1.ReloadLive })
		})}},
		"guaranteed": {
			of:     []*v1alpha1.VectorSidecar{sidecar("whole", func(b *example.VectorSidecar) { b.InEnvironment("production") })},
			limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
		},
		"two": {of: []*v1alpha1.VectorSidecar{sidecar("first", plain), sidecar("second", func(b *example.VectorSidecar) {
			b.Named("audit").Sidecar(elsewhere)
		})}},
	}
}

// elsewhere gives a second sidecar other ports than the first.
func elsewhere(s *v1alpha1.SidecarSpec) {
	s.Metrics, s.Health = &v1alpha1.MetricsSpec{Port: ptr.To[int32](9599)}, &v1alpha1.HealthSpec{Port: ptr.To[int32](8687)}
}

// upgrade is an upgrade in progress, with workloads of all kinds.
type upgrade struct {
	*installation
	kinds     map[string]kind
	workloads []*carrier
}

// carrier is a workload with the expected state of its pods.
type carrier struct {
	*appsv1.Deployment
	kind      string
	template  string
	revisions int
	// written is the record of the operator's writes.
	written string
}

// inject creates a workload of each kind and waits for its sidecars, and until the same VectorSidecars have
// reconciled all others.
func (u *upgrade) inject(t *testing.T, phase string) {
	t.Helper()
	for name, kind := range u.kinds {
		builder := example.NewDeployment(name+"-"+phase, "shop").WithReplicas(1).WithInitContainer("migrate")
		for _, sidecar := range kind.of {
			builder.Labeled(sidecar.Name, "vector")
		}
		builder.Pod(func(pod *corev1.PodSpec) {
			pod.InitContainers[0].Resources.Limits, pod.Containers[0].Resources.Limits = kind.limits, kind.limits
		})
		one := &carrier{Deployment: builder.Build(), kind: name}
		world.Create(t, one.Deployment)
		harness.Until(t, world, one.Deployment, "its sidecars", func(d *appsv1.Deployment) bool {
			return len(d.Spec.Template.Spec.InitContainers) == 1+len(kind.of) && d.Status.ObservedGeneration == d.Generation
		})
		if len(kind.limits) > 0 && phase == "now" {
			sidecar := one.Spec.Template.Spec.InitContainers[0]
			require.Equal(t, sidecar.Resources.Limits, sidecar.Resources.Requests, "what is new stays Guaranteed")
		}
		u.workloads = append(u.workloads, one)
	}
	for _, kind := range u.kinds {
		for _, sidecar := range kind.of {
			harness.Until(t, world, sidecar, "all decisions in the status", func(vs *v1alpha1.VectorSidecar) bool {
				return int(vs.Status.MatchedDeployments) == len(u.workloads)/len(u.kinds) && int(vs.Status.InjectedDeployments) == len(u.workloads)/len(u.kinds)
			})
		}
	}
}

// remember records the current pod templates and writes of the workloads.
func (u *upgrade) remember(t *testing.T) {
	t.Helper()
	for _, one := range u.workloads {
		world.Get(t, one.Deployment)
		one.template, one.revisions, one.written = templateOf(t, one.Deployment), revisions(t, one.Deployment), writtenTo(t, one.Deployment)
	}
}

// requireNoRollout requires no new pods and no writes, except for workloads that the release notes name.
func (u *upgrade) requireNoRollout(t *testing.T, why string, isSaid func(*carrier) bool) {
	t.Helper()
	for _, one := range u.workloads {
		if one.template == "" {
			continue // It is new.
		}
		world.Get(t, one.Deployment)
		if isSaid(one) {
			require.NotEqual(t, one.template, templateOf(t, one.Deployment), "%s: %s is said to roll", why, one.Name)
			continue
		}
		require.Equal(t, one.template, templateOf(t, one.Deployment), "%s: %s", why, one.Name)
		require.Equal(t, one.revisions, revisions(t, one.Deployment), "%s: %s", why, one.Name)
		require.Equal(t, one.written, writtenTo(t, one.Deployment), "%s: %s", why, one.Name)
	}
}

// rolls reports whether the upgrade rolls a workload.
func (u *upgrade) rolls(one *carrier) bool { return u.kinds[one.kind].rolls != "" }

func templateOf(t *testing.T, deployment *appsv1.Deployment) string {
	t.Helper()
	text, err := json.Marshal(deployment.Spec.Template)
	require.NoError(t, err)
	return string(text)
}

// writtenTo returns the writes of the operator's field managers to a workload, with times.
func writtenTo(t *testing.T, deployment *appsv1.Deployment) string {
	t.Helper()
	annotations := maps.Clone(deployment.Annotations)
	maps.DeleteFunc(annotations, func(key, _ string) bool { return !meta.IsMark(key) })
	entries := slices.DeleteFunc(slices.Clone(deployment.ManagedFields), func(entry metav1.ManagedFieldsEntry) bool { return !strings.HasPrefix(entry.Manager, "vectorsidecar/") })
	text, err := json.Marshal([]any{annotations, entries})
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	return string(text)
}

// revisions returns the number of ReplicaSets of a workload.
func revisions(t *testing.T, deployment *appsv1.Deployment) int {
	t.Helper()
	var all appsv1.ReplicaSetList
	require.NoError(t, cluster.List(t.Context(), &all, client.InNamespace(deployment.Namespace)))
	n := 0
	for i := range all.Items {
		if metav1.IsControlledBy(&all.Items[i], deployment) {
			n++
		}
	}
	return n
}

// requireClean requires that a workload has nothing of the operator except managedFields entries.
func requireClean(t *testing.T, deployment *appsv1.Deployment) {
	t.Helper()
	harness.Until(t, world, deployment, "the removal of its sidecars", func(d *appsv1.Deployment) bool { return len(d.Spec.Template.Spec.InitContainers) == 1 })
	require.Equal(t, "migrate", deployment.Spec.Template.Spec.InitContainers[0].Name)
	for _, annotations := range []map[string]string{deployment.Annotations, deployment.Spec.Template.Annotations} {
		for key := range annotations {
			require.False(t, strings.HasPrefix(key, meta.Group+"/"), key)
		}
	}
	require.Empty(t, deployment.Spec.Template.Spec.Volumes)
	require.Empty(t, deployment.Spec.Template.Spec.Containers[0].VolumeMounts)
}

// fromBefore installs the previous release with its own program and chart, and creates VectorSidecars.
func fromBefore(t *testing.T, kinds map[string]kind) *upgrade {
	t.Helper()
	program, err := plane.Bin(before + "/operator")
	if err != nil {
		t.Skip("the release before is not in bin/before: run \"make release-before\", in a clone that has its commit")
	}
	folder := filepath.Dir(program)
	u := &upgrade{kinds: kinds, installation: &installation{pods: harness.NewStandIn(t, plane, cluster, namespace)}}
	u.pods.Runs(before + "/operator")
	removeDefinition(t)
	t.Cleanup(func() { takeAway(t) })
	helm(t, "install", release, folder+"/chart", "-n", namespace, "-f", folder+"/values/development.yaml")
	u.awaitServed(t)
	u.end = u.pods.Operator(t, fullname)
	u.pods.Hooks(t)
	for _, kind := range u.kinds {
		for _, sidecar := range kind.of {
			world.Create(t, sidecar)
		}
	}
	return u
}

// The previous release is upgraded and rolled back, each with its own program and chart. Neither writes workloads that
// the other one has injected, and both can remove all sidecars.
func TestChart_UpgradesWithoutRollouts(t *testing.T) {
	own := example.NewConfigMap("own", "shop", "vector.yaml", example.VectorConfig("own"))
	world.Create(t, own)
	t.Cleanup(func() { _ = cluster.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: own.ObjectMeta}) })
	u := fromBefore(t, kinds())
	u.inject(t, "before")
	u.remember(t)

	_, complained, err := tryHelm(t, "upgrade", release, chartDir, "-n", namespace, "--reuse-values", "--set", "rollout=null")
	require.Error(t, err, "as where the values of a release before lack what is new")
	require.Regexp(t, `missing propert(y|ies) .*'rollout'`, complained)
	helm(t, "upgrade", release, chartDir, "-n", namespace, "--reset-then-reuse-values", "--dry-run=server")
	u.pods.Runs("operator")
	helm(t, "upgrade", release, chartDir, "-n", namespace, "-f", root+"/values/development.yaml")
	u.restarted(t)
	u.inject(t, "now")
	u.requireNoRollout(t, "the upgrade", u.rolls)
	requireNotes(t, u)
	u.remember(t)

	u.pods.Runs(before + "/operator")
	helm(t, "rollback", release, "1", "-n", namespace)
	u.restarted(t)
	u.inject(t, "again")
	u.requireNoRollout(t, "the rollback", func(*carrier) bool { return false })

	for _, one := range u.workloads[:2*len(u.kinds)] {
		harness.Change(t, world, one.Deployment, func(d *appsv1.Deployment) { d.Labels = nil })
		requireClean(t, one.Deployment)
	}
	helm(t, "uninstall", release, "-n", namespace)
	for _, one := range u.workloads {
		requireClean(t, one.Deployment)
	}
	requireReleaseGone(t)
}

// requireNotes requires that all workloads have the annotations for their requested input, VectorSidecar and cause.
func requireNotes(t *testing.T, u *upgrade) {
	t.Helper()
	for _, one := range u.workloads {
		for _, key := range []string{meta.AnnotationInputHash, meta.AnnotationSidecarName, meta.AnnotationChangeCause, meta.AnnotationRenderedFrom} {
			require.Contains(t, one.Annotations, key, one.Name)
		}
	}
}

// The changelog lists each change of a release that rolls workloads.
func TestChart_ReportsRolloutsInReleaseNotes(t *testing.T) {
	text, err := os.ReadFile(root + "/CHANGELOG.md")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), "### Changes that roll workloads\n")
	section, _, _ := strings.Cut(rest, "\n##")
	for name, kind := range kinds() {
		if kind.rolls != "" {
			require.Contains(t, section, kind.rolls, name)
		}
	}
}

// Installation, changes, upgrade, rollback and uninstallation work with Helm 3 and Helm 4. Helm 4 installs by
// server-side apply, which rejects changes of fields of other managers.
func TestChart_SupportsLifecycleWithEachHelm(t *testing.T) {
	type life struct{ install, upgrade helmVersion }
	three, four := life{helm, helm}, life{helm4, helm4}
	for name, test := range map[string]struct {
		life
		environment string
	}{
		"Helm 3 in development":           {three, "development"},
		"Helm 3 in staging":               {three, "staging"},
		"Helm 3 in production":            {three, "production"},
		"Helm 4 in production":            {four, "production"},
		"Helm 3, then Helm 4, in staging": {life{helm, helm4}, "staging"},
	} {
		t.Run(name, func(t *testing.T) { requireLifecycle(t, test.install, test.upgrade, environments(t)[test.environment]) })
	}
}

// requireLifecycle installs the chart with one version of Helm, and changes and uninstalls it with the same or another one.
func requireLifecycle(t *testing.T, install, helm helmVersion, file string) {
	t.Helper()
	settings := judging(freeport.PortForTest(t)) + ",rbac.optional.pods=true,rollout.halt.failedWorkloads=5,networkPolicy.webhookFrom=anywhere"
	i := installWebhookBy(t, install, "-f", file, "--set", settings)
	cart, logs := injected(t)
	rollouts := cart.Generation
	requireWorks(t, helm)
	upgrade := func(more string) {
		helm(t, "upgrade", release, chartDir, "-n", namespace, "-f", file, "--set", settings+more)
		i.restarted(t)
		requireWorks(t, helm)
	}

	plugin(t, "rollout", "pause")
	upgrade(",concurrency=6,commonLabels.team=platform,logLevel=WARN")
	require.Contains(t, plugin(t, "rollout", "status"), "all writes except removals are stopped since", "an upgrade does not end the pause")
	upgrade(",writes=Stopped")
	plugin(t, "rollout", "resume")
	upgrade("")
	helm(t, "rollback", release, "1", "-n", namespace)
	i.restarted(t)
	requireWorks(t, helm)
	world.Get(t, cart)
	require.Equal(t, rollouts, cart.Generation, "neither upgrade nor rollback rolls a workload")

	data := certificate(t)
	kubectl(t, "delete", "secret", webhookSecret, "-n", namespace)
	awaitCertificate(t, "another authority", func(now map[string][]byte) bool { return !bytes.Equal(now["ca.crt"], data["ca.crt"]) })
	upgrade(",sidecar.logLevel=trace")
	harness.Until(t, world, cart, "the changed values", func(d *appsv1.Deployment) bool { return d.Generation > rollouts })
	require.Contains(t, plugin(t, "rollout", "undo", "--yes"), "is undone")
	upgrade(",sidecar.logLevel=trace,concurrency=6")
	require.Contains(t, plugin(t, "rollout", "undo", "--yes"), "is already undone", "an upgrade does not end the undo")
	awaitWebhook(t)
	helm(t, "rollback", release, "1", "-n", namespace)
	i.restarted(t)

	world.Get(t, logs)
	require.Contains(t, logs.Finalizers, meta.Finalizer)
	helm(t, "uninstall", release, "-n", namespace)
	requireNoTrace(t, cart)
}

// plugin runs the kubectl plugin as the cluster administrator, and returns its output.
func plugin(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, err := tryProgram(t, "kubectl-vectorsidecar", args...)
	require.NoError(t, err, "kubectl vectorsidecar %s\n%s%s", strings.Join(args, " "), stdout, stderr)
	return stdout + stderr
}
