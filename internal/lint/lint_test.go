// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/definition"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// installed is an installation with the values of a file.
func installed(ctx context.Context, file File) (*desired.InstallationValues, *desired.Platform, error) {
	values, refused := desired.ReadInstallationValues(ctx, vectorsidecar.FS, file.Name, file.Text, "development")
	if values == nil {
		return nil, nil, refused
	}
	files, err := render.ReadFiles(vectorsidecar.FS)
	if err != nil {
		return nil, nil, err
	}
	catalog, err := desired.NewCatalog(files)
	if err != nil {
		return nil, nil, err
	}
	installation := &source.Installation{ValuesFrom: "environments"}
	installation.TemplateSets = values.TemplateSets(installation.ValuesName(), nil)
	platform := values.MergeInto(installation.Platform(catalog))
	return values, platform, refused
}

func lintFiles(t *testing.T, files map[string]string) []string {
	t.Helper()
	return lintUnder(t, builtInPlatform(t), files)
}

// builtInPlatform returns the platform of the built-in chart.
func builtInPlatform(t *testing.T) *desired.Platform {
	t.Helper()
	chart, err := render.LoadChart(vectorsidecar.FS)
	require.NoError(t, err)
	return desired.NewPlatform(chart, "", map[string]string{})
}

func lintUnder(t *testing.T, platform *desired.Platform, files map[string]string) []string {
	t.Helper()
	linter := linterFor(t, platform)
	var given []File
	for name, text := range files {
		given = append(given, File{Name: name, Text: []byte(text)})
	}
	result, err := linter.Lint(t.Context(), given)
	require.NoError(t, err)
	for _, finding := range result.Findings {
		require.NotEmpty(t, finding.Help, finding.Code)
	}
	return placesOfFindings(result.Findings)
}

// placesOfFindings returns the place and code of each finding.
func placesOfFindings(findings []Finding) (all []string) {
	for i := range findings {
		all = append(all, findings[i].Position()+" "+findings[i].Code)
	}
	return all
}

// linterFor returns a linter for a platform.
func linterFor(t *testing.T, platform *desired.Platform) *Linter {
	t.Helper()
	parsed, err := definition.Parse(vectorsidecar.Definition)
	require.NoError(t, err)
	definitions := func(kind string) (*definition.Definition, error) {
		if kind == "VectorSidecar" {
			return parsed, nil
		}
		return nil, nil //nolint:nilnil // As the plugin's.
	}
	return &Linter{Definitions: definitions, Platform: platform, Installed: installed, Settings: desired.Settings{DefaultEnvironment: "development", KubeVersion: "v1.36.0"}}
}

const head = "kind: VectorSidecar\nmetadata: {name: logs, namespace: shop}\nspec:\n  selector: {matchLabels: {a: b}}\n"

// anySet is the part of values with a template set that takes all values.
const anySet = "templates:\n  any:\n    values.schema.json: '{\"type\": \"object\"}'\n"

// An unknown field gets the nearest field of the schema.
func TestLinter_SuggestsNearestField(t *testing.T) {
	for field, want := range map[string]string{
		"environmant: qa":                    "spec.environmant: VectorSidecar has no such field; did you mean environment?",
		"rollot: {paused: true}":             "spec.rollot: VectorSidecar has no such field; did you mean rollout?",
		"rollout: {maxConcurent: 1}":         "spec.rollout.maxConcurent: VectorSidecar has no such field; did you mean maxConcurrent?",
		"sidecar: {logz: {path: /a}}":        "spec.sidecar.logz: VectorSidecar has no such field; did you mean logs?",
		"sidecar: {env: [{nam: A}]}":         "spec.sidecar.env.0.nam: VectorSidecar has no such field; did you mean name?",
		"sidecar: {nothingLikeIt: 1}":        "spec.sidecar.nothingLikeIt: VectorSidecar has no such field",
		"initContainers: [{nme: a}]":         "spec.initContainers.0.nme: VectorSidecar has no such field; did you mean name?",
		"volumes: [{name: a, emptydir: {}}]": "spec.volumes.0.emptydir: VectorSidecar has no such field; did you mean emptyDir?",
	} {
		linter := linterFor(t, nil)
		result, err := linter.Lint(t.Context(), []File{{Name: "a.yaml", Text: []byte(head + "  " + field + "\n")}})
		require.NoError(t, err)
		var texts []string
		for _, finding := range result.Findings {
			texts = append(texts, finding.Text())
		}
		require.Contains(t, texts, want)
	}
}

// A VectorSidecar is checked with the template set that it names, or else with that of its environment.
func TestLintSidecar_ChecksSpecAgainstTemplateSet(t *testing.T) {
	const strict = `templates:
  strict:
    values.schema.json: '{"type": "object", "properties": {"values": {"additionalProperties": false, "properties": {"team": {}}}}}'
environments: {qa: {templateSet: strict}}
`
	_, platform, err := installed(t.Context(), File{Name: "values.yaml", Text: []byte(strict)})
	require.NoError(t, err)
	for name, test := range map[string]struct{ spec, want string }{
		"the default one":              {"  values: {taem: x}\n", ""},
		"the one that it names":        {"  templateSet: strict\n  values: {taem: x}\n", "a.yaml:6:12 InvalidValues"},
		"that of its environment":      {"  environment: qa\n  values: {taem: x}\n", "a.yaml:6:12 InvalidValues"},
		"one that nobody gives":        {"  templateSet: strickt\n  values: {taem: x}\n", "a.yaml:1:1 UnknownTemplateSet"},
		"what the named one does have": {"  templateSet: strict\n  values: {team: x}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, strings.Join(lintUnder(t, platform, map[string]string{"a.yaml": head + test.spec}), " "))
		})
	}
}

// Several files are linted together. A finding has the position in the file that the user must correct.
func TestLintTogether_PlacesFindingInFileToCorrect(t *testing.T) {
	const workload = "kind: Deployment\nmetadata:\n  name: cart\n  namespace: shop\n  labels: {a: b}\n" +
		"spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: %s, image: i}]}}}\n"
	named := func(container string) string { return strings.Replace(workload, "%s", container, 1) }
	placed := func(fields string) string {
		return strings.Replace(named("app"), "image: i}]}}}", "image: i}], "+fields+"}}}", 1)
	}
	// logging logs to a volume, and may use so much of the node's disk.
	logging := func(volume, storage string) string {
		container := "app, volumeMounts: [{name: logs, mountPath: /log}]"
		if storage != "" {
			container += ", resources: {limits: {ephemeral-storage: " + storage + "}}"
		}
		return strings.Replace(named(container), "image: i}]}}}", "image: i}], volumes: [{name: logs, "+volume+"}]}}}", 1)
	}
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"all is well": {map[string]string{"a.yaml": head, "b.yaml": named("app")}, nil},
		"a conflict with a workload": {
			map[string]string{"a.yaml": head, "b.yaml": named("vector")}, []string{"b.yaml:3:3 Conflict"},
		},
		"a log volume without a limit": {
			map[string]string{"a.yaml": head + "  sidecar: {logs: {path: /log}}\n", "b.yaml": logging("emptyDir: {}", "")}, []string{"b.yaml:3:3 VSC008"},
		},
		"with one": {map[string]string{"a.yaml": head + "  sidecar: {logs: {path: /log}}\n", "b.yaml": logging("emptyDir: {sizeLimit: 1Gi}", "")}, nil},
		"one from which files are removed": {
			map[string]string{"a.yaml": head + "  sidecar: {logs: {path: /log, cleanup: {rotated: ['*.log.*'], evenUnacknowledged: true}}}\n", "b.yaml": logging("emptyDir: {}", "")}, nil,
		},
		"a claim": {map[string]string{"a.yaml": head + "  sidecar: {logs: {path: /log}}\n", "b.yaml": logging("persistentVolumeClaim: {claimName: c}", "")}, nil},
		"the sidecar's own log volume": {
			map[string]string{"a.yaml": head + "  sidecar: {logs: {path: /log, containers: [app]}}\n"}, []string{"a.yaml:5:13 VSC008"},
		},
		"a limit below data and logs": {
			map[string]string{"a.yaml": head + "  sidecar: {logs: {path: /log}}\n", "b.yaml": logging("emptyDir: {sizeLimit: 1Gi}", "1279Mi")}, []string{"b.yaml:3:3 VSC009"},
		},
		"a limit of both together": {map[string]string{"a.yaml": head + "  sidecar: {logs: {path: /log}}\n", "b.yaml": logging("emptyDir: {sizeLimit: 1Gi}", "1280Mi")}, nil},
		"windowsOptions alone": {
			map[string]string{"a.yaml": head, "b.yaml": placed("securityContext: {windowsOptions: {runAsUserName: a}}")}, []string{"b.yaml:6:142 VSC011"},
		},
		"windowsOptions of a container": {
			map[string]string{"a.yaml": head, "b.yaml": named("app, securityContext: {windowsOptions: {hostProcess: true}}")}, []string{"b.yaml:6:130 VSC011"},
		},
		"windowsOptions beside another system": {
			map[string]string{"a.yaml": head, "b.yaml": placed("securityContext: {windowsOptions: {runAsUserName: a}}, nodeSelector: {kubernetes.io/os: linux}")},
			[]string{"b.yaml:6:142 VSC011"},
		},
		"windowsOptions beside their system": {
			map[string]string{"a.yaml": head, "b.yaml": placed("securityContext: {windowsOptions: {runAsUserName: a}}, os: {name: windows}")}, nil,
		},
		"a folder that no container mounts": {
			map[string]string{"a.yaml": head + "  sidecar: {logs: {path: /log}}\n", "b.yaml": named("app")}, []string{"a.yaml:3:1 InvalidTemplate"},
		},
		"an inline configuration": {
			map[string]string{"a.yaml": head + "  sidecar:\n    config:\n      inline: |\n        sources: {a: {type: stdin}}\n        sinks:\n          b: {type: consol, inputs: [a]}\n"},
			[]string{"a.yaml:10 VSC302"},
		},
		"a configuration that is data": {
			map[string]string{"a.yaml": head + "  sidecar:\n    config:\n      raw:\n        sources: {a: {type: stdin}}\n        sinks:\n          b: {type: consol, inputs: [a]}\n"},
			[]string{"a.yaml:10:15 VSC302"},
		},
		"data without a sink": {
			map[string]string{"a.yaml": head + "  sidecar: {config: {raw: {sources: {a: {type: stdin}}}}}\n"}, []string{"a.yaml:5:22 VSC204"},
		},
		"a ConfigMap of another file": {
			map[string]string{
				"a.yaml": head + "  sidecar: {config: {configMapRef: {name: mine}}}\n",
				"b.yaml": "kind: ConfigMap\nmetadata: {name: mine, namespace: shop}\ndata:\n  vector.yaml: |\n    sources: {a: {type: stdin}}\n    sinks: {b: {type: consol, inputs: [a]}}\n",
			},
			[]string{"b.yaml:6 VSC302"},
		},
		"a ConfigMap that nobody gave": {map[string]string{"a.yaml": head + "  sidecar: {config: {configMapRef: {name: mine}}}\n"}, nil},
		"a ConfigMap that is not among those given": {
			map[string]string{
				"a.yaml": head + "  sidecar: {config: {configMapRef: {name: mine}}}\n",
				"b.yaml": "kind: ConfigMap\nmetadata: {name: other, namespace: shop}\n",
			},
			[]string{"a.yaml:5:22 ConfigMapNotFound"},
		},
		"a rule of sidecars, without a workload": {
			map[string]string{"a.yaml": head + "  sidecar:\n    config:\n      inline: |\n        data_dir: /data\n        sources: {a: {type: file, include: [/etc/vector/x]}}\n        sinks: {b: {type: blackhole, inputs: [a]}}\n"},
			[]string{"a.yaml:8 VSC503"},
		},
		"logs that a workload would have":       {map[string]string{"a.yaml": head + "  sidecar: {logs: {path: /var/log/app}}\n"}, nil},
		"containers that a workload would have": {map[string]string{"a.yaml": head + "  sidecar: {logs: {path: /var/log/app, containers: [web], sizeLimit: 1Gi}}\n"}, nil},
		"what a rule of the API refuses": {
			map[string]string{"a.yaml": head + "  rollout: {soak: 48h}\n"}, []string{"a.yaml:5:13 VSC007"},
		},
		"what the API's schema refuses, twice": {
			map[string]string{"a.yaml": head + "  deletionPolicy: Never\n  rollout: {maxUnavailable: true}\n"}, []string{"a.yaml:5:3 VSC007", "a.yaml:6:13 VSC002"},
		},
		"what a rule of the API refuses, of a number and a text": {
			map[string]string{"a.yaml": head + "  rollout:\n    maxConcurrent: 0\n", "b.yaml": head + "  rollout:\n    maxConcurrent: 200%\n", "c.yaml": head + "  rollout:\n    maxConcurrent: 5\n"}, []string{"a.yaml:6:5 VSC007", "b.yaml:6:5 VSC007"},
		},
		"a comment that ignores a rule of the API": {
			map[string]string{"a.yaml": head + "  rollout: {soak: 48h} # vectorsidecar: ignore VSC007 because our definition allows it\n"}, nil,
		},
		"what the operator and the API refuse in the same words": {
			map[string]string{"a.yaml": "kind: VectorSidecar\nmetadata: {name: logs, namespace: shop}\nspec:\n  selector: {}\n"}, []string{"a.yaml:4:3 InvalidSelector"},
		},
		"a selector of namespaces that cannot be read": {
			map[string]string{"a.yaml": strings.Replace(head, "VectorSidecar", "ClusterVectorSidecar", 1) + "  namespaceSelector: {matchLabels: {team: not a label}}\n"},
			[]string{"a.yaml:5:3 InvalidSelector"},
		},
		"an unknown environment": {map[string]string{"a.yaml": head + "  environment: stagin\n"}, []string{"a.yaml:5:3 UnknownEnvironment"}},
		"null that server-side apply rejects": {
			map[string]string{"a.yaml": head + "  values: {owner: null}\n  sidecar: {logLevel: null, resources: {requests: {cpu: null}}}\n"}, []string{"a.yaml:6:13 VSC010"},
		},
		"null that has a default":       {map[string]string{"a.yaml": head + "  enabled: null\n"}, nil},
		"a duplicate key":               {map[string]string{"a.yaml": head + "  environment: qa\n  environment: staging\n"}, []string{"a.yaml:6 VSC001"}},
		"two mistakes in one object":    {map[string]string{"a.yaml": head + "  environmnt: x\n  sidecar: {imag: x}\n"}, []string{"a.yaml:5:3 VSC002", "a.yaml:6:13 VSC002"}},
		"values":                        {map[string]string{"values.yaml": "sidecar:\n  logs: {pat: x}\n"}, []string{"values.yaml:2:10 InvalidValues"}},
		"values of another environment": {map[string]string{"values.yaml": "environments:\n  qa:\n    sidecar:\n      logs: {pat: x}\n"}, []string{"values.yaml:4:14 InvalidValues"}},
		"values for their template set": {
			map[string]string{"values.yaml": anySet + "templateSet: any\nsidecar: {team: x}\n"}, nil,
		},
		"values for that of another environment": {
			map[string]string{"values.yaml": anySet + "environments: {qa: {templateSet: any, sidecar: {team: x}}}\nsidecar: {team: x}\n"},
			[]string{"values.yaml:5:11 InvalidValues"},
		},
		"a template set that nobody gives": {
			map[string]string{"values.yaml": anySet + "environments:\n  qa: {templateSet: ani}\n"}, []string{"values.yaml:5:8 UnknownTemplateSet"},
		},
		"a template set that cannot be loaded": {
			map[string]string{"values.yaml": "templates:\n  default:\n    podtemplate.yaml: '{{ if }}'\nsidecar: {team: x}\n"}, []string{"values.yaml:2:3 InvalidTemplateSet"},
		},
		"what the operator would refuse of the rest of the values": {
			map[string]string{"values.yaml": "policy: {overides: {}}\nrollout: {maxConcurent: 1}\n"}, []string{"values.yaml:1:10 InvalidPolicy", "values.yaml:2:11 InvalidRollout"},
		},
		"what helm would refuse of them": {map[string]string{"values.yaml": "rbac: {optinal: {}}\nsidecar: {team: x}\n"}, []string{"values.yaml:1:8 InvalidValues", "values.yaml:2:11 InvalidValues"}},
		"values that are not YAML":       {map[string]string{"values.yaml": "sidecar: [\n"}, []string{"values.yaml:1 VSC001"}},
		"a Vector configuration":         {map[string]string{"vector.toml": "[sources.a]\ntype = \"stdn\"\n[sinks.b]\ntype = \"console\"\ninputs = [\"a\"]\nencoding.codec = \"json\"\n"}, []string{"vector.toml:2:8 VSC302"}},
		"a comment that ignores": {
			map[string]string{"a.yaml": head + "  environment: stagin # vectorsidecar: ignore UnknownEnvironment because it comes with the next installation\n"}, nil,
		},
		"a comment above that ignores": {
			map[string]string{"vector.yaml": "sources: {a: {type: demo_logs, format: json}}\nsinks:\n  b:\n    # vectorsidecar: ignore VSC302 because it is our own build\n    # of Vector\n    type: ours\n    inputs: [a]\n"}, nil,
		},
		"a comment in a text in an object": {
			map[string]string{"a.yaml": head + "  sidecar:\n    config:\n      inline: |\n        sources: {a: {type: stdin}}\n        sinks:\n          # vectorsidecar: ignore VSC302 because it is our own build\n          b: {type: consol, inputs: [a]}\n"}, nil,
		},
		"a comment on another line": {
			map[string]string{"a.yaml": head + "  # vectorsidecar: ignore UnknownEnvironment because of that\n  matchAll: false\n  environment: stagin\n"},
			[]string{"a.yaml:5:3 VSC006", "a.yaml:7:3 UnknownEnvironment"},
		},
		"a comment without a reason": {
			map[string]string{"a.yaml": head + "  environment: stagin # vectorsidecar: ignore UnknownEnvironment\n"},
			[]string{"a.yaml:5:3 UnknownEnvironment", "a.yaml:5:23 VSC005"},
		},
		"a comment of what is no code":           {map[string]string{"a.yaml": head + "  # vectorsidecar: ignore VSC999 because of that\n"}, []string{"a.yaml:5:3 VSC005"}},
		"a comment that would hide all the rest": {map[string]string{"values.yaml": "sidecar: [ # vectorsidecar: ignore VSC001 because of that\n"}, []string{"values.yaml:1 VSC001", "values.yaml:1:12 VSC005"}},
		"two codes in one comment": {
			map[string]string{"a.yaml": head + "  environment: stagin # vectorsidecar: ignore UnknownEnvironment, InvalidValues because it comes\n"},
			[]string{"a.yaml:5:23 VSC006"},
		},
		"what is nobody's business": {map[string]string{"notes.yaml": "a: b\n", "other.yaml": "kind: Service\n"}, nil},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, lintFiles(t, test.files)) })
	}
}

// The list of rules has each code of a finding exactly once.
func TestRules_ContainEachCodeOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, rule := range Rules() {
		require.False(t, seen[rule.Code], rule.Code)
		require.NotEmpty(t, rule.Help, rule.Code)
		seen[rule.Code] = true
	}
	for _, code := range []string{unreadable, misfit, notAChart, tooLarge, badIgnore, idleIgnore} {
		require.True(t, seen[code], code)
	}
}

// Configurations are checked for the version in the options, not for that of the image.
func TestLint_ChecksRequestedVectorVersion(t *testing.T) {
	chart, err := render.LoadChart(vectorsidecar.FS)
	require.NoError(t, err)
	linter := Linter{Platform: desired.NewPlatform(chart, "", map[string]string{}), Settings: desired.Settings{DefaultEnvironment: "development", KubeVersion: "v1.36.0"}}
	codes := func(version string, file File) []string {
		linter.VectorVersion = version
		result, err := linter.Lint(t.Context(), []File{file})
		require.NoError(t, err)
		var all []string
		for _, finding := range result.Findings {
			all = append(all, finding.Level+" "+finding.Code)
		}
		return all
	}
	const config = "sources: {a: {type: demo_logs, format: json}}\nsinks: {b: {type: console, inputs: [a], encoding: {codec: json}, tarrget: stdout}}\n"
	require.Equal(t, []string{"warning VSC308"}, codes("", File{Name: "vector.yaml", Text: []byte(config)}))
	require.Equal(t, []string{"error VSC308"}, codes("0.57.0", File{Name: "vector.yaml", Text: []byte(config)}))

	const sidecar = head + "  sidecar: {image: r.example/vector:0.57.0, config: {raw: {sources: {a: {type: demo_logs, format: json}}, sinks: {b: {type: console, inputs: [a], encoding: {codec: otlp}}}}}}\n"
	require.Empty(t, codes("", File{Name: "a.yaml", Text: []byte(sidecar)}))
	require.Equal(t, []string{"error VSC305"}, codes("v0.50.0", File{Name: "a.yaml", Text: []byte(sidecar)}))
}

func TestReplaceTag_ReplacesTagByVersion(t *testing.T) {
	for image, want := range map[string]string{
		"vector":                              "vector:0.57.0",
		"vector:0.45.0-alpine":                "vector:0.57.0",
		"r.example:5000/vector":               "r.example:5000/vector:0.57.0",
		"r.example:5000/a/vector:1@sha256:ab": "r.example:5000/a/vector:0.57.0@sha256:ab",
	} {
		require.Equal(t, want, replaceTag(image, "v0.57.0"))
	}
}
