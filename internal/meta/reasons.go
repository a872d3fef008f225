// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

import "slices"

// Level is the severity of a reason.
type Level string

const (
	// Info means that no action is necessary, except to wait.
	Info Level = "info"
	// Warning means that something is not as intended.
	Warning Level = "warning"
	// Error means that something does not work until a user fixes it.
	Error Level = "error"
)

// Reason is an entry of docs/reference/reasons.md.
type Reason struct {
	// Name is the reason in conditions, events and status.workloads.
	Name  string
	Level Level
	// Location lists the places where the reason appears. Meaning explains the reason, and Help the actions of the
	// user.
	Location, Meaning, Help string
}

// Reasons returns all reasons, in the order of docs/reference/reasons.md.
func Reasons() []Reason {
	return slices.Concat(rolloutReasons(), rejectionReasons(), eventReasons())
}

// rolloutReasons returns the reasons about rollouts.
func rolloutReasons() []Reason {
	return []Reason{
		{ReasonUpToDate, Info, "`Ready` True", "every matched workload runs the current sidecar and has finished rolling out", "nothing"},
		{ReasonNoMatch, Info, "`Ready` True", "the selector matches no workload of the namespace", "if a workload should match, compare its labels with the selector: kubectl vectorsidecar explain WORKLOAD"},
		{ReasonDisabled, Info, "`Ready` True", "`spec.enabled` is false, and no workload has the sidecar", "set spec.enabled to true to inject again"},
		{ReasonAsExpected, Info, "`ConfigValid` True, `Error` False", "nothing to report", "nothing"},
		{ReasonRollingOut, Info, "`Ready` False, `Reconciling`", "workloads are replacing their pods, or were written in this reconcile", "wait; if the rollout takes long, check the pods of the workload"},
		{ReasonSoaking, Info, "`Ready` False, `Reconciling`; `status.workloads`", "workloads have rolled out, but their pods have not yet been available for `spec.rollout.soak`", "wait, or shorten spec.rollout.soak"},
		{ReasonUnavailable, Warning, "`Ready` False, `Reconciling`; `status.workloads`", "a workload lost pods after its rollout; within `spec.rollout.soak` it keeps its rollout slot, and counts as failed after 2 minutes", "check the pods of the workload, or allow the operator to read them (rbac.optional.pods)"},
		{ReasonPodsRejected, Error, "`Ready` False, `Error`, `Reconciling`; `status.workloads`", "the API server rejects pods, the ReplicaSet or the Job of a workload, as the message quotes: because of a quota, a LimitRange, Pod Security or a webhook", "raise the quota, or lower the sidecar's requests: sidecar.resources; for Pod Security, remove the field that the message names from the sidecar"},
		{ReasonUnschedulable, Error, "`Ready` False, `Error`, `Reconciling`; `status.workloads`", "a pod of a workload fits on no node. Needs `rbac.optional.pods`", "add nodes, or lower the sidecar's requests: sidecar.resources"},
		{ReasonControllerWarning, Error, "`Ready` False, `Error`, `Reconciling`; `status.workloads`", "the controller of a workload whose kind has no conditions reports in an event why it cannot continue, as the message quotes. Needs `rbac.optional.pods`", "correct the cause in the message, such as the schedule of a CronJob: kubectl events --for KIND/NAME"},
		{ReasonImagePullBackOff, Error, "`status.workloads`", "the image of the sidecar, or of another injected init container, cannot be pulled. Needs `rbac.optional.pods`", "correct sidecar.image, or add an image pull secret to the pods"},
		{ReasonCrashLoopBackOff, Error, "`status.workloads`", "the sidecar keeps exiting after it was started. Needs `rbac.optional.pods`", "read its logs: kubectl logs POD -c CONTAINER --previous"},
		{ReasonOOMKilled, Error, "`status.workloads`", "the sidecar used more memory than its limit. Needs `rbac.optional.pods`", "raise sidecar.resources.limits.memory"},
		{ReasonSidecarRestarts, Error, "`status.workloads`", "a container of the sidecar restarted `rollout.halt.sidecarRestarts` times (in the installation's values) while its rollout was observed. Needs `rbac.optional.pods`", "read its logs: kubectl logs POD -c CONTAINER --previous"},
		{ReasonSidecarNotReady, Error, "`status.workloads`", "the sidecar runs but fails its readiness probe, and all other containers of the pod are ready. Needs `rbac.optional.pods`", "read its logs, or correct the readiness probe in the templates"},
		{ReasonCreateContainerConfigError, Error, "`status.workloads`", "a Secret, ConfigMap or key that the sidecar's variables refer to does not exist, or the container cannot be created as specified. Needs `rbac.optional.pods`", "create the object in the message, or correct sidecar.env and sidecar.envFrom"},
		{ReasonRemoving, Info, "`Ready` False, `Reconciling`", "workloads are losing the sidecar", "wait"},
		{ReasonWaitingForSlot, Info, "`Ready` False, `Reconciling`", "`spec.rollout.maxConcurrent` workloads are rolling out or soaking; all others wait for a rollout slot", "wait, raise spec.rollout.maxConcurrent, or shorten spec.rollout.soak"},
		{ReasonWaitingForCanary, Info, "`Ready` False, `Reconciling`", "the workloads of `spec.rollout.canary` change first and have not finished, or none of these workloads has pods (see the message); all other workloads wait", "wait, or check the workload that the message names; if it has no pods, start some, or run kubectl vectorsidecar rollout promote vectorsidecar/NAME"},
		{ReasonWaitingForHealthy, Info, "`Ready` False, `Reconciling`; `status.workloads`", "the workload failed before the sidecar or its change was written; the workload changes when no healthy workload waits for a rollout slot", "wait, or correct the workload: a healthy workload changes in the usual order"},
		{ReasonFailedBefore, Warning, "`Ready` False, `Reconciling`; `status.workloads`", "the workload failed before the sidecar or its change was written, and is still failing. This does not count as a failure of the sidecar, and does not block other workloads, waves or revisions", "check the application's pods; the cause is older than the write"},
		{ReasonWaitingForSteps, Info, "`Ready` False, `Reconciling`; `status.workloads`", "an Argo Rollout is between the steps of its strategy, or failed at a step; a write would restart the steps", "wait, promote the Rollout (kubectl argo rollouts promote), or retry or undo the failed one"},
		{ReasonWaitingForGlobalSlot, Info, "`Ready` False, `Reconciling`", "across all VectorSidecars, `rollout.maxConcurrent` workloads (in the installation's values) are rolling out or soaking", "wait, or ask the platform team to raise rollout.maxConcurrent in the installation's values"},
		{ReasonOutsideWindow, Info, "`Ready` False, `Reconciling`", "no window of `rollout.windows` in the installation's values is open; the message says when the next one opens", "wait, or ask the platform team to change rollout.windows in the installation's values"},
		{ReasonWaitingForWave, Info, "`Ready` False, `Reconciling`", "the wave of the VectorSidecar (`rollout.waves`) has not received the installation's templates and values yet, and the VectorSidecar has no earlier revision that can be rendered (see the message); until then the operator writes only removals", "wait, or ask the platform team to promote the VectorSidecar: kubectl vectorsidecar rollout promote"},
		{ReasonRolloutHalted, Error, "`Ready` False, `Reconciling`; event on the installation's ConfigMap", "workloads failed with the templates and values of the VectorSidecar's revision, so the rollout of this revision is halted (`rollout.halt`); or a user has undone the revision (kubectl vectorsidecar rollout undo), and the VectorSidecar has no earlier revision. The operator writes only removals", "correct the installation's templates or values, or return to the earlier revision: kubectl vectorsidecar rollout undo; to continue with the same revision: kubectl vectorsidecar rollout retry"},
		{ReasonReverted, Warning, "`Ready` True, or False with `Stalled` if the VectorSidecar's spec was reverted; event", "workloads failed with the installation's current templates and values, and the VectorSidecar was reverted to the previous revision (`rollout.onFailure: Revert`), or a user reverted it (kubectl vectorsidecar rollout undo); or workloads failed with the VectorSidecar's spec, and run the last known good spec (`status.lastKnownGood`), in all namespaces of a ClusterVectorSidecar", "correct the installation's templates or values, or the VectorSidecar's spec, as the message says; to retry the same revision: kubectl vectorsidecar rollout retry, or remove the annotation"},
		{ReasonWritesStopped, Warning, "`Ready` False, `Reconciling`", "the annotation `stop-writes` on the installation's ConfigMap of values, or its value `writes: Stopped`, stops all writes except removals", "when writes may continue, run kubectl vectorsidecar rollout resume, or set writes: Enabled in the installation's values, as the message says"},
		{ReasonRevisionIncomplete, Error, "`ConfigValid` False, `Stalled`; or `Ready` False, `Reconciling`", "the ConfigMap of the installation's values, or of a template set that they list or use, has been missing for a minute, or a listed template set has had other content for a minute: the previous revision stays in use. After a restart without a stored revision, the operator writes only removals until all ConfigMaps have the content of one release", "create the ConfigMap that the message names, or run helm upgrade again"},
		{ReasonWaitingForRemoval, Info, "`Ready` False, `Reconciling`", "a ClusterVectorSidecar removes its container of the same name from a workload, because a VectorSidecar of the namespace takes precedence", "wait"},
		{ReasonValidating, Info, "`Ready` False, `Reconciling`", "a Job validates the configuration with Vector before the first write", "wait"},
		{ReasonNotValidated, Warning, "`Ready` False, `Reconciling`", "Vector could not be run, and `whenUnable` is `Wait`", "correct the cause in the message, or set sidecar.config.validateJob.whenUnable to continue without a validation"},
		{ReasonRolloutPaused, Info, "`Ready` False, `Reconciling`", "`spec.rollout.paused` is true, and workloads wait for a change", "set spec.rollout.paused to false"},
		{ReasonPodsNotReplaced, Info, "`status.workloads`", "the workload has the sidecar in its pod template, but its settings keep pods without the sidecar: `OnDelete`, a `partition`, a pause, the steps of an Argo Rollout, or a CronJob before its next run; it does not use a rollout slot", "nothing; to replace the pods sooner, delete them, lower the partition, or resume the workload"},
		{ReasonWithoutPods, Info, "`status.workloads`", "the workload has the sidecar in its pod template, but no pod has run the sidecar: 0 replicas, no node, or a CronJob without a successful run since. It does not block other workloads, does not count as evidence for a canary or a wave, and does not count in `readyWorkloads`", "nothing; the first pods run the sidecar, and soak"},
		{ReasonWaitingForAppRollout, Info, "`status.workloads`", "`spec.rollout.mode` is `OnAppRollout`: the workload changes together with the application owner's next change of the pod template; it does not use a rollout slot", "nothing; to change the workload sooner: kubectl vectorsidecar rollout promote vectorsidecar/NAME, or kubectl rollout restart of the workload"},
		{ReasonWaitingForPromotion, Info, "`status.workloads`", "`spec.rollout.mode` is `Manual`: workloads change when a user promotes the VectorSidecar; they do not use rollout slots", "to change them: kubectl vectorsidecar rollout promote vectorsidecar/NAME"},
		{ReasonKindNotEnabled, Error, "`Ready` False, `Stalled`; event", "`spec.workloads` lists a kind of workload that is not enabled in this installation", "ask the platform team to add the kind to workloads.kinds in the installation's values, or remove it from spec.workloads"},
		{ReasonKindMissing, Info, "`Ready` True", "the selector matches nothing, and the cluster lacks the API of a kind that `spec.workloads` lists: for example, Argo Rollouts is not installed. The operator checks for the API every minute; if workloads of other kinds match, the message of `Ready` names the missing kind", "install the API of the kind, or remove it from spec.workloads"},
		{ReasonRetrying, Error, "`Ready` False, `Error`, `Reconciling`", "a read or a write failed with an error that may be transient; the operator retries after 1 second, with a backoff of up to 5 minutes", "read the API server's error in the message; if a permission is missing, grant it to the operator: kubectl vectorsidecar check"},
	}
}

// rejectionReasons returns the reasons for sidecars that are rejected or not injected.
func rejectionReasons() []Reason {
	return []Reason{
		{ReasonInvalidSelector, Error, "`ConfigValid` False, `Stalled`", "the selector is invalid, or is empty without `matchAll`", "name a label in spec.selector, or set spec.matchAll to true"},
		{ReasonTooLarge, Error, "`ConfigValid` False, `Stalled`", "the VectorSidecar has more than 512 KiB, or more than 30,000 values, or large VectorSidecars take precedence in its workloads: its spec is not used, and injected sidecars do not change", "put a large configuration into a ConfigMap (sidecar.config.configMapRef), and remove values from spec.values that no template reads"},
		{ReasonInvalidSpec, Error, "`ConfigValid` False, `Stalled`", "a value in the VectorSidecar cannot be read, although an older CustomResourceDefinition accepted it: injected sidecars do not change", "correct the value at the path in the message, and install the CustomResourceDefinitions of this version of the operator"},
		{ReasonUnknownEnvironment, Error, "`ConfigValid` False, `Stalled`", "the environment has no values; the message lists the environments with values", "correct the name, or add values for that environment to the installation"},
		{ReasonInvalidValues, Error, "`ConfigValid` False, `Stalled`", "a layer of values does not fit the schema; the message names layer, line and path", "correct the value at the path and line in the message; kubectl vectorsidecar schema shows the allowed values"},
		{ReasonUnknownTemplateSet, Error, "`ConfigValid` False, `Stalled`", "the template set does not exist; the message lists the existing template sets", "correct spec.templateSet, or the templateSet of the environment"},
		{ReasonInvalidTemplateSet, Error, "`ConfigValid` False, `Stalled`", "a template set cannot be loaded; the message names file and line. The last known good version stays in use, if it exists. Event on its ConfigMap", "correct the file at the line in the message, in the ConfigMap of the template set"},
		{ReasonInvalidPolicy, Error, "`ConfigValid` False, `Stalled`", "the installation's policy is invalid; the last known good policy stays in use, if it exists. Event on its ConfigMap", "correct policy in the installation's values"},
		{ReasonInvalidRollout, Error, "`ConfigValid` False, `Stalled`", "`rollout` in the installation's values is invalid; the last known good value stays in use, if it exists. Event on its ConfigMap", "correct rollout in the installation's values"},
		{ReasonPolicyViolation, Error, "`ConfigValid` False, `Stalled`; `status.workloads`", "the policy does not allow a field of the rendered sidecar; the message names template, path and rule", "change the values or the template, or ask the platform team to allow the field"},
		{ReasonPodSecurity, Error, "`Ready` False, `Stalled`", "the namespace's Pod Security level would reject a workload's pods because of the sidecar", "remove the field that the message names from the sidecar, or change the namespace's Pod Security level"},
		{ReasonUserOutOfRange, Error, "`Ready` False, `Stalled`", "on OpenShift, the sidecar names a user outside of the range of the namespace, so that a workload's pods would be rejected", "set sidecar.user to Platform, or sidecar.securityContext.runAsUser to a user of the range"},
		{ReasonPullSecrets, Error, "`Ready` False, `Stalled`; `status.workloads`", "the sidecar has a pull secret, and the workload lists none: its pods would lose the pull secrets of their ServiceAccount, which the operator cannot read", "list the pull secrets in the pod template's imagePullSecrets, or allow the operator to get ServiceAccounts (`rbac.optional.serviceAccounts`)"},
		{ReasonInvalidTemplate, Error, "`ConfigValid` False, `Stalled`", "a template stopped with an error, or called `fail` because of the values or the workload", "correct the cause in the message; most often, no container mounts a volume at sidecar.logs.path"},
		{ReasonInvalidSidecar, Error, "`ConfigValid` False, `Stalled`", "the rendered sidecar must not be injected: it has an unknown field, a field that belongs to the application owner, or a request above its limit", "correct the values or the template that the message names"},
		{ReasonInvalidConfig, Error, "`ConfigValid` False, `Stalled`", "Vector would not start with the configuration", "correct the Vector configuration at the position in the message; kubectl vectorsidecar lint reports the same finding"},
		{ReasonConfigMapNotFound, Error, "`ConfigValid` False, `Stalled`", "the referenced ConfigMap or its key does not exist; the operator uses it as soon as it exists", "create the ConfigMap in the VectorSidecar's namespace, with the key that the message names"},
		{ReasonConflict, Error, "`Ready` False, `Stalled`", "a name is already used, or another field manager owns a field that the operator would write", "choose another name for the container or volume, or configure the deployment tool that the message names not to write the sidecar's fields"},
		{ReasonBlocked, Error, "`Ready` False, `Stalled`", "the sidecar does not fit into a workload", "choose another port or volume for the sidecar, or correct the field of the workload that the message names"},
		{ReasonApplyRejected, Error, "`Ready` False, `Stalled`", "the API server rejected a write, and would reject it again: the operator retries after 5 minutes, and when the workload or the sidecar changes; until then the workload does not use a rollout slot", "read the API server's error in the message; the cause is often a policy or a quota"},
		{ReasonPreflightRejected, Error, "`Ready` False, `Stalled`; `status.workloads`", "the API server rejects dry runs with the sidecar (`preflight.enabled`), as the message quotes: because of a quota, a LimitRange, Pod Security, a webhook, or a missing Secret. The workload does not change; the operator retries after 1 minute, with a backoff of up to 5 minutes, and when the sidecar or an object that the workload's pods need changes", "raise the quota, or lower the sidecar's requests: sidecar.resources; create the Secret; correct the field that the webhook or policy in the message names; to retry at once: kubectl vectorsidecar reconcile"},
		{ReasonApplicationRejected, Info, "`status.workloads`", "the API server also rejects dry runs of the workload's pods without the sidecar (`preflight.enabled`): another template would start a rollout that cannot finish. The sidecar is injected when the pods are accepted", "correct the cause in the message: a missing ServiceAccount, a quota that is used up, or a policy, for example one that allows only controllers to create pods"},
		{ReasonRolloutFailed, Error, "`Ready` False, `Stalled`", "a workload passed its progress deadline, or its pods failed before the end of `spec.rollout.soak`: because of the sidecar, or for 2 minutes if the cause is unknown; other workloads wait until the failure is corrected", "check the pods of the workload: image, Pod Security, quota, the sidecar's logs"},
		{ReasonTemplateInWorkloadRef, Info, "`status.workloads`", "the workload is an Argo Rollout with `workloadRef`: its pods use the template of the workload that the message names", "list the kind of that workload in spec.workloads"},
		{ReasonTemplateImmutable, Error, "`Ready` False, `Stalled`", "the pod template of the workload cannot be changed: it is a Job", "select the workload that creates it, such as its CronJob, or remove Job from spec.workloads"},
		{ReasonDrifted, Warning, "`Ready` False, `Stalled`", "another field manager changed the sidecar in a workload, and `spec.driftPolicy` is `Report`", "undo the change, or set spec.driftPolicy to Enforce"},
		{ReasonCorrectionLoop, Error, "`Ready` False, `Stalled`", "another field manager removes the sidecar after each write; the operator suspends corrections for a while", "configure the client that the message names not to remove the sidecar, or exclude the workload"},
		{ReasonOptedOut, Info, "`status.workloads`", "the workload's annotation `inject` is not `\"true\"`", "remove the annotation if the workload should have the sidecar"},
		{ReasonOwnedBy, Info, "`status.workloads`; event on a workload", "the workload has a controller owner, which the message names: the workload waits for its first sidecar, is skipped (`spec.ownedWorkloads` is `Skip`), or gets the sidecar from the API server when the owner writes the workload (`AtAdmission`); the message names the case, and the fields that the API server cannot inject", "nothing; if the owner replaces whole workloads, set spec.ownedWorkloads to AtAdmission or Skip before it removes the sidecar"},
		{ReasonRemovedByOwner, Error, "`Ready` False, `Stalled`; `status.workloads`; event on a workload", "the workload has a controller owner, and this owner, or one of the same kind, has removed or changed the sidecar (`status.removedByOwners`): the operator does not inject it again", "set spec.ownedWorkloads to AtAdmission or Skip, or add the sidecar to the template of that operator; to retry: kubectl vectorsidecar rollout retry vectorsidecar/NAME"},
		{ReasonSuperseded, Info, "`status.workloads` of a ClusterVectorSidecar", "a VectorSidecar of the namespace injects a container of the same name, and takes precedence", "nothing; to have both, set another spec.sidecar.name in one of them"},
		{ReasonHostNetwork, Info, "`status.workloads`", "the workload's pods have `hostNetwork`, so the sidecar would use ports of the node, and `spec.hostNetwork` is not `Inject`", "set ports that are free on each node (sidecar.metrics.port, sidecar.health.port), and set spec.hostNetwork to Inject"},
		{ReasonWindows, Info, "`status.workloads`", "the workload's pods run on Windows nodes only (the message names the field), and the sidecar is for Linux", "nothing; on Windows nodes, run Vector as a node agent"},
		{ReasonWorkloadPaused, Info, "`status.workloads`", "the workload is paused; the sidecar is injected when it is resumed", "resume the workload: kubectl rollout resume"},
		{ReasonWorkloadDeleting, Info, "`status.workloads`", "the workload is being deleted", "nothing"},
	}
}

// eventReasons returns the reasons that appear only in events.
func eventReasons() []Reason {
	return []Reason{
		{ReasonInjected, Info, "event", "the sidecar was injected into a workload", "nothing"},
		{ReasonUpdated, Info, "event", "the sidecar in a workload was changed", "nothing"},
		{ReasonRevertEnded, Info, "event", "the revert of a VectorSidecar's spec ended: the spec has changed, or a user retries it", "nothing"},
		{ReasonRemoved, Info, "event", "the sidecar was removed from a workload", "nothing"},
		{ReasonLeftoverFound, Warning, "event on a workload", "the workload has a sidecar, or fields of one, whose VectorSidecar does not exist, and the operator does not remove it without a request", "see the reason in the message; to remove the sidecar, create a VectorSidecar of that name that selects no workload, and delete it"},
		{ReasonLeftoverRemoved, Info, "event on a workload", "the operator removed a sidecar that a late write had left after its VectorSidecar was deleted", "nothing"},
		{ReasonApplied, Info, "event on the ConfigMap of values", "a VectorSidecar or ClusterVectorSidecar that the values declare was created or changed, or matches the values again", "nothing"},
		{ReasonDeleted, Info, "event on the ConfigMap of values", "a VectorSidecar or ClusterVectorSidecar was deleted because the values no longer declare it", "nothing"},
		{ReasonNotDeleted, Warning, "event on the ConfigMap of values", "the values declare no VectorSidecar or no ClusterVectorSidecar any more, and the existing ones stay", "restore vectorSidecars.items or vectorSidecars.clusterItems, or set vectorSidecars.allowEmpty: true to delete them"},
		{ReasonInvalid, Error, "event on the ConfigMap of values", "an item of `vectorSidecars` is not a valid spec, as the message says", "correct the item in the installation's values"},
		{ReasonWaitingForNamespace, Info, "event on the ConfigMap of values", "the namespace of an item of `vectorSidecars` does not exist, is being deleted, or is not in `watchNamespaces`", "create the namespace, or add it to watchNamespaces"},
		{ReasonUninstalling, Warning, "event on the ConfigMap of values", "the annotation `uninstalling` stops all writes of VectorSidecars that the values declare", "finish the uninstallation, or remove the annotation"},
		{ReasonTemplateSetLoaded, Info, "event on a ConfigMap", "a new version of a template set is in use", "nothing"},
		{ReasonPolicyLoaded, Info, "event on a ConfigMap", "a new policy is in use", "nothing"},
		{ReasonRolloutLoaded, Info, "event on a ConfigMap", "a new `rollout` of the installation's values is in use", "nothing"},
	}
}
