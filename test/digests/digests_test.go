// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package digests compares the digests that are stored in a cluster with recorded ones.
package digests

import (
	"bufio"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

var update = flag.Bool("update", false, "record the digests")

// recorded has a name and a digest in each line.
const recorded = "recorded.txt"

// Workloads, revisions and generated ConfigMaps contain these digests. If one changes, an upgrade of the operator
// writes them again, so record new ones only together with RELEASE_BEFORE. The exceptions are the applied hash and the
// hash of a write to a workload without a sidecar.
func TestDigests_EqualRecordedOnes(t *testing.T) {
	digests := map[string]string{}
	addDecisions(t, digests)
	addInstallation(t, digests)
	addSpecs(t, digests)
	addWorkloads(digests)
	if *update {
		var text strings.Builder
		for _, name := range slices.Sorted(maps.Keys(digests)) {
			fmt.Fprintf(&text, "%s: %s\n", name, digests[name])
		}
		require.NoError(t, os.WriteFile(recorded, []byte(text.String()), 0o600))
	}
	before := read(t)
	for name, digest := range digests {
		require.Equal(t, before[name], digest, "%s: another digest than go test ./test/digests -update recorded", name)
	}
	require.Len(t, before, len(digests))
}

func read(t *testing.T) map[string]string {
	t.Helper()
	file, err := os.Open(recorded)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	digests := map[string]string{}
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		name, digest, found := strings.Cut(scanner.Text(), ": ")
		require.True(t, found, scanner.Text())
		digests[name] = digest
	}
	return digests
}

// platform returns the content of an installation: a fixed chart, values, a policy and a template set.
func platform(t *testing.T) *desired.Platform {
	t.Helper()
	files, err := render.ReadFiles(os.DirFS("testdata/chart"))
	require.NoError(t, err)
	catalog, err := desired.NewCatalog(files)
	require.NoError(t, err)
	platform, _ := catalog.Update(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "vector-system", Name: "values"},
		Data: map[string]string{
			"production.yaml": "sidecar: {image: timberio/vector:0.57.0-debian}", desired.PolicyKey: policyText,
		},
	}, []corev1.ConfigMap{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "vector-system", Name: "team", Labels: map[string]string{meta.LabelTemplateSet: "team"}},
		Data:       map[string]string{"_team.tpl": `{{- define "team" }}a{{ end }}`},
	}})
	require.NoError(t, platform.PolicyErr)
	return platform
}

// policyText sets every rule of a policy.
const policyText = `
podSecurity: privileged
podSecurityOfInitContainers: privileged
images: {registries: [docker.io, timberio], requireTag: true, requireDigest: false}
volumes: {kinds: [configMap, emptyDir], csiDrivers: [a.example.com], tokenAudiences: [b], applicationSecrets: true, cleanup: [emptyDir], memorySizeLimit: 1Gi}
imagePullSecrets: {allowed: [registry]}
capabilities: [NET_ADMIN]
devices: [example.com/device]
users: {min: 1000, max: 2000}
reservedDomains: [example.com]
applicationEnv: [LOG_SOCKET]
overrides: {namespaces: [sidecar.threads], workloads: [sidecar.threads]}
vector: {types: {deny: [sinks.http]}, options: {deny: [api]}, hosts: {allow: [loki.example.com]}}
`

// addDecisions adds digests of what a workload and its generated ConfigMaps carry.
func addDecisions(t *testing.T, digests map[string]string) {
	t.Helper()
	application := objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Labeled("team", "shop").WithEmptyDir("logs", "/var/log/app").Build()
	application.Annotations = map[string]string{meta.AnnotationValuesPrefix + "sidecar.threads": "3"}
	own := objects.NewConfigMap("own", "shop", "vector.yaml", objects.VectorConfig("x"))
	own.BinaryData = map[string][]byte{"table": {0, 1, 255}}
	for name, sidecar := range map[string]*v1alpha1.VectorSidecar{
		"rendered": objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").FromSet("team").WithValues(map[string]any{"team": "a"}).
			Sidecar(func(s *v1alpha1.SidecarSpec) {
				s.Config = &v1alpha1.ConfigSpec{ValidateJob: &v1alpha1.ValidateJobSpec{Enabled: ptr.To(true), DeadlineSeconds: ptr.To[int32](45)}}
			}).Build(),
		"referenced": objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").WithConfigMap("own", "vector.yaml").Build(),
	} {
		validations := map[string]bool{}
		isValid := func(key string) decision.Verdict {
			validations[key] = true
			return decision.Verdict{State: decision.VerdictValid}
		}
		snapshot := &decision.Input{Verdict: isValid,
			Inputs: desired.Inputs{
				Sidecar: sidecar, Platform: platform(t),
				Settings: desired.Settings{DefaultEnvironment: "production", KubeVersion: "v1.31.0", Version: "0.1.0", OldestKubelet: desired.Kubelet{Version: "v1.30.2"}},
				Accounts: source.Reader{Reader: source.NewObjectOverlay(nil)},
				ConfigMaps: objects.ConfigMapSet{
					{Namespace: "shop", Name: "own"}:                  own,
					{Namespace: "shop", Name: meta.NamespaceDefaults}: objects.NewConfigMap(meta.NamespaceDefaults, "shop", meta.NamespaceDefaultsKey, "sidecar: {threads: 4}"),
				},
			},
			Workloads: []*workloadcache.Record{workloadcache.NewRecordWithView(workload.NewView(application))},
		}
		decided, err := decision.Decide(t.Context(), snapshot, nil)
		require.NoError(t, err)
		result := &decided.Plans[0]
		require.NotEmpty(t, result.Write.Apply, result.Message())
		require.NotEmpty(t, result.Desired.Template().Spec.InitContainers)
		annotations := tree.MapAt(result.Write.Apply, "metadata", "annotations")
		for _, key := range []string{
			meta.AnnotationInputHash, meta.AnnotationInjectedHash, meta.AnnotationAppliedHash, meta.AnnotationConfigMapVersion, meta.AnnotationRenderedFrom,
		} {
			text, _ := annotations[key].(string)
			require.NotEmpty(t, text, key)
			digests[name+" "+strings.TrimPrefix(key, meta.Group+"/")] = text
		}
		digests[name+" workload hash"] = workload.Hash(result.Write.Apply)
		require.Len(t, decided.Missing, 1)
		digests[name+" ConfigMap"] = decided.Missing[0].Name
		if name == "rendered" {
			digests["validation Job"] = strings.Join(slices.Sorted(maps.Keys(validations)), " ")
		}
	}
}

// addInstallation adds digests of stored revisions and of the requests that a user makes about them.
func addInstallation(t *testing.T, digests map[string]string) {
	t.Helper()
	content, err := platform(t).StoredContent(t.Context())
	require.NoError(t, err)
	content.Sets["binary"] = fleet.Files{BinaryData: map[string][]byte{"logo": {0, 1, 255}}}
	digests["revision"] = content.Revision()
	sections, revision, err := content.Records("vector-system", "values", 1)
	require.NoError(t, err)
	digests["revision record"] = revision.Name + " " + string(revision.Data.Raw)
	var names []string
	for i := range sections {
		names = append(names, sections[i].Name)
	}
	digests["revision sections"] = strings.Join(names, " ")
	digests["revision samples"] = revision.Annotations[meta.AnnotationSamples]
	set := content.Sets["team"]
	digests["template set checksum"] = set.Checksum()
	rules, err := policy.Parse("policy", []byte(policyText))
	require.NoError(t, err)
	digests["policy"], digests["policy without defaults"] = rules.Digest, rules.ExplicitDigest

	digests["retry"] = fleet.RetryDigest(map[string]string{meta.AnnotationRetryRollout: "now"})
	target := fleet.NewTarget(nil, "abc", map[string]string{meta.AnnotationUndoRollout: "abc@2026-01-02T03:04:05Z"})
	digests["undo"] = target.UndoRequest
}

// addSpecs adds the digest of a last known good spec.
func addSpecs(t *testing.T, digests map[string]string) {
	t.Helper()
	sidecar := objects.NewVectorSidecar("logs", "shop").InEnvironment("production").FromSet("team").WithLogs("/var/log/app").
		WithInitContainer("copy", "busybox:1").Volumes(corev1.Volume{Name: "cache", VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(resource.MustParse("1Gi"))},
	}}).Build()
	sidecar.Spec.Values = &apiextensionsv1.JSON{Raw: []byte(`{"team":"a"}`)}
	kept := lastgood.NextSpecStatus(sidecar, &lastgood.Observation{
		Progress: fleet.Progress{IsDone: true}, OnFailure: v1alpha1.OnFailureRevert, IsFullyRolledOut: true,
	})
	require.NotNil(t, kept.LastGood)
	digests["last known good spec"] = kept.LastGood.Digest + " " + kept.LastGood.Spec
}

// addWorkloads adds digests of parts of workloads.
func addWorkloads(digests map[string]string) {
	application := objects.NewDeployment("cart", "shop").WithEmptyDir("logs", "/var/log/app").Build()
	state := workload.State{Template: workload.TemplateDigest(&application.Spec.Template, nil)}
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	digests["waiting since"] = workload.NewWait(since, &state).String()
	digests["applied hash with mounts"] = workload.AppliedHash("0123", []workload.Mount{
		{Container: "app", VolumeMount: corev1.VolumeMount{Name: "data", MountPath: "/data", SubPathExpr: "$(POD)", ReadOnly: true}},
	})
	view := workload.NewView(application)
	asked := plan.RequestedInput{Digest: "0123", Keys: []string{"kind", "name", "namespace", "labels", "annotations", "containers", "qosClass", "users", "accountPullSecrets"}}
	digests["values of a workload"] = view.ValuesHash(append(asked.Keys, workload.GraceKey, workload.PullSecretsKey))
}
