// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package policy holds what is injected against what the platform allows, and
// against the Pod Security level of the namespace. It does not know how a sidecar
// came about, and changes none.
package policy

import (
	"crypto/sha256"
	_ "embed" // for the schema
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	podsecurity "k8s.io/pod-security-admission/policy"

	"kontroloop.ai/vector-sidecar-operator/internal/environment"
)

//go:embed schema.json
var schema []byte

// Rules are what a platform may say. What it leaves out is as in Default.
type Rules struct {
	PodSecurity     string       `json:"podSecurity"`
	InitPodSecurity string       `json:"podSecurityOfInitContainers"`
	Images          ImageRules   `json:"images"`
	Volumes         VolumeRules  `json:"volumes"`
	Capabilities    []string     `json:"capabilities"`
	Users           UserRules    `json:"users"`
	ReservedDomains []string     `json:"reservedDomains"`
	Overrides       OverrideRule `json:"overrides"`
}

// ImageRules are about the images of injected containers.
type ImageRules struct {
	Registries    []string `json:"registries"`
	RequireTag    bool     `json:"requireTag"`
	RequireDigest bool     `json:"requireDigest"`
}

// VolumeRules are about volumes that are added or mounted.
type VolumeRules struct {
	Kinds              []string `json:"kinds"`
	TokenAudiences     []string `json:"tokenAudiences"`
	ApplicationSecrets bool     `json:"applicationSecrets"`
}

// UserRules are the bounds of user IDs, nil for none.
type UserRules struct {
	Min *int64 `json:"min"`
	Max *int64 `json:"max"`
}

// OverrideRule lists the paths of values that others may set.
type OverrideRule struct {
	Namespaces []string `json:"namespaces"`
	Workloads  []string `json:"workloads"`
}

// Policy is what a platform allows. It does not change once made.
type Policy struct {
	Rules
	// Digest tells these rules from any others.
	Digest string
	// Given is a digest of what they say beyond Default: what another release allows
	// where the platform says nothing has no part in it.
	Given string
	// Beyond is what they say beyond Default, as a tree. It must not be changed.
	Beyond map[string]any

	evaluator podsecurity.Evaluator
}

// Default is what holds where the platform says nothing: sidecars pass the
// restricted level and init containers baseline, hostPath is refused, and nobody but
// VectorSidecars sets values.
func Default() *Policy {
	made, err := newPolicy(defaultRules())
	if err != nil {
		panic(err) // The checks are compiled in.
	}
	return made
}

func defaultRules() Rules {
	return Rules{
		PodSecurity:     string(api.LevelRestricted),
		InitPodSecurity: string(api.LevelBaseline),
		Volumes: VolumeRules{Kinds: []string{
			"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret",
		}},
		ReservedDomains: []string{"kubernetes.io", "k8s.io", "istio.io", "linkerd.io", "hashicorp.com", "openshift.io"},
	}
}

// Parse reads a platform's rules. The error names source, line and path.
func Parse(source string, text []byte) (*Policy, error) {
	layer, err := environment.ParseLayer(source, text)
	if err != nil {
		return nil, err
	}
	compiled, err := environment.CompileSchema("the policy's schema", schema)
	if err != nil {
		return nil, err
	}
	if err := compiled.Check(&layer); err != nil {
		return nil, err
	}
	rules := defaultRules()
	data, err := json.Marshal(layer.Tree)
	if err == nil {
		err = json.Unmarshal(data, &rules)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	if users := rules.Users; users.Min != nil && users.Max != nil && *users.Min > *users.Max {
		return nil, fmt.Errorf("%s: users.min is %d and users.max is %d: no user is left", layer.Where("users"), *users.Min, *users.Max)
	}
	return newPolicy(rules)
}

func newPolicy(rules Rules) (*Policy, error) {
	evaluator, err := podsecurity.NewEvaluator(podsecurity.DefaultChecks(), nil)
	if err != nil {
		return nil, fmt.Errorf("loading the Pod Security checks: %w", err)
	}
	text, err := json.Marshal(rules)
	if err != nil {
		return nil, fmt.Errorf("writing the policy: %w", err)
	}
	beyond, err := beyondDefault(text)
	if err != nil {
		return nil, fmt.Errorf("comparing the policy with the default one: %w", err)
	}
	given, err := json.Marshal(beyond)
	if err != nil {
		return nil, fmt.Errorf("writing the policy: %w", err)
	}
	return &Policy{Rules: rules, Digest: digestOf(text), Given: digestOf(given), Beyond: beyond, evaluator: evaluator}, nil
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// beyondDefault returns of written rules those that are not as in Default. The chart
// hands over all of them, its own defaults too.
func beyondDefault(text []byte) (map[string]any, error) {
	defaults, err := json.Marshal(defaultRules())
	if err != nil {
		return nil, err
	}
	var all, usual map[string]any
	if err := errors.Join(json.Unmarshal(text, &all), json.Unmarshal(defaults, &usual)); err != nil {
		return nil, err
	}
	return without(all, usual), nil
}

// without returns a tree without what another has as well. Nothing is as good as an
// empty list.
func without(tree, other map[string]any) map[string]any {
	left := map[string]any{}
	for key, value := range tree {
		branch, isMap := value.(map[string]any)
		below, _ := other[key].(map[string]any)
		list, isList := value.([]any)
		switch {
		case isMap:
			if rest := without(branch, below); len(rest) > 0 {
				left[key] = rest
			}
		case reflect.DeepEqual(value, other[key]), isList && len(list) == 0 && other[key] == nil:
		default:
			left[key] = value
		}
	}
	return left
}

// violation is what a Pod Security level finds in a pod, "" for nothing.
func (p *Policy) violation(level api.LevelVersion, metadata *metav1.ObjectMeta, spec *corev1.PodSpec) string {
	result := podsecurity.AggregateCheckResults(p.evaluator.EvaluatePod(level, metadata, spec))
	if result.Allowed {
		return ""
	}
	return result.ForbiddenDetail()
}
