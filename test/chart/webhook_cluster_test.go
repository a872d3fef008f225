// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/freeport"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	example "kontroloop.ai/vector-sidecar-operator/test/objects"
)

// auditIsBroken gives the environment audit a sink type that Vector does not have.
const auditIsBroken = `environments.audit={"sidecar":{"sinks":{"out":{"type":"nothing"}}}}`

// inAll returns a VectorSidecar as a ClusterVectorSidecar for the namespaces with the label team=TEAM.
func inAll(team string, of *example.VectorSidecar) *v1alpha1.ClusterVectorSidecar {
	sidecar := of.Build()
	made := &v1alpha1.ClusterVectorSidecar{}
	made.Name, made.Spec.VectorSidecarSpec = sidecar.Name, sidecar.Spec
	made.Spec.NamespaceSelector.MatchLabels = map[string]string{"team": team}
	return made
}

func TestWebhook_ValidatesClusterVectorSidecar(t *testing.T) {
	installWebhook(t, "--set-json", auditIsBroken)
	world.Namespace(t, "team", "one")
	audit := world.Namespace(t, "team", "both", meta.LabelEnvironment, "audit")
	shop := world.Namespace(t, "team", "both")
	world.Create(t, example.NewDeployment("cart", shop).Labeled("logs", "vector").Build())
	logs := func() *example.VectorSidecar { return example.NewVectorSidecar("tried", "").Selecting("logs", "none") }
	broken := configured("type: consol\ninputs: [in]")
	harness.Eventually(t, "the namespaces in the operator's cache", func() bool {
		said := warned(t, func(c client.Client) error {
			return c.Create(t.Context(), inAll("both", logs().WithLogs("/var/log/app")), client.DryRunAll)
		})
		return said != ""
	})

	unreadable := inAll("one", logs())
	unreadable.Spec.NamespaceSelector.MatchLabels["team"] = "not a value"
	for name, test := range map[string]struct {
		cluster *v1alpha1.ClusterVectorSidecar
		says    string
	}{
		"where it selects a namespace":    {inAll("one", logs().WithInlineConfig(broken)), "ClusterVectorSidecar tried spec.sidecar.config.inline:7:11: sinks.out.type"},
		"where it selects two":            {inAll("both", logs().WithInlineConfig(broken)), "ClusterVectorSidecar tried spec.sidecar.config.inline:7:11: sinks.out.type"},
		"where it selects none":           {inAll("none", logs().WithInlineConfig(broken)), "ClusterVectorSidecar tried spec.sidecar.config.inline:7:11: sinks.out.type"},
		"with a selector nobody can read": {unreadable, "ClusterVectorSidecar tried: spec.namespaceSelector: "},
	} {
		t.Run("refused is "+name, func(t *testing.T) {
			err := cluster.Create(t.Context(), test.cluster)
			require.True(t, apierrors.IsInvalid(err), "%v", err)
			require.ErrorContains(t, err, test.says)
			require.NotContains(t, err.Error(), "in namespace")
		})
	}
	for name, test := range map[string]struct {
		cluster *v1alpha1.ClusterVectorSidecar
		says    string
	}{
		"a good one":                            {inAll("one", logs()), ""},
		"one that selects no namespace":         {inAll("none", logs()), ""},
		"what the loop is to judge":             {inAll("both", logs().WithConfigMap("to-come", "vector.yaml")), ""},
		"what one environment cannot have":      {inAll("both", logs().WithLogs("/var/log/app")), "in namespace " + audit + ": "},
		"what lacks something in one namespace": {inAll("both", logs().Selecting("logs", "vector")), "in namespace " + shop + ": Deployment " + shop + "/cart: the sidecar collects no data from its application"},
	} {
		t.Run("accepted is "+name, func(t *testing.T) {
			said := warned(t, func(c client.Client) error { return c.Create(t.Context(), test.cluster, client.DryRunAll) })
			require.Contains(t, said, test.says)
			require.Equal(t, test.says == "", said == "", said)
		})
	}
	t.Run("a preview of kubectl tells what is wrong", func(t *testing.T) {
		_, told, err := tryKubectl(t, "apply", "--dry-run=server", "-f", written(t, inAll("both", logs().WithLogs("/var/log/app"))))
		require.NoError(t, err)
		require.Contains(t, told, "Warning: in namespace "+audit+": ")
	})
	t.Run("an update", func(t *testing.T) { updateOfCluster(t, logs, broken) })
}

// updateOfCluster enforces the check of an invalid configuration, changes other fields, and removes the
// configuration.
func updateOfCluster(t *testing.T, logs func() *example.VectorSidecar, broken string) {
	t.Helper()
	made := inAll("one", logs().Sidecar(func(s *v1alpha1.SidecarSpec) {
		s.Config = &v1alpha1.ConfigSpec{Inline: broken, Check: v1alpha1.CheckWarn}
	}))
	world.Create(t, made)
	patch := func(how func(*v1alpha1.ClusterVectorSidecar)) (said string, err error) {
		world.Get(t, made)
		before := made.DeepCopy()
		how(made)
		said = warned(t, func(c client.Client) error {
			err = c.Patch(t.Context(), made.DeepCopy(), client.MergeFrom(before))
			return nil
		})
		return said, err
	}

	_, err := patch(func(c *v1alpha1.ClusterVectorSidecar) { c.Spec.Sidecar.Config.Check = v1alpha1.CheckEnforce })
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	require.ErrorContains(t, err, "ClusterVectorSidecar tried spec.sidecar.config.inline:7:11")
	_, err = patch(func(c *v1alpha1.ClusterVectorSidecar) { c.Labels = map[string]string{"team": "shop"} })
	require.NoError(t, err, "what changes nothing of what is wanted is not judged")
	said, err := patch(func(c *v1alpha1.ClusterVectorSidecar) { c.Spec.Environment = "staging" })
	require.NoError(t, err)
	require.Contains(t, said, "ClusterVectorSidecar tried spec.sidecar.config.inline:7:11")
	said, err = patch(func(c *v1alpha1.ClusterVectorSidecar) { c.Spec.Sidecar.Config = nil })
	require.NoError(t, err, "it repairs")
	require.Empty(t, said)
}

// An object was invalid before the webhook was enabled. The webhook allows other changes of it, with a warning.
func TestWebhook_AllowsUpdateWithExistingFault(t *testing.T) {
	i := installed(t, chartDir)
	old := inAll("one", example.NewVectorSidecar("old", "").Selecting("logs", "none").WithInlineConfig(configured("type: consol\ninputs: [in]")))
	world.Create(t, old)
	i.judges(t)

	said := warned(t, func(c client.Client) error {
		world.Get(t, old)
		before := old.DeepCopy()
		old.Spec.Environment = "staging"
		return c.Patch(t.Context(), old, client.MergeFrom(before))
	})
	require.Contains(t, said, "existed before this change: ClusterVectorSidecar old spec.sidecar.config.inline:7:11")
}

// judges enables the webhook, and waits until it answers.
func (i *installation) judges(t *testing.T) {
	t.Helper()
	helm(t, "upgrade", release, chartDir, "-n", namespace, "--set", judging(freeport.PortForTest(t)))
	kubectl(t, "patch", "service", fullname+"-webhook", "-n", namespace, "-p", `{"spec":{"type":"ExternalName","externalName":"localhost"}}`)
	i.restarted(t)
	awaitWebhook(t)
}

// The webhook of an operator that watches some namespaces does not check ClusterVectorSidecars. After an upgrade to the
// whole cluster, it does.
func TestWebhook_CoversClusterVectorSidecarIfEnabled(t *testing.T) {
	i := installWebhook(t, "--set", "watchNamespaces={shop}")
	broken := inAll("one", example.NewVectorSidecar("tried", "").Selecting("logs", "none").WithInlineConfig("sources: ["))
	require.Len(t, configuration(t).Webhooks[0].Rules, 1)
	require.NoError(t, cluster.Create(t.Context(), broken.DeepCopy(), client.DryRunAll))

	i.judges(t)
	harness.Eventually(t, "requests of the API server about ClusterVectorSidecars", func() bool {
		return apierrors.IsInvalid(cluster.Create(t.Context(), broken.DeepCopy(), client.DryRunAll))
	})
	require.Len(t, configuration(t).Webhooks[0].Rules, 2)
}

// written writes an object to a file.
func written(t *testing.T, object *v1alpha1.ClusterVectorSidecar) string {
	t.Helper()
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ClusterVectorSidecar"))
	text, err := yaml.Marshal(object)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "object.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return file
}
