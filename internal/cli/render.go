// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/offline"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/platform"
	"kontroloop.ai/vector-sidecar-operator/internal/sidecarchart"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// renderOptions are the flags of render.
type renderOptions struct {
	chart       fs.FS
	files       []string
	sidecar     string
	environment string
	values      string
	labels      map[string]string
	kubeVersion string
}

func newRender(chart fs.FS) *cobra.Command {
	options := renderOptions{chart: chart}
	var templates string
	command := &cobra.Command{
		Use:   "render -f WORKLOAD --sidecar VECTORSIDECAR",
		Short: "Print workloads as they would be with the sidecar, and the objects made for it",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if templates != "" {
				if _, err := os.Stat(templates); err != nil {
					return fmt.Errorf("reading the sidecar chart: %w", err)
				}
				options.chart = os.DirFS(templates)
			}
			return options.run(command.Context(), command.OutOrStdout())
		},
	}
	flags := command.Flags()
	flags.StringArrayVarP(&options.files, "filename", "f", nil, "file with Deployments and ConfigMaps, - for the standard input; may be repeated")
	flags.StringVar(&options.sidecar, "sidecar", "", "file with the VectorSidecar")
	flags.StringVar(&options.environment, "environment", "development", "environment, if the VectorSidecar names none")
	flags.StringVar(&options.values, "values", "", "file with values of the installation for that environment, as given to helm install")
	flags.StringToStringVar(&options.labels, "label", nil, "label KEY=VALUE to give the workloads first, to see what it would do; may be repeated")
	flags.StringVar(&templates, "templates", "", "folder of a sidecar chart in place of the built-in one")
	flags.StringVar(&options.kubeVersion, "kube-version", "v1.36.0", "version of the API server to render for")
	for _, name := range []string{"filename", "sidecar"} {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err) // The flags are defined above.
		}
	}
	return command
}

func (o *renderOptions) run(ctx context.Context, out io.Writer) error {
	input, err := readInput(o.files, o.sidecar)
	if err != nil {
		return err
	}
	snapshot, err := o.snapshot(input)
	if err != nil {
		return err
	}
	decided, err := decision.Decide(ctx, snapshot, nil)
	if err != nil {
		return err
	}
	if decided.Invalid != nil {
		return fmt.Errorf("%s: %s", decided.Invalid.Reason, decided.Invalid.Message)
	}
	return printDecision(out, input, decided)
}

func (o *renderOptions) snapshot(input *input) (*decision.Snapshot, error) {
	chart, err := sidecarchart.Load(o.chart)
	if err != nil {
		return nil, err
	}
	installation := map[string]string{}
	if o.values != "" {
		text, err := os.ReadFile(o.values)
		if err != nil {
			return nil, fmt.Errorf("reading values: %w", err)
		}
		installation[o.environment+".yaml"] = string(text)
		if installation[platform.PolicyKey], err = policyIn(text); err != nil {
			return nil, fmt.Errorf("%s: %w", o.values, err)
		}
	}
	snapshot := &decision.Snapshot{
		Sidecar: input.sidecar, Platform: platform.Of(chart, o.values, installation),
		DefaultEnvironment: o.environment, KubeVersion: o.kubeVersion,
		ConfigMap: input.configMap,
	}
	for _, deployment := range input.deployments {
		for key, value := range o.labels {
			metav1.SetMetaDataLabel(&deployment.ObjectMeta, key, value)
		}
		snapshot.Workloads = append(snapshot.Workloads, workload.Of(deployment))
	}
	return snapshot, nil
}

// policyIn is the part of the installation's values that is its policy.
func policyIn(values []byte) (string, error) {
	var given struct {
		Policy map[string]any `json:"policy"`
	}
	if err := yaml.Unmarshal(values, &given); err != nil {
		return "", nil //nolint:nilerr // Reading the values as such says it better.
	}
	text, err := yaml.Marshal(given.Policy)
	return string(text), err
}

// printDecision prints companions and then every workload, merged or as it is.
func printDecision(out io.Writer, input *input, decided *decision.Decision) error {
	for i := range decided.Companions {
		companion := decided.Companions[i]
		companion.APIVersion, companion.Kind = "v1", "ConfigMap"
		if err := printObject(out, companion); err != nil {
			return err
		}
	}
	merger, err := offline.New()
	if err != nil {
		return err
	}
	for _, deployment := range input.deployments {
		p := planOf(decided, deployment.Name)
		switch {
		case p == nil || p.Action == plan.None:
			if err := printObject(out, deployment); err != nil {
				return err
			}
			continue
		case !p.Writes():
			return fmt.Errorf("%s: %s: %s", status.Object(p.Target), p.Reason, p.Message)
		}
		merged, err := merger.Deployment(deployment, p)
		if err != nil {
			return fmt.Errorf("%s: %w", status.Object(p.Target), err)
		}
		if err := printObject(out, merged.Object); err != nil {
			return err
		}
	}
	return nil
}

func planOf(decided *decision.Decision, name string) *plan.Plan {
	for i := range decided.Plans {
		if decided.Plans[i].Target.Name == name {
			return &decided.Plans[i]
		}
	}
	return nil
}

// printObject prints a YAML document without what only an API server fills in.
func printObject(out io.Writer, object any) error {
	text, err := yaml.Marshal(object)
	if err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	var tree map[string]any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	delete(tree, "status")
	if metadata, ok := tree["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
	}
	dropNullTimestamps(tree)
	text, err = yaml.Marshal(tree)
	if err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	_, err = io.WriteString(out, "---\n"+strings.TrimPrefix(string(text), "---\n"))
	return err
}

// dropNullTimestamps removes "creationTimestamp: null", which typed objects print.
func dropNullTimestamps(node any) {
	switch v := node.(type) {
	case map[string]any:
		if at, ok := v["creationTimestamp"]; ok && at == nil {
			delete(v, "creationTimestamp")
		}
		for _, item := range v {
			dropNullTimestamps(item)
		}
	case []any:
		for _, item := range v {
			dropNullTimestamps(item)
		}
	}
}
