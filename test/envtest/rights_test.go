// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// unaudited are the rights that no request shows: one that the API server asks for itself
// when another request is made, and those to read a workload past a watch that is behind.
// Whether that is needed is a matter of chance for kinds that few tests are about; the code
// is the one that reads Deployments.
var unaudited = []string{"update vectorsidecars/finalizers", "get statefulsets", "get daemonsets", "get cronjobs"}

// auditArgs have the API server write down what the operator asks it for.
func auditArgs(folder string) (args map[string]string, log string, err error) {
	policy, log := filepath.Join(folder, "audit-policy.yaml"), filepath.Join(folder, "audit.log")
	text := fmt.Sprintf(`apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - {level: Metadata, users: ["system:serviceaccount:%s:%s"]}
  - {level: None}
`, harness.AccountNamespace, harness.Account)
	err = os.WriteFile(policy, []byte(text), 0o600)
	return map[string]string{"audit-policy-file": policy, "audit-log-path": log, "audit-log-mode": "blocking"}, log, err
}

// requireAllRightsUsed is an error if the whole suite, all of which ran with the
// chart's role and no other rights, did without one of them: then the chart should,
// too. Of a part of the suite nothing follows.
func requireAllRightsUsed(role []byte, log string) error {
	if flag.Lookup("test.run").Value.String() != "" {
		return nil
	}
	granted, err := rightsOf(role)
	if err != nil {
		return err
	}
	used, err := requested(log)
	if err != nil {
		return err
	}
	var idle []string
	for _, right := range granted {
		// Who watches lists first, where the API server cannot stream a list.
		if verb, resource, _ := strings.Cut(right, " "); verb == "list" && used["watch "+resource] {
			continue
		}
		if !used[right] && !slices.Contains(unaudited, right) {
			idle = append(idle, right)
		}
	}
	if len(idle) > 0 {
		return fmt.Errorf("the chart's role has rights that no test needs: %q", idle)
	}
	return nil
}

// rightsOf are those of a ClusterRole, each a verb and a resource.
func rightsOf(manifest []byte) ([]string, error) {
	var role rbacv1.ClusterRole
	if err := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096).Decode(&role); err != nil {
		return nil, fmt.Errorf("reading the chart's role: %w", err)
	}
	var rights []string
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				rights = append(rights, verb+" "+resource)
			}
		}
	}
	if len(rights) == 0 {
		return nil, fmt.Errorf("the chart's role is empty: %s", manifest)
	}
	return rights, nil
}

// requested are the rights that requests in an audit log made use of.
func requested(log string) (map[string]bool, error) {
	text, err := os.ReadFile(log)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for line := range bytes.Lines(text) {
		var event struct {
			Verb      string
			ObjectRef struct{ Resource, Subresource string }
		}
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		resource := event.ObjectRef.Resource
		if event.ObjectRef.Subresource != "" {
			resource += "/" + event.ObjectRef.Subresource
		}
		used[event.Verb+" "+resource] = true
	}
	return used, nil
}
