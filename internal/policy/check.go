// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Check checks an overlay against the policy: the template, and the mounts that it adds to
// containers of the application. The error lists every finding with its path in the overlay, and
// the values that the platform allows.
func (p *Policy) Check(overlay *corev1.PodTemplateSpec, mounts []workload.Mount) error {
	return p.CheckEach(func(rules *Policy) error { return rules.check(overlay, mounts) })
}

// check does the same as Check, for the rules of this policy only.
func (p *Policy) check(overlay *corev1.PodTemplateSpec, mounts []workload.Mount) error {
	c := &checker{policy: p, overlay: overlay, refused: map[string]bool{}}
	c.checkValue(position{path: "template"}, reflect.ValueOf(overlay).Elem())
	for _, list := range []struct {
		field      string
		containers []corev1.Container
	}{{"initContainers", overlay.Spec.InitContainers}, {"containers", overlay.Spec.Containers}} {
		for i := range list.containers {
			c.checkUser(position{path: fmt.Sprintf("template.spec.%s[%d].securityContext.runAsUser", list.field, i)}, list.containers[i].SecurityContext)
		}
	}
	checkedSpec := overlay.Spec
	checkedSpec.Volumes = slices.DeleteFunc(slices.Clone(checkedSpec.Volumes), func(v corev1.Volume) bool { return c.refused[v.Name] })
	c.checkPodSecurity(&overlay.ObjectMeta, &checkedSpec)
	c.checkMemoryVolumes(mounts)
	for i := range mounts {
		c.checkPropagation(mounts[i].Container, []corev1.VolumeMount{mounts[i].VolumeMount}, c.policy.PodSecurity, "podSecurity")
	}
	return errors.Join(c.findings...)
}

// checkPodSecurity checks sidecars and other init containers against their Pod Security levels.
func (c *checker) checkPodSecurity(metadata *metav1.ObjectMeta, spec *corev1.PodSpec) {
	sidecars, ending := *spec, corev1.PodSpec{}
	sidecars.InitContainers = nil
	for i := range spec.InitContainers {
		if spec.InitContainers[i].RestartPolicy == nil {
			ending.InitContainers = append(ending.InitContainers, spec.InitContainers[i])
			continue
		}
		sidecars.InitContainers = append(sidecars.InitContainers, spec.InitContainers[i])
	}
	for _, group := range []struct {
		spec       *corev1.PodSpec
		level, key string
	}{{&sidecars, c.policy.PodSecurity, "podSecurity"}, {&ending, c.policy.InitPodSecurity, "podSecurityOfInitContainers"}} {
		level := api.LevelVersion{Level: api.Level(group.level), Version: api.LatestVersion()}
		if violation := c.policy.describeViolations(level, metadata, group.spec); violation != "" {
			c.report(position{path: "template.spec"}, "does not pass the Pod Security level %s (policy.%s): %s", group.level, group.key, violation)
		}
		for _, container := range slices.Concat(group.spec.InitContainers, group.spec.Containers) {
			c.checkPropagation(container.Name, container.VolumeMounts, group.level, group.key)
		}
	}
}

// checkPropagation rejects mounts that propagate from the node to a container, or back. No Pod Security
// level covers this, because the API server requires a privileged container, and the application
// may have one.
func (c *checker) checkPropagation(container string, mounts []corev1.VolumeMount, level, key string) {
	for _, mount := range mounts {
		if mode := ptr.Deref(mount.MountPropagation, corev1.MountPropagationNone); mode != corev1.MountPropagationNone && level != string(api.LevelPrivileged) {
			c.report(position{path: "template.spec"}, "mountPropagation %s of volume %q in container %q requires the Pod Security level privileged, but the level %s is allowed (policy.%s)", mode, mount.Name, container, level, key)
		}
	}
}

// checker collects the findings about one overlay.
type checker struct {
	policy   *Policy
	overlay  *corev1.PodTemplateSpec
	findings []error
	// refused are the names of volumes with a kind that is not allowed. Other findings about them are not reported.
	refused map[string]bool
}

// report adds a finding with the path of its position.
func (c *checker) report(pos position, format string, args ...any) {
	c.findings = append(c.findings, fmt.Errorf("%s: %s", pos.path, fmt.Sprintf(format, args...)))
}

// checkPullSecrets checks the names of the image pull secrets.
func (c *checker) checkPullSecrets(pos position, secrets reflect.Value, _ *Line) {
	for i := range secrets.Len() {
		name := secrets.Index(i).FieldByName("Name").String()
		if !slices.Contains(c.policy.ImagePullSecrets.Allowed, name) {
			c.report(pos.itemPosition(i, secrets.Index(i)), "images may not be pulled with the Secret %q; the platform allows %s (policy.imagePullSecrets.allowed)", name, describeAllowed(c.policy.ImagePullSecrets.Allowed))
		}
	}
}

// checkCapabilities checks added capabilities.
func (c *checker) checkCapabilities(pos position, added reflect.Value, _ *Line) {
	for i := range added.Len() {
		if name := added.Index(i).String(); !slices.Contains(c.policy.Capabilities, name) {
			c.report(pos, "capability %s may not be added; the platform allows %s (policy.capabilities)", name, describeAllowed(c.policy.Capabilities))
		}
	}
}

// checkUser checks the user of a container, even if none is set.
func (c *checker) checkUser(pos position, context *corev1.SecurityContext) {
	if context == nil {
		context = &corev1.SecurityContext{}
	}
	lowest, highest := c.policy.Users.Min, c.policy.Users.Max
	switch user := context.RunAsUser; {
	case lowest == nil && highest == nil:
	case user == nil:
		c.report(pos, "runAsUser is not set, but the policy limits user IDs (policy.users); set runAsUser")
	case lowest != nil && *user < *lowest:
		c.report(pos, "user ID %d is below the minimum, %d (policy.users.min)", *user, *lowest)
	case highest != nil && *user > *highest:
		c.report(pos, "user ID %d is above the maximum, %d (policy.users.max)", *user, *highest)
	}
}

// checkVolume checks the source of a volume.
func (c *checker) checkVolume(pos position, _ reflect.Value, line *Line) {
	if slices.Contains(c.policy.Volumes.Kinds, line.Kind) {
		return
	}
	c.refused[pos.name] = true
	help := "the platform allows " + describeAllowed(c.policy.Volumes.Kinds)
	if line.Kind == "hostPath" {
		help = "use an emptyDir that the application shares, not the node's file system"
	}
	c.report(pos, "volume %q may not be of kind %s; %s (policy.volumes.kinds)", pos.name, line.Kind, help)
}

// checkVolumeKind reports a projected source or a variable with content of a volume kind that the policy does not
// allow, such as a Secret.
func (c *checker) checkVolumeKind(pos position, _ reflect.Value, line *Line) {
	if !slices.Contains(c.policy.Volumes.Kinds, line.Kind) {
		c.report(pos, "container or volume %q may not use %s, which is of volume kind %s; the platform allows %s (policy.volumes.kinds)", pos.name, line.Grant, line.Kind, describeAllowed(c.policy.Volumes.Kinds))
	}
}

// rejectField reports a field that no policy allows.
func (c *checker) rejectField(pos position, _ reflect.Value, line *Line) {
	c.report(pos, "volume %q may not use %s; no policy allows it", pos.name, line.Grant)
}

// checkRestartPolicy checks the action of a restart rule.
func (c *checker) checkRestartPolicy(pos position, field reflect.Value, _ *Line) {
	if action := field.String(); action != string(corev1.ContainerRestartRuleActionRestart) {
		c.report(pos, "container %q may not restart other containers by the action %s; no policy allows it, use Restart", pos.name, action)
	}
}

// checkDriver checks the name of a CSI driver.
func (c *checker) checkDriver(pos position, field reflect.Value, _ *Line) {
	if name := field.String(); !slices.Contains(c.policy.Volumes.CSIDrivers, name) {
		c.report(pos, "volume %q may not be of the CSI driver %s; the platform allows %s (policy.volumes.csiDrivers)", pos.name, name, describeAllowed(c.policy.Volumes.CSIDrivers))
	}
}

// checkAudience checks the audience of a token. A token without an audience is for the API server.
func (c *checker) checkAudience(pos position, field reflect.Value, _ *Line) {
	if audience := field.String(); !slices.Contains(c.policy.Volumes.TokenAudiences, audience) {
		c.report(pos, "token for audience %q is not allowed; the platform allows %s (policy.volumes.tokenAudiences)", audience, describeAllowed(c.policy.Volumes.TokenAudiences))
	}
}

// checkResources checks resources that device plugins provide, and not the node.
func (c *checker) checkResources(pos position, amounts reflect.Value, _ *Line) {
	for _, name := range sortedKeys(amounts) {
		if strings.Contains(name, "/") {
			c.checkDevice(pos, name)
		}
	}
}

// checkClaims checks the pod's resource claims that a container uses.
func (c *checker) checkClaims(pos position, claims reflect.Value, _ *Line) {
	for i := range claims.Len() {
		c.checkDevice(pos, claims.Index(i).FieldByName("Name").String())
	}
}

// checkDevice checks the name of a device or a resource claim.
func (c *checker) checkDevice(pos position, name string) {
	if !slices.Contains(c.policy.Devices, name) {
		c.report(pos, "container %q may not use the device %q; the platform allows %s (policy.devices)", pos.name, name, describeAllowed(c.policy.Devices))
	}
}

// checkKeys rejects labels and annotations that instruct other controllers or the container runtime.
func (c *checker) checkKeys(pos position, entries reflect.Value, _ *Line) {
	isPods := pos.path == "template.metadata.annotations"
	for _, key := range sortedKeys(entries) {
		for _, reserved := range c.policy.ReservedDomains {
			switch {
			case !isReserved(key, reserved), isPods && isExcepted(key, reserved, c.overlay):
			case isPods && key == meta.AnnotationEvictableVolumes:
				c.report(pos, "annotation %q may name only volumes of the sidecar, below the domain %s (policy.reservedDomains); see sidecar.data.evictable", key, reserved)
			default:
				c.report(pos, "key %q is in the reserved domain %s (policy.reservedDomains); use a key of another domain", key, reserved)
			}
		}
	}
}

// Reserves returns the reserved domain that contains the key of a pod annotation, or "" if its domain is not reserved.
func (p *Policy) Reserves(key string, overlay *corev1.PodTemplateSpec) string {
	for _, domain := range p.ReservedDomains {
		if isReserved(key, domain) && !isExcepted(key, domain, overlay) {
			return domain
		}
	}
	if p.current != nil {
		return p.current.Reserves(key, overlay)
	}
	return ""
}

// isExcepted reports whether the overlay may set a pod annotation although its domain is below a reserved domain. Only
// the annotation that lists evictable volumes for the Cluster Autoscaler is an exception. It must not name volumes of
// the application, and the platform must not reserve exactly its domain.
func isExcepted(key, reserved string, overlay *corev1.PodTemplateSpec) bool {
	domain, _, _ := strings.Cut(meta.AnnotationEvictableVolumes, "/")
	if key != meta.AnnotationEvictableVolumes || reserved == domain {
		return false
	}
	isOurs := func(name string) bool {
		isIt := func(v corev1.Volume) bool { return v.Name == name }
		return strings.HasPrefix(name, meta.VolumePrefix) || slices.ContainsFunc(overlay.Spec.Volumes, isIt)
	}
	for name := range strings.SplitSeq(overlay.Annotations[key], ",") {
		if !isOurs(name) {
			return false
		}
	}
	return true
}

// sortedKeys returns the sorted keys of a map.
func sortedKeys(entries reflect.Value) []string {
	keys := make([]string, 0, entries.Len())
	for _, key := range entries.MapKeys() {
		keys = append(keys, key.String())
	}
	slices.Sort(keys)
	return keys
}

// isReserved reports whether a key belongs to a domain or to one of its subdomains. A domain that ends in a dot is a
// prefix of the key, because container runtimes write their domains in reverse.
func isReserved(key, domain string) bool {
	if strings.HasSuffix(domain, ".") {
		return strings.HasPrefix(key, domain)
	}
	keyDomain, _, _ := strings.Cut(key, "/")
	return keyDomain == domain || strings.HasSuffix(keyDomain, "."+domain)
}

// describeAllowed returns the allowed values as the end of a message.
func describeAllowed(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
