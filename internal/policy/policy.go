// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package policy checks injected content against the rules of the platform, and against the Pod
// Security level of the namespace. It takes an overlay and a view of the workload, and returns
// findings. It does not change the overlay.
package policy

import (
	_ "embed" // for the schema
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	podsecurity "k8s.io/pod-security-admission/policy"

	"kontroloop.ai/vector-sidecar-operator/internal/environment"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	vectorconfig "kontroloop.ai/vector-sidecar-operator/internal/vectorlint/config"
)

//go:embed schema.json
var schema []byte

// Rules are the rules that a platform team may set. Default has the defaults.
type Rules struct {
	PodSecurity      string          `json:"podSecurity"`
	InitPodSecurity  string          `json:"podSecurityOfInitContainers"`
	Images           ImageRules      `json:"images"`
	Volumes          VolumeRules     `json:"volumes"`
	ImagePullSecrets PullSecretRules `json:"imagePullSecrets"`
	Capabilities     []string        `json:"capabilities"`
	Devices          []string        `json:"devices"`
	Users            UserRules       `json:"users"`
	ReservedDomains  []string        `json:"reservedDomains"`
	// ApplicationEnv are the names of the variables that may be injected into application
	// containers.
	ApplicationEnv []string     `json:"applicationEnv"`
	Overrides      OverrideRule `json:"overrides"`
	// Vector restricts the Vector configuration. The configuration check enforces it.
	Vector vectorconfig.Policy `json:"vector"`
}

// ImageRules restrict the images of injected containers and volumes.
type ImageRules struct {
	Registries    []string `json:"registries"`
	RequireTag    bool     `json:"requireTag"`
	RequireDigest bool     `json:"requireDigest"`
}

// VolumeRules restrict volumes that are added or mounted, and volume sources and variables with the
// same content.
type VolumeRules struct {
	Kinds              []string `json:"kinds"`
	CSIDrivers         []string `json:"csiDrivers"`
	TokenAudiences     []string `json:"tokenAudiences"`
	ApplicationSecrets bool     `json:"applicationSecrets"`
	Cleanup            []string `json:"cleanup"`
	// MemorySizeLimit is the largest size of an emptyDir with medium Memory, nil for no limit.
	MemorySizeLimit *resource.Quantity `json:"memorySizeLimit,omitempty"`
}

// PullSecretRules restrict the names of image pull secrets. The pull secrets of the pod's
// ServiceAccount are always allowed, because the pod would have them without a sidecar.
type PullSecretRules struct {
	Allowed []string `json:"allowed"`
}

// UserRules are the bounds of user IDs, nil for no bound.
type UserRules struct {
	Min *int64 `json:"min"`
	Max *int64 `json:"max"`
}

// OverrideRule lists the paths of values that namespaces and workloads may set.
type OverrideRule struct {
	Namespaces []string `json:"namespaces"`
	Workloads  []string `json:"workloads"`
}

// Policy has the rules of a platform. It is immutable.
type Policy struct {
	Rules
	// Digest identifies the rules.
	Digest string
	// ExplicitDigest is a digest of the rules that differ from Default. Defaults are not part of it, because another release may
	// change them, and that alone must not roll workloads.
	ExplicitDigest string
	// Explicit are the explicit rules, which differ from Default, as a tree. It must not be changed.
	Explicit map[string]any

	evaluator podsecurity.Evaluator
	// current is the policy in force if this policy belongs to an earlier revision, nil otherwise.
	current  *Policy
	revision string
}

// Default returns the policy of a platform that sets no rules: sidecars must pass the restricted
// level and init containers the baseline level, hostPath is rejected, and only VectorSidecars set
// values.
func Default() *Policy {
	policy, err := newPolicy(defaultRules())
	if err != nil {
		panic(err) // The checks are compiled into the binary.
	}
	return policy
}

// defaultRules returns the rules of Default.
func defaultRules() Rules {
	return Rules{
		PodSecurity:     string(api.LevelRestricted),
		InitPodSecurity: string(api.LevelBaseline),
		Volumes: VolumeRules{
			Kinds: []string{
				"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret", "serviceAccountToken",
			},
			Cleanup: []string{"emptyDir", "ephemeral"},
		},
		ReservedDomains: []string{
			"kubernetes.io", "k8s.io", "istio.io", "linkerd.io", "hashicorp.com", "openshift.io",
			// Networks by Multus, devices by runtime plugins, cloud roles.
			"cni.cncf.io", "multus-cni.io", "nri.io", "amazonaws.com", "azure.workload.identity",
			// Container runtimes. Domains that end in a dot are written in reverse.
			"crio.io", "cri-o.io", "io.kubernetes.cri-o.", "io.containers.", "io.katacontainers.", "org.systemd.property.",
		},
	}
}

// Parse parses a platform's rules. The error names source, line and path.
func Parse(source string, text []byte) (*Policy, error) {
	layer, err := environment.ParseLayer(source, text)
	if err != nil {
		return nil, err
	}
	return parseLayer(&layer)
}

// ParseExplicit parses the stored form of a policy: Policy.Explicit as JSON.
func ParseExplicit(source string, text []byte) (*Policy, error) {
	layer, err := environment.ParseStored(source, text)
	if err != nil {
		return nil, err
	}
	return parseLayer(&layer)
}

// parseLayer returns the policy for a layer of rules, after checking them against the schema. Missing rules have
// their defaults.
func parseLayer(layer *environment.Layer) (*Policy, error) {
	compiled, err := environment.CompileSchema("the policy's schema", schema)
	if err != nil {
		return nil, err
	}
	if err := compiled.Check(layer); err != nil {
		return nil, err
	}
	rules := defaultRules()
	data, err := json.Marshal(layer.Tree)
	if err == nil {
		err = json.Unmarshal(data, &rules)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", layer.Name, err)
	}
	if users := rules.Users; users.Min != nil && users.Max != nil && *users.Min > *users.Max {
		return nil, fmt.Errorf("%s: users.min %d exceeds users.max %d", layer.Position("users"), *users.Min, *users.Max)
	}
	if err := rules.Vector.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", layer.Position("vector"), err)
	}
	return newPolicy(rules)
}

// newPolicy returns a policy with its digests and the Pod Security checks.
func newPolicy(rules Rules) (*Policy, error) {
	evaluator, err := podsecurity.NewEvaluator(podsecurity.DefaultChecks(), nil)
	if err != nil {
		return nil, fmt.Errorf("loading the Pod Security checks: %w", err)
	}
	text, err := json.Marshal(rules)
	if err != nil {
		return nil, fmt.Errorf("writing the policy: %w", err)
	}
	explicit, err := explicitRules(text)
	if err != nil {
		return nil, fmt.Errorf("comparing the policy with the default one: %w", err)
	}
	explicitText, err := json.Marshal(explicit)
	if err != nil {
		return nil, fmt.Errorf("writing the policy: %w", err)
	}
	return &Policy{Rules: rules, Digest: digestText(text), ExplicitDigest: digestText(explicitText), Explicit: explicit, evaluator: evaluator}, nil
}

// digestText returns a digest of a text with 16 hexadecimal digits.
func digestText(text []byte) string { return meta.Digest(text, 8) }

// explicitRules returns the rules that differ from Default. The chart passes all rules, including
// its own defaults.
func explicitRules(text []byte) (map[string]any, error) {
	defaults, err := json.Marshal(defaultRules())
	if err != nil {
		return nil, err
	}
	var rulesTree, defaultsTree map[string]any
	if err := errors.Join(json.Unmarshal(text, &rulesTree), json.Unmarshal(defaults, &defaultsTree)); err != nil {
		return nil, err
	}
	return subtractTree(rulesTree, defaultsTree), nil
}

// subtractTree returns a tree without the values that it has in common with another tree. A missing list
// equals an empty list.
func subtractTree(tree, defaults map[string]any) map[string]any {
	difference := map[string]any{}
	for key, value := range tree {
		branch, isMap := value.(map[string]any)
		branchDefaults, _ := defaults[key].(map[string]any)
		list, isList := value.([]any)
		switch {
		case isMap:
			if remaining := subtractTree(branch, branchDefaults); len(remaining) > 0 {
				difference[key] = remaining
			}
		case reflect.DeepEqual(value, defaults[key]), isList && len(list) == 0 && defaults[key] == nil:
		default:
			difference[key] = value
		}
	}
	return difference
}

// describeViolations returns the violations of a Pod Security level in a pod, or "" for none.
func (p *Policy) describeViolations(level api.LevelVersion, metadata *metav1.ObjectMeta, spec *corev1.PodSpec) string {
	result := podsecurity.AggregateCheckResults(p.evaluator.EvaluatePod(level, metadata, spec))
	if result.Allowed {
		return ""
	}
	return result.ForbiddenDetail()
}
