// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"reflect"
	"strings"
)

// Line is a line of the policy's table of fields. It describes the content that one field of a pod template adds to the
// pod, and names the keys of the policy that restrict the field.
type Line struct {
	// Field is the field with the name of its type, such as Container.image.
	Field string
	// Grant describes the content that the field adds, or is Nothing or Refinement.
	Grant string
	// Keys are the policy's keys. The first covers the field itself. Nothing, Refinement and fields that no policy
	// allows have no keys.
	Keys []string
	// Kind is the entry of volumes.kinds that the field needs, "" for none.
	Kind string

	// check reports the parts of the field that are not allowed. It is nil if more than one field
	// decides: for podSecurity, users, applicationSecrets and memorySizeLimit.
	check checkFunc
}

// checkFunc checks a field with a value against its line in the table.
type checkFunc func(c *checker, pos position, field reflect.Value, line *Line)

// These constants are values of Line.Grant.
const (
	// Nothing means that the field adds no content that is not in the pod or in the images.
	Nothing = "nothing"
	// Refinement means that the field only refines the field above it, which is checked.
	Refinement = "part of the parent field"
)

// NotAllowed reports whether no policy allows the field, so that only the application owner may set
// it.
func (l *Line) NotAllowed() bool {
	return len(l.Keys) == 0 && l.Grant != Nothing && l.Grant != Refinement
}

const (
	byImages       = "images.registries, images.requireTag, images.requireDigest"
	byKinds        = "volumes.kinds"
	byKindAndLevel = "volumes.kinds, podSecurity"
	bySecrets      = "volumes.kinds, volumes.applicationSecrets"
	byLevel        = "podSecurity"
	byNobody       = ""

	// sameAsField means that the kind has the field's name.
	sameAsField = "="
)

// groups are the lines of the fields that add content to the pod.
var groups = []struct {
	fields, grant, keys, kind string
	check                     checkFunc
}{
	{"Container.image ImageVolumeSource.reference", "an image", byImages, "", (*checker).checkImage},

	{
		"VolumeProjection.secret EnvVarSource.secretKeyRef EnvFromSource.secretRef" +
			" CSIVolumeSource.nodePublishSecretRef FlexVolumeSource.secretRef CephFSVolumeSource.secretRef RBDVolumeSource.secretRef" +
			" ISCSIVolumeSource.secretRef CinderVolumeSource.secretRef ScaleIOVolumeSource.secretRef StorageOSVolumeSource.secretRef" +
			" AzureFileVolumeSource.secretName",
		"a Secret", bySecrets, "secret", (*checker).checkVolumeKind,
	},
	{"WindowsSecurityContextOptions.gmsaCredentialSpec WindowsSecurityContextOptions.gmsaCredentialSpecName", "credentials of Active Directory", byKinds, "secret", (*checker).checkVolumeKind},
	{"VolumeProjection.configMap EnvVarSource.configMapKeyRef EnvFromSource.configMapRef", "a ConfigMap", byKinds, "configMap", (*checker).checkVolumeKind},
	{"VolumeProjection.downwardAPI", "data of the pod itself", byKinds, sameAsField, (*checker).checkVolumeKind},
	{"VolumeProjection.serviceAccountToken", "a token of the pod's service account", byKinds, sameAsField, (*checker).checkVolumeKind},
	{"ServiceAccountTokenProjection.audience", "a token for audiences other than the API server", "volumes.tokenAudiences", "", (*checker).checkAudience},
	{"VolumeProjection.podCertificate", "a certificate in the pod's name", byKinds, sameAsField, (*checker).checkVolumeKind},
	{"VolumeProjection.clusterTrustBundle", "certificates to trust", byKinds, sameAsField, (*checker).checkVolumeKind},

	{"VolumeSource.secret", "a Secret", bySecrets, sameAsField, (*checker).checkVolume},
	{"VolumeSource.configMap", "a ConfigMap", byKinds, sameAsField, (*checker).checkVolume},
	{"VolumeSource.downwardAPI", "data of the pod itself", byKinds, sameAsField, (*checker).checkVolume},
	{"VolumeSource.projected", "several of the sources above as one volume", byKinds, sameAsField, (*checker).checkVolume},
	{"VolumeSource.image", "the files of an image", byKinds, sameAsField, (*checker).checkVolume},
	{"VolumeSource.emptyDir", "disk or memory of the node", byKinds, sameAsField, (*checker).checkVolume},
	{"EmptyDirVolumeSource.medium", "memory of the node", "volumes.memorySizeLimit", "", nil},
	{"VolumeSource.persistentVolumeClaim", "the content of a claim", byKinds, sameAsField, (*checker).checkVolume},
	{"VolumeSource.ephemeral", "a claim of the pod, with its data source", byKinds, sameAsField, (*checker).checkVolume},
	{"PersistentVolumeClaimSpec.dataSource PersistentVolumeClaimSpec.dataSourceRef", "the content of another claim or a snapshot", byKinds, "persistentVolumeClaim", (*checker).checkVolumeKind},
	{
		"PersistentVolumeClaimSpec.volumeName PersistentVolumeClaimSpec.selector TypedObjectReference.namespace",
		"a specific volume, or content of another namespace", byNobody, "", (*checker).rejectField,
	},
	{"VolumeSource.csi", "content from a driver", byKinds, sameAsField, (*checker).checkVolume},
	{"CSIVolumeSource.driver", "content from this driver, for any request", "volumes.csiDrivers", "", (*checker).checkDriver},
	{"VolumeSource.hostPath", "files, devices and sockets of the node", byKindAndLevel, sameAsField, (*checker).checkVolume},
	{"VolumeSource.flexVolume", "content from a program on the node", byKindAndLevel, sameAsField, (*checker).checkVolume},
	{"VolumeSource.gitRepo", "a repository that the node fetches", byKindAndLevel, sameAsField, (*checker).checkVolume},
	{
		"VolumeSource.awsElasticBlockStore VolumeSource.azureDisk VolumeSource.azureFile VolumeSource.cephfs VolumeSource.cinder" +
			" VolumeSource.fc VolumeSource.flocker VolumeSource.gcePersistentDisk VolumeSource.glusterfs VolumeSource.iscsi VolumeSource.nfs" +
			" VolumeSource.photonPersistentDisk VolumeSource.portworxVolume VolumeSource.quobyte VolumeSource.rbd VolumeSource.scaleIO" +
			" VolumeSource.storageos VolumeSource.vsphereVolume",
		"a disk of a network or a cloud", byKindAndLevel, sameAsField, (*checker).checkVolume,
	},

	{"VolumeMount.name VolumeDevice.name FileKeySelector.volumeName", "the content of the application's volumes", "volumes.applicationSecrets", "", nil},
	{"VolumeMount.mountPropagation", "mounts of the node", byLevel, "", nil},
	{"ResourceRequirements.limits ResourceRequirements.requests", "devices of the node, as extended resources", "devices", "", (*checker).checkResources},
	{"ResourceRequirements.claims", "devices that the pod has claimed", "devices", "", (*checker).checkClaims},
	{"ContainerRestartRule.action", "a restart of the application, by all values except `Restart`", byNobody, "", (*checker).checkRestartPolicy},
	{"ContainerPort.hostPort", "a port of the node", byLevel, "", nil},
	{"HTTPGetAction.host TCPSocketAction.host", "responses to the kubelet from an address outside the pod", byLevel, "", nil},
	{"Capabilities.add", "capabilities", "capabilities, podSecurity", "", (*checker).checkCapabilities},
	{"SecurityContext.runAsUser", "the rights of a user", "users.min, users.max, podSecurity", "", nil},
	{"SecurityContext.privileged WindowsSecurityContextOptions.hostProcess", "the node", byLevel, "", nil},
	{
		"SecurityContext.allowPrivilegeEscalation SecurityContext.runAsNonRoot SecurityContext.procMount Capabilities.drop" +
			" SeccompProfile.type AppArmorProfile.type SELinuxOptions.user SELinuxOptions.role SELinuxOptions.type",
		"more rights than a container needs", byLevel, "", nil,
	},
	{"ObjectMeta.annotations ObjectMeta.labels", "any effect of another controller or the container runtime", "reservedDomains", "", (*checker).checkKeys},

	{
		"PodSpec.hostNetwork PodSpec.hostPID PodSpec.hostIPC PodSpec.hostUsers PodSpec.shareProcessNamespace",
		"namespaces of the node or of other containers", byNobody, "", nil,
	},
	{"PodSpec.serviceAccountName PodSpec.serviceAccount PodSpec.automountServiceAccountToken", "a token of a service account", byNobody, "", nil},
	{"PodSpec.imagePullSecrets", "a Secret that images are pulled with", "imagePullSecrets.allowed", "", (*checker).checkPullSecrets},
	{"PodSpec.resourceClaims", "devices", byNobody, "", nil},
	{"PodSpec.ephemeralContainers", "more containers", byNobody, "", nil},
	{"PodSpec.securityContext PodSpec.runtimeClassName", "other rights for the whole pod", byNobody, "", nil},
	{
		"PodSpec." + strings.Join(strings.Fields("activeDeadlineSeconds affinity dnsConfig dnsPolicy enableServiceLinks evictionResponders"+
			" hostAliases hostname hostnameOverride nodeName nodeSelector os overhead preemptionPolicy priority priorityClassName"+
			" readinessGates resources restartPolicy schedulerName schedulingGates schedulingGroup setHostnameAsFQDN"+
			" subdomain terminationGracePeriodSeconds tolerations topologySpreadConstraints"), " PodSpec."),
		"another node, name, lifetime or size for the whole pod", byNobody, "", nil,
	},
}

// lines has a line for every field of a pod template.
var lines = func() map[string]*Line {
	byField := map[string]*Line{}
	for _, group := range groups {
		for _, field := range strings.Fields(group.fields) {
			_, name, _ := strings.Cut(field, ".")
			byField[field] = &Line{
				Field: field, Grant: group.grant, Keys: strings.FieldsFunc(group.keys, isBetweenKeys),
				Kind: strings.ReplaceAll(group.kind, sameAsField, name), check: group.check,
			}
		}
	}
	for grant, types := range map[string]map[string]string{Refinement: refinements, Nothing: harmless} {
		for typeName, fields := range types {
			for _, field := range strings.Fields(fields) {
				byField[typeName+"."+field] = &Line{Field: typeName + "." + field, Grant: grant}
			}
		}
	}
	return byField
}()

// isBetweenKeys reports whether a character separates keys in a list: a comma or a space.
func isBetweenKeys(r rune) bool { return r == ',' || r == ' ' }

// LineFor returns the line of a field, nil if it has none.
func LineFor(field string) *Line { return lines[field] }
