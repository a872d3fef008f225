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

// unaudited lists permissions that no logged request uses: one that the API server checks during other requests,
// and the reads of workloads past a lagging watch. These are rare for kinds with few tests; the code is the same as
// for Deployments. Declared VectorSidecars are created and deleted by tests that run alone, in another process.
var unaudited = []string{
	"update vectorsidecars/finalizers", "get statefulsets", "get daemonsets", "get cronjobs",
	"create vectorsidecars", "delete vectorsidecars", "create clustervectorsidecars", "delete clustervectorsidecars",
}

// auditArgs makes the API server log the operator's requests.
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

// requireAllRightsUsed returns an error if the whole suite, which has exactly the permissions of the chart, did not
// use one of them, because the chart does not need it. A part of the suite is not checked.
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
		// A watch lists first if the API server cannot stream lists.
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

// rightsOf returns the permissions of a ClusterRole, each a verb and a resource.
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

// requested returns the permissions that the requests in an audit log used.
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
