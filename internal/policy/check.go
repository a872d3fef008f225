// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
)

// Check holds an overlay against the policy. The error lists every finding with
// its path in the overlay, and what the platform allows.
func (p *Policy) Check(overlay *corev1.PodTemplateSpec) error {
	c := &checker{Policy: p}
	for _, list := range []struct {
		at         string
		containers []corev1.Container
	}{{"initContainers", overlay.Spec.InitContainers}, {"containers", overlay.Spec.Containers}} {
		for i := range list.containers {
			at := fmt.Sprintf("template.spec.%s[%d]", list.at, i)
			c.image(at, &list.containers[i])
			c.security(at, list.containers[i].SecurityContext)
		}
	}
	judged := overlay.Spec
	judged.Volumes = nil
	for i := range overlay.Spec.Volumes {
		volume := &overlay.Spec.Volumes[i]
		if c.volume(fmt.Sprintf("template.spec.volumes[%d]", i), volume) {
			judged.Volumes = append(judged.Volumes, *volume) // The others are reported already.
		}
	}
	c.keys("template.metadata.labels", overlay.Labels)
	c.keys("template.metadata.annotations", overlay.Annotations)
	c.levels(&overlay.ObjectMeta, &judged)
	return errors.Join(c.findings...)
}

// levels holds sidecars, and the init containers that end, against their levels.
func (c *checker) levels(metadata *metav1.ObjectMeta, spec *corev1.PodSpec) {
	sidecars, ending := *spec, corev1.PodSpec{}
	sidecars.InitContainers = nil
	for i := range spec.InitContainers {
		if spec.InitContainers[i].RestartPolicy == nil {
			ending.InitContainers = append(ending.InitContainers, spec.InitContainers[i])
			continue
		}
		sidecars.InitContainers = append(sidecars.InitContainers, spec.InitContainers[i])
	}
	for _, of := range []struct {
		spec       *corev1.PodSpec
		level, key string
	}{{&sidecars, c.PodSecurity, "podSecurity"}, {&ending, c.InitPodSecurity, "podSecurityOfInitContainers"}} {
		level := api.LevelVersion{Level: api.Level(of.level), Version: api.LatestVersion()}
		if found := c.violation(level, metadata, of.spec); found != "" {
			c.report("template.spec", "it does not pass the Pod Security level %s: %s (%s)", of.level, found, of.key)
		}
	}
}

// checker collects findings.
type checker struct {
	*Policy
	findings []error
}

func (c *checker) report(at, format string, args ...any) {
	c.findings = append(c.findings, fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...)))
}

var digested = regexp.MustCompile(`@[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[0-9a-fA-F]{32,}$`)

func (c *checker) image(at string, container *corev1.Container) {
	at += ".image"
	name := container.Image
	from := func(registry string) bool {
		return name == registry || strings.HasPrefix(name, strings.TrimSuffix(registry, "/")+"/")
	}
	if len(c.Images.Registries) > 0 && !slices.ContainsFunc(c.Images.Registries, from) {
		c.report(at, "%q is from elsewhere than %s (images.registries)", name, strings.Join(c.Images.Registries, ", "))
	}
	isDigested := digested.MatchString(name)
	if c.Images.RequireDigest && !isDigested {
		c.report(at, "%q has no digest, such as @sha256:… (images.requireDigest)", name)
	}
	_, tag, hasTag := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	if c.Images.RequireTag && !isDigested && (!hasTag || tag == "latest" || tag == "") {
		c.report(at, "%q has no tag, or the tag latest, so that nobody knows what runs (images.requireTag)", name)
	}
}

func (c *checker) security(at string, context *corev1.SecurityContext) {
	at += ".securityContext"
	if context == nil {
		context = &corev1.SecurityContext{}
	}
	if context.Capabilities != nil {
		for _, capability := range context.Capabilities.Add {
			if !slices.Contains(c.Capabilities, string(capability)) {
				c.report(at+".capabilities.add", "%s may not be added; %s (capabilities)", capability, allowed(c.Capabilities))
			}
		}
	}
	lowest, highest := c.Users.Min, c.Users.Max
	switch user := context.RunAsUser; {
	case lowest == nil && highest == nil:
	case user == nil:
		c.report(at+".runAsUser", "it names no user; the platform bounds them (users)")
	case lowest != nil && *user < *lowest:
		c.report(at+".runAsUser", "%d is below the lowest user allowed, %d (users.min)", *user, *lowest)
	case highest != nil && *user > *highest:
		c.report(at+".runAsUser", "%d is above the highest user allowed, %d (users.max)", *user, *highest)
	}
}

// volume tells whether the kind of a volume is allowed.
func (c *checker) volume(at string, volume *corev1.Volume) bool {
	before := len(c.findings)
	for _, kind := range kindsOf(volume) {
		if !slices.Contains(c.Volumes.Kinds, kind) {
			help := allowed(c.Volumes.Kinds)
			if kind == "hostPath" {
				help = "it is on the node's file system: use an emptyDir that the application shares"
			}
			c.report(at+"."+kind, "volume %q may not be a %s; %s (volumes.kinds)", volume.Name, kind, help)
		}
	}
	isAllowed := len(c.findings) == before
	if volume.Projected == nil {
		return isAllowed
	}
	for i := range volume.Projected.Sources {
		token := volume.Projected.Sources[i].ServiceAccountToken
		if token != nil && token.Audience != "" && !slices.Contains(c.Volumes.TokenAudiences, token.Audience) {
			c.report(fmt.Sprintf("%s.projected.sources[%d].serviceAccountToken.audience", at, i),
				"no token may be made for %q; %s (volumes.tokenAudiences)", token.Audience, allowed(c.Volumes.TokenAudiences))
		}
	}
	return isAllowed
}

// kindsOf names the sources of a volume as the API does.
func kindsOf(volume *corev1.Volume) []string {
	source := reflect.ValueOf(volume.VolumeSource)
	var kinds []string
	for i := range source.NumField() {
		if !source.Field(i).IsNil() {
			name, _, _ := strings.Cut(source.Type().Field(i).Tag.Get("json"), ",")
			kinds = append(kinds, name)
		}
	}
	return kinds
}

// keys refuses those by which other controllers are told what to do.
func (c *checker) keys(at string, of map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(of)) {
		domain, _, ok := strings.Cut(key, "/")
		for _, reserved := range c.ReservedDomains {
			if ok && (domain == reserved || strings.HasSuffix(domain, "."+reserved)) {
				c.report(at, "%q belongs to whoever acts on the domain %s (reservedDomains)", key, reserved)
			}
		}
	}
}

func allowed(list []string) string {
	if len(list) == 0 {
		return "the platform allows none"
	}
	return "the platform allows " + strings.Join(list, ", ")
}
