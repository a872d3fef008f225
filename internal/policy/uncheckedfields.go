// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package policy

// refinements are the fields, by type, that only refine a field that is checked.
var refinements = map[string]string{
	"LocalObjectReference": "name",

	"SecretKeySelector":     "key optional",
	"SecretEnvSource":       "optional",
	"SecretProjection":      "items optional",
	"SecretVolumeSource":    "secretName items defaultMode optional defaultUser",
	"ConfigMapKeySelector":  "key optional",
	"ConfigMapEnvSource":    "optional",
	"ConfigMapProjection":   "items optional",
	"ConfigMapVolumeSource": "items defaultMode optional defaultUser",
	"KeyToPath":             "key path mode user",

	"DownwardAPIProjection":         "items",
	"DownwardAPIVolumeSource":       "items defaultMode defaultUser",
	"DownwardAPIVolumeFile":         "path fieldRef resourceFieldRef mode user",
	"ProjectedVolumeSource":         "sources defaultMode defaultUser",
	"ServiceAccountTokenProjection": "expirationSeconds path user",
	"ClusterTrustBundleProjection":  "name signerName labelSelector optional path user",
	"PodCertificateProjection":      "signerName keyType maxExpirationSeconds credentialBundlePath keyPath certificateChainPath userAnnotations user",

	"ImageVolumeSource":                 "pullPolicy",
	"EmptyDirVolumeSource":              "sizeLimit mode",
	"HostPathVolumeSource":              "path type",
	"PersistentVolumeClaimVolumeSource": "claimName readOnly",
	"EphemeralVolumeSource":             "volumeClaimTemplate",
	"PersistentVolumeClaimTemplate":     "metadata spec",
	"PersistentVolumeClaimSpec":         "accessModes resources storageClassName volumeMode volumeAttributesClassName",
	"VolumeResourceRequirements":        "limits requests",
	"TypedLocalObjectReference":         "apiGroup kind name",
	"TypedObjectReference":              "apiGroup kind name",
	"LabelSelector":                     "matchLabels matchExpressions",
	"LabelSelectorRequirement":          "key operator values",
	"CSIVolumeSource":                   "readOnly fsType volumeAttributes",

	"AWSElasticBlockStoreVolumeSource": "volumeID fsType partition readOnly",
	"AzureDiskVolumeSource":            "diskName diskURI cachingMode fsType readOnly kind",
	"AzureFileVolumeSource":            "shareName readOnly",
	"CephFSVolumeSource":               "monitors path user secretFile readOnly",
	"CinderVolumeSource":               "volumeID fsType readOnly",
	"FCVolumeSource":                   "targetWWNs lun fsType readOnly wwids",
	"FlexVolumeSource":                 "driver fsType readOnly options",
	"FlockerVolumeSource":              "datasetName datasetUUID",
	"GCEPersistentDiskVolumeSource":    "pdName fsType partition readOnly",
	"GitRepoVolumeSource":              "repository revision directory",
	"GlusterfsVolumeSource":            "endpoints path readOnly",
	"ISCSIVolumeSource":                "targetPortal iqn lun iscsiInterface fsType readOnly portals chapAuthDiscovery chapAuthSession initiatorName",
	"NFSVolumeSource":                  "server path readOnly",
	"PhotonPersistentDiskVolumeSource": "pdID fsType",
	"PortworxVolumeSource":             "volumeID fsType readOnly",
	"QuobyteVolumeSource":              "registry volume readOnly user group tenant",
	"RBDVolumeSource":                  "monitors image fsType pool user keyring readOnly",
	"ScaleIOVolumeSource":              "gateway system sslEnabled protectionDomain storagePool storageMode volumeName fsType readOnly",
	"StorageOSVolumeSource":            "volumeName volumeNamespace fsType readOnly",
	"VsphereVirtualDiskVolumeSource":   "volumePath fsType storagePolicyName storagePolicyID",

	"FileKeySelector": "path key optional",
	"VolumeMount":     "readOnly recursiveReadOnly mountPath subPath subPathExpr bindMountOptions",
	"VolumeDevice":    "devicePath",
	"ResourceClaim":   "name request",
	"ContainerPort":   "hostIP",
}

// harmless are the fields, by type, that add no content to the pod, and the fields that only
// contain other fields.
var harmless = map[string]string{
	"PodTemplateSpec": "metadata spec",
	"PodSpec":         "volumes initContainers containers",
	"Volume":          "name",
	// The operator uses only labels and annotations of metadata, and so does the API
	// server in the template of a claim.
	"ObjectMeta": "name generateName namespace selfLink uid resourceVersion generation creationTimestamp deletionTimestamp" +
		" deletionGracePeriodSeconds ownerReferences finalizers managedFields",
	"OwnerReference":     "apiVersion kind name uid controller blockOwnerDeletion",
	"ManagedFieldsEntry": "manager operation apiVersion time fieldsType fieldsV1 subresource",

	"Container": "name command args workingDir ports envFrom env resources resizePolicy restartPolicy restartPolicyRules volumeMounts" +
		" volumeDevices livenessProbe readinessProbe startupProbe lifecycle terminationMessagePath terminationMessagePolicy imagePullPolicy" +
		" securityContext stdin stdinOnce tty",
	"ContainerPort":                   "name containerPort protocol",
	"ContainerResizePolicy":           "resourceName restartPolicy",
	"ContainerRestartRule":            "exitCodes",
	"ContainerRestartRuleOnExitCodes": "operator values",
	// A variable from a pod field only has data about the container's own pod.
	"EnvVar":                "name value valueFrom",
	"EnvVarSource":          "fieldRef resourceFieldRef fileKeyRef",
	"EnvFromSource":         "prefix",
	"ObjectFieldSelector":   "apiVersion fieldPath",
	"ResourceFieldSelector": "containerName resource divisor",

	"Lifecycle":        "postStart preStop stopSignal",
	"LifecycleHandler": "exec httpGet tcpSocket sleep",
	"Probe":            "initialDelaySeconds timeoutSeconds periodSeconds successThreshold failureThreshold terminationGracePeriodSeconds",
	"ProbeHandler":     "exec httpGet tcpSocket grpc",
	"ExecAction":       "command",
	"SleepAction":      "seconds",
	"HTTPGetAction":    "path port scheme httpHeaders protocol",
	"HTTPHeader":       "name value",
	"TCPSocketAction":  "port",
	"GRPCAction":       "port service mode",

	// An administrator has put the profile on the node, and a group adds nothing that is not in the
	// pod.
	"SecurityContext":               "capabilities seLinuxOptions windowsOptions runAsGroup readOnlyRootFilesystem seccompProfile appArmorProfile",
	"SeccompProfile":                "localhostProfile",
	"AppArmorProfile":               "localhostProfile",
	"SELinuxOptions":                "level",
	"WindowsSecurityContextOptions": "runAsUserName",
}
