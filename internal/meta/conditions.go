// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

// Condition types of a VectorSidecar.
const (
	// ConditionReady is true when every matched workload runs the current
	// sidecar and has finished rolling it out.
	ConditionReady = "Ready"
	// ConditionConfigValid is true when values, templates and the Vector configuration
	// produce a sidecar that may be injected.
	ConditionConfigValid = "ConfigValid"
	// ConditionError is true when something is wrong that a person must fix.
	ConditionError = "Error"
	// ConditionReconciling is kstatus's: true while work is in progress.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is kstatus's: true when work cannot continue without intervention.
	ConditionStalled = "Stalled"
)

// Reasons of conditions and events.
const (
	ReasonUpToDate           = "UpToDate"
	ReasonDisabled           = "Disabled"
	ReasonNoMatch            = "NoMatch"
	ReasonRollingOut         = "RollingOut"
	ReasonRemoving           = "Removing"
	ReasonAsExpected         = "AsExpected"
	ReasonInvalidSelector    = "InvalidSelector"
	ReasonTooLarge           = "TooLarge"
	ReasonInvalidSpec        = "InvalidSpec"
	ReasonUnknownEnvironment = "UnknownEnvironment"
	ReasonInvalidValues      = "InvalidValues"
	ReasonInvalidTemplate    = "InvalidTemplate"
	ReasonInvalidTemplateSet = "InvalidTemplateSet"
	ReasonUnknownTemplateSet = "UnknownTemplateSet"
	ReasonTemplateSetLoaded  = "TemplateSetLoaded"
	ReasonInvalidPolicy      = "InvalidPolicy"
	ReasonPolicyLoaded       = "PolicyLoaded"
	ReasonInvalidRollout     = "InvalidRollout"
	ReasonRolloutLoaded      = "RolloutLoaded"
	ReasonPolicyViolation    = "PolicyViolation"
	ReasonPodSecurity        = "PodSecurity"
	ReasonUserOutOfRange     = "UserOutOfRange"
	ReasonPullSecrets        = "PullSecrets"
	ReasonInvalidSidecar     = "InvalidSidecar"
	ReasonInvalidConfig      = "InvalidConfig"
	ReasonConfigMapNotFound  = "ConfigMapNotFound"
	ReasonConflict           = "Conflict"
	ReasonBlocked            = "Blocked"
	ReasonApplyRefused       = "ApplyRefused"
	ReasonPreflightRefused   = "PreflightRefused"
	ReasonApplicationRefused = "ApplicationRefused"
	ReasonRetrying           = "Retrying"
	ReasonRolloutFailed      = "RolloutFailed"
	ReasonRolloutPaused      = "RolloutPaused"
	ReasonRolloutHeld        = "RolloutHeld"
	ReasonKindNotServed      = "KindNotServed"
	ReasonKindMissing        = "KindMissing"
	ReasonSoaking            = "Soaking"
	ReasonUnavailable        = "Unavailable"
	ReasonPodsRefused        = "PodsRefused"
	ReasonUnschedulable      = "Unschedulable"
	ReasonWaitingForBudget   = "WaitingForBudget"
	ReasonWaitingForCanary   = "WaitingForCanary"
	ReasonWaitingForSteps    = "WaitingForSteps"
	ReasonWaitingForHealthy  = "WaitingForHealthy"
	ReasonFailedBefore       = "FailedBefore"
	ReasonTemplateElsewhere  = "TemplateElsewhere"
	ReasonWaitingForFleet    = "WaitingForFleet"
	ReasonWaitingForOwner    = "WaitingForOwner"
	ReasonWaitingForPerson   = "WaitingForPerson"
	ReasonOutsideWindow      = "OutsideWindow"
	ReasonWaitingForWave     = "WaitingForWave"
	ReasonRolloutHalted      = "RolloutHalted"
	ReasonReverted           = "Reverted"
	ReasonRevertEnded        = "RevertEnded"
	ReasonWritesStopped      = "WritesStopped"
	ReasonRevisionIncomplete = "RevisionIncomplete"
	ReasonValidating         = "Validating"
	ReasonNotValidated       = "NotValidated"
	ReasonDrifted            = "Drifted"
	ReasonRepairLoop         = "RepairLoop"
	ReasonOptedOut           = "OptedOut"
	ReasonHostNetwork        = "HostNetwork"
	ReasonOwnedBy            = "OwnedBy"
	ReasonTakenOutByOwner    = "TakenOutByOwner"
	ReasonYielded            = "Yielded"
	ReasonWaitingForRoom     = "WaitingForRoom"
	ReasonWindows            = "Windows"
	ReasonWorkloadPaused     = "WorkloadPaused"
	ReasonTemplateImmutable  = "TemplateImmutable"
	ReasonWorkloadDeleting   = "WorkloadDeleting"
	ReasonInjected           = "Injected"
	ReasonUpdated            = "Updated"
	ReasonRemoved            = "Removed"
	ReasonLeftoverFound      = "LeftoverFound"
	ReasonLeftoverRemoved    = "LeftoverRemoved"
	ReasonCacheDiffered      = "CacheDiffered"

	// The kubelet's own reasons for what is wrong with a container.
	ReasonImagePullBackOff           = "ImagePullBackOff"
	ReasonCrashLoopBackOff           = "CrashLoopBackOff"
	ReasonOOMKilled                  = "OOMKilled"
	ReasonSidecarRestarts            = "SidecarRestarts"
	ReasonSidecarNotReady            = "SidecarNotReady"
	ReasonCreateContainerConfigError = "CreateContainerConfigError"
)
