// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

import "slices"

// Level is the severity of a reason.
type Level string

const (
	// Info does not need an action, except patience.
	Info Level = "info"
	// Warning means that something is not as intended.
	Warning Level = "warning"
	// Error means that something does not work until a user fixes it.
	Error Level = "error"
)

// Reason is an entry of the reason reference.
type Reason struct {
	// Name is the reason in conditions, events and status.workloads.
	Name  string
	Level Level
	// Location lists the places where the reason appears. Meaning explains the reason, and Help the actions of the
	// user.
	Location, Meaning, Help string
}

// Reasons returns all reasons, in the order of docs/reasons.md.
func Reasons() []Reason {
	return slices.Concat(ofRollouts(), ofRefusals(), ofEvents())
}

// ofRollouts returns the reasons of rollouts.
func ofRollouts() []Reason {
	return []Reason{
		{ReasonUpToDate, Info, "`Ready` True", "every matched workload runs the current sidecar and has finished rolling out", "nothing"},
		{ReasonNoMatch, Info, "`Ready` True", "the selector matches no workload of the namespace", "if one should match, compare its labels with the selector: kubectl vectorsidecar explain WORKLOAD"},
		{ReasonDisabled, Info, "`Ready` True", "`spec.enabled` is false and nothing carries the sidecar", "set spec.enabled to true to inject again"},
		{ReasonAsExpected, Info, "`ConfigValid` True, `Error` False", "nothing to report", "nothing"},
		{ReasonRollingOut, Info, "`Ready` False, `Reconciling`", "workloads are replacing their pods, or were written in this reconcile", "wait; if it takes long, look at the pods of the workload"},
		{ReasonSoaking, Info, "`Ready` False, `Reconciling`; `status.workloads`", "workloads have rolled out, and their pods have not been available for `spec.rollout.soak` yet", "wait, or shorten spec.rollout.soak"},
		{ReasonUnavailable, Warning, "`Ready` False, `Reconciling`; `status.workloads`", "a workload that had rolled out has lost pods; within `spec.rollout.soak` it keeps its place among `maxConcurrent`, and counts as failed after 2 minutes", "look at the pods of the workload, or allow the operator to (rbac.optional.pods)"},
		{ReasonPodsRejected, Error, "`Ready` False, `Error`, `Reconciling`; `status.workloads`", "the API server rejects pods, the ReplicaSet or the Job of a workload, as the message quotes: because of a quota, a LimitRange, Pod Security or a webhook", "raise the quota, or lower the sidecar's requests: sidecar.resources; for Pod Security, remove from the sidecar what the message names"},
		{ReasonUnschedulable, Error, "`Ready` False, `Error`, `Reconciling`; `status.workloads`", "a pod of a workload fits on no node. Seen with `rbac.optional.pods`", "add nodes, or lower the sidecar's requests: sidecar.resources"},
		{ReasonControllerWarning, Error, "`Ready` False, `Error`, `Reconciling`; `status.workloads`", "the controller of a workload whose kind has no conditions reports in an event why it cannot continue, as the message quotes. Read with `rbac.optional.pods`", "correct what the message names, such as the schedule of a CronJob: kubectl events --for KIND/NAME"},
		{ReasonImagePullBackOff, Error, "`status.workloads`", "the image of the sidecar, or of an init container beside it, cannot be pulled. Seen with `rbac.optional.pods`", "correct sidecar.image, or give the pods an image pull secret"},
		{ReasonCrashLoopBackOff, Error, "`status.workloads`", "the sidecar keeps exiting after it was started. Seen with `rbac.optional.pods`", "read its logs: kubectl logs POD -c CONTAINER --previous"},
		{ReasonOOMKilled, Error, "`status.workloads`", "the sidecar used more memory than its limit. Seen with `rbac.optional.pods`", "raise sidecar.resources.limits.memory"},
		{ReasonSidecarRestarts, Error, "`status.workloads`", "a container of the sidecar was restarted as often as `rollout.halt.sidecarRestarts` of the installation's values says, while its rollout was watched. Seen with `rbac.optional.pods`", "read its logs: kubectl logs POD -c CONTAINER --previous"},
		{ReasonSidecarNotReady, Error, "`status.workloads`", "the sidecar runs and fails its readiness probe, and all other containers of the pod are ready. Seen with `rbac.optional.pods`", "read its logs, or correct the readiness probe in the templates"},
		{ReasonCreateContainerConfigError, Error, "`status.workloads`", "a Secret, ConfigMap or key that the sidecar's variables refer to does not exist, or the container cannot be created as specified. Seen with `rbac.optional.pods`", "create what the message names, or correct sidecar.env and sidecar.envFrom"},
		{ReasonRemoving, Info, "`Ready` False, `Reconciling`", "workloads are losing the sidecar", "wait"},
		{ReasonWaitingForSlot, Info, "`Ready` False, `Reconciling`", "`spec.rollout.maxConcurrent` workloads are rolling out or soaking; the rest wait", "wait, raise spec.rollout.maxConcurrent, or shorten spec.rollout.soak"},
		{ReasonWaitingForCanary, Info, "`Ready` False, `Reconciling`", "the workloads of `spec.rollout.canary` get a change first, and have not finished it; or none of them has pods, as the message says: the others then wait until one has", "wait, or look at the workload that the message names; without pods, start some, or run kubectl vectorsidecar rollout promote vectorsidecar/NAME"},
		{ReasonWaitingForHealthy, Info, "`Ready` False, `Reconciling`; `status.workloads`", "the workload failed before the sidecar or its change was written: it gets that when no healthy workload waits for a rollout slot", "wait, or correct the workload: when it is healthy, it gets the change in the usual order"},
		{ReasonFailedBefore, Warning, "`Ready` False, `Reconciling`; `status.workloads`", "the workload failed before the sidecar or its change was written, and still does. This does not count as a failure of the sidecar: it blocks no other workload, wave or revision", "look at the application's pods; the cause is older than the write"},
		{ReasonWaitingForSteps, Info, "`Ready` False, `Reconciling`; `status.workloads`", "an Argo Rollout goes by steps of its own from one template to another, or has failed on the way: a write would begin them anew", "wait, promote the Rollout (kubectl argo rollouts promote), or retry or undo what failed"},
		{ReasonWaitingForGlobalSlot, Info, "`Ready` False, `Reconciling`", "as many workloads roll out or soak, over all VectorSidecars, as `rollout.maxConcurrent` in the installation's values lets", "wait, or ask the platform team to raise rollout.maxConcurrent in the installation's values"},
		{ReasonOutsideWindow, Info, "`Ready` False, `Reconciling`", "no window of `rollout.windows` in the installation's values is open; the message says when the next one opens", "wait, or ask the platform team to change rollout.windows in the installation's values"},
		{ReasonWaitingForWave, Info, "`Ready` False, `Reconciling`", "the installation's templates and values have not reached the VectorSidecar by waves yet (`rollout.waves`), and it has no earlier ones that can be rendered, as the message says; until then nothing is written but removals", "wait, or ask the platform team to let them through: kubectl vectorsidecar rollout promote"},
		{ReasonRolloutHalted, Error, "`Ready` False, `Reconciling`; event on the installation's ConfigMap", "workloads failed with the installation's templates and values that the VectorSidecar has, so these go no further (`rollout.halt`), or a user has undone them (kubectl vectorsidecar rollout undo) and the VectorSidecar has no earlier ones to return to; nothing is written but removals", "correct the installation's templates or values, or return to the earlier ones: kubectl vectorsidecar rollout undo; to go on with the same: kubectl vectorsidecar rollout retry"},
		{ReasonReverted, Warning, "`Ready` True, or False with `Stalled` for a spec of its own; event", "workloads failed with the installation's present templates and values, and the VectorSidecar has gone back to those before (`rollout.onFailure: Revert`), or a user had it do so (kubectl vectorsidecar rollout undo); or they failed with the VectorSidecar's own spec, and have the last good one (`status.lastKnownGood`), of a ClusterVectorSidecar in all namespaces", "correct the installation's templates or values, or the VectorSidecar's spec, as the message says; to try the same again: kubectl vectorsidecar rollout retry, or remove the annotation"},
		{ReasonWritesStopped, Warning, "`Ready` False, `Reconciling`", "the annotation `stop-writes` on the installation's ConfigMap of values stops all writes but removals", "when the reason for the stop is gone, remove the annotation"},
		{ReasonRevisionIncomplete, Error, "`ConfigValid` False, `Stalled`; or `Ready` False, `Reconciling`", "the ConfigMap of the installation's values, or of a template set that they list or use, has been missing for a minute, or a listed template set has had other content for a minute: the previous revision stays in use. After a restart without a stored revision, only removals are written until the ConfigMaps belong together", "create the ConfigMap that the message names, or run helm upgrade again"},
		{ReasonWaitingForRemoval, Info, "`Ready` False, `Reconciling`", "a ClusterVectorSidecar has a container of the same name in a workload, and takes it out: a VectorSidecar of the namespace comes first", "wait"},
		{ReasonValidating, Info, "`Ready` False, `Reconciling`", "a Job validates the configuration with Vector before anything is written", "wait"},
		{ReasonNotValidated, Warning, "`Ready` False, `Reconciling`", "Vector could not be run, and `whenUnable` is `Wait`", "see in the message why Vector could not be run, or set sidecar.config.validateJob.whenUnable to proceed"},
		{ReasonRolloutPaused, Info, "`Ready` False, `Reconciling`", "`spec.rollout.paused` is true and something waits", "set spec.rollout.paused to false"},
		{ReasonPodsNotReplaced, Info, "`status.workloads`", "the workload has the sidecar in its pod template, and its own settings keep pods without it: `OnDelete`, a `partition`, a pause, the steps of an Argo Rollout, or a CronJob before its next run; it takes no place among `maxConcurrent`", "nothing; to have it sooner, delete the pods, lower the partition or resume the workload"},
		{ReasonWithoutPods, Info, "`status.workloads`", "the workload has the sidecar in its pod template, and no pod has run it: 0 replicas, no node, or a CronJob without a successful run since. It blocks no other workload, is no evidence for a canary or a wave, and does not count in `readyWorkloads`", "nothing; when it starts pods, they have the sidecar and soak"},
		{ReasonWaitingForAppRollout, Info, "`status.workloads`", "`spec.rollout.mode` is `OnAppRollout`: the workload gets the change with its owner's next change of the pod template; it takes no place among `maxConcurrent`", "nothing; to have it sooner: kubectl vectorsidecar rollout promote vectorsidecar/NAME, or kubectl rollout restart of the workload"},
		{ReasonWaitingForPromotion, Info, "`status.workloads`", "`spec.rollout.mode` is `Manual`: workloads get the change when a person says so; it takes no place among `maxConcurrent`", "when they are to have it: kubectl vectorsidecar rollout promote vectorsidecar/NAME"},
		{ReasonKindNotEnabled, Error, "`Ready` False, `Stalled`; event", "`spec.workloads` lists a kind of workload that this installation does not serve", "ask the platform team to add the kind to workloads.kinds in the installation's values, or remove it from spec.workloads"},
		{ReasonKindMissing, Info, "`Ready` True", "the selector matches nothing, and the cluster lacks the API of a kind that `spec.workloads` lists: no CustomResourceDefinition of Argo Rollouts, for example. It is looked for every minute; where workloads of other kinds match, the message of `Ready` says so", "install what brings the kind, or remove it from spec.workloads"},
		{ReasonRetrying, Error, "`Ready` False, `Error`, `Reconciling`", "a read or a write failed with an error that may be transient; it is retried after 1 second, with a backoff of up to 5 minutes", "read the API server's error in the message; if a permission is missing, grant it to the operator: kubectl vectorsidecar check"},
	}
}

// ofRefusals returns the reasons of sidecars that are rejected or left out.
func ofRefusals() []Reason {
	return []Reason{
		{ReasonInvalidSelector, Error, "`ConfigValid` False, `Stalled`", "the selector is invalid, or is empty without `matchAll`", "name a label in spec.selector, or set spec.matchAll to true"},
		{ReasonTooLarge, Error, "`ConfigValid` False, `Stalled`", "the VectorSidecar has more than 512 KiB, or more than 30,000 values: its spec is not read, and what is injected stays as it is", "put a large configuration into a ConfigMap (sidecar.config.configMapRef), and remove from spec.values what no template reads"},
		{ReasonInvalidSpec, Error, "`ConfigValid` False, `Stalled`", "a value in the VectorSidecar cannot be read, which an older CustomResourceDefinition accepted: what is injected stays as it is", "correct the value at the path in the message, and install the CustomResourceDefinitions of this version of the operator"},
		{ReasonUnknownEnvironment, Error, "`ConfigValid` False, `Stalled`", "no values for that environment; the message lists those that exist", "correct the name, or add values for that environment to the installation"},
		{ReasonInvalidValues, Error, "`ConfigValid` False, `Stalled`", "a layer of values does not fit the schema; the message names layer, line and path", "correct the value at the path and line in the message; kubectl vectorsidecar schema shows what is allowed there"},
		{ReasonUnknownTemplateSet, Error, "`ConfigValid` False, `Stalled`", "no template set of that name; the message lists those that exist", "correct spec.templateSet, or the templateSet of the environment"},
		{ReasonInvalidTemplateSet, Error, "`ConfigValid` False, `Stalled`", "a template set cannot be loaded; the message names file and line. The last good version stays in use, if there was one. Event on its ConfigMap", "correct the file at the line in the message, in the ConfigMap of the template set"},
		{ReasonInvalidPolicy, Error, "`ConfigValid` False, `Stalled`", "the installation's policy is invalid; the last good one stays in force, if there was one. Event on its ConfigMap", "correct policy in the installation's values"},
		{ReasonInvalidRollout, Error, "`ConfigValid` False, `Stalled`", "`rollout` in the installation's values is invalid; the last good one stays in force, if there was one. Event on its ConfigMap", "correct rollout in the installation's values"},
		{ReasonPolicyViolation, Error, "`ConfigValid` False, `Stalled`; `status.workloads`", "the policy does not allow what was rendered; the message names template, path and rule", "change the values or the template, or ask the platform team to allow it"},
		{ReasonPodSecurity, Error, "`Ready` False, `Stalled`", "the namespace's Pod Security level would reject a workload's pods because of the sidecar", "remove what the message names from the sidecar, or change the namespace's Pod Security level"},
		{ReasonUserOutOfRange, Error, "`Ready` False, `Stalled`", "on OpenShift, the sidecar names a user outside of the range of the namespace, so that a workload's pods would be refused", "set sidecar.user to Platform, or sidecar.securityContext.runAsUser to a user of the range"},
		{ReasonPullSecrets, Error, "`Ready` False, `Stalled`; `status.workloads`", "the sidecar brings a pull secret to a workload that lists none, so that its pods would lose those of their ServiceAccount, and what these are is not known", "list them in the pod template's imagePullSecrets, or let the operator get ServiceAccounts (`rbac.optional.serviceAccounts`)"},
		{ReasonInvalidTemplate, Error, "`ConfigValid` False, `Stalled`", "a template stopped with an error, or called `fail` because of the values or the workload", "read the message; most often no container mounts a volume at sidecar.logs.path"},
		{ReasonInvalidSidecar, Error, "`ConfigValid` False, `Stalled`", "the templates rendered something that must not be injected: an unknown field, a field of the workload's owner, a request above its limit", "correct the values or the template that the message names"},
		{ReasonInvalidConfig, Error, "`ConfigValid` False, `Stalled`", "the Vector configuration would not start", "correct the Vector configuration at the place in the message; kubectl vectorsidecar lint reports the same"},
		{ReasonConfigMapNotFound, Error, "`ConfigValid` False, `Stalled`", "the referenced ConfigMap or its key does not exist; it is used as soon as it does", "create the ConfigMap in the VectorSidecar's namespace, with the key that the message names"},
		{ReasonConflict, Error, "`Ready` False, `Stalled`", "a name is taken, or another field manager owns what would be written", "choose another name for the container or volume, or configure the deployer that the message names to leave the sidecar alone"},
		{ReasonBlocked, Error, "`Ready` False, `Stalled`", "a workload cannot take the sidecar as it is", "as the message says, choose another port or volume for the sidecar, or correct the field of the workload"},
		{ReasonApplyRejected, Error, "`Ready` False, `Stalled`", "the API server rejected a write, and would reject it again: it is tried again after 5 minutes, and when the workload or the sidecar changes; until then it takes no place among `maxConcurrent`", "read the API server's error in the message; the cause is often a policy or a quota"},
		{ReasonPreflightRejected, Error, "`Ready` False, `Stalled`; `status.workloads`", "the API server refuses dry runs with the sidecar (`preflight.enabled`), as the message quotes: for a quota, a LimitRange, Pod Security, a webhook, or because a Secret is missing. What the workload has stays, and it is tried again after 1 minute, with a backoff of up to 5 minutes, and when the sidecar or what the workload's pods need changes", "raise the quota, or lower the sidecar's requests: sidecar.resources; create the Secret; change what the webhook or policy in the message wants; to try again at once: kubectl vectorsidecar reconcile"},
		{ReasonApplicationRejected, Info, "`status.workloads`", "the API server refuses dry runs of the workload's pods without the sidecar, too (`preflight.enabled`): another template would start a rollout that cannot go on. It gets the sidecar when its pods are let in", "see in the message what refuses the pods: a missing ServiceAccount, a quota without room, or a policy, perhaps one that lets only controllers create pods"},
		{ReasonRolloutFailed, Error, "`Ready` False, `Stalled`", "a workload passed its progress deadline, or its pods failed before the end of `spec.rollout.soak`: because of the sidecar, or for 2 minutes if the cause is not known; other workloads wait because of it", "look at the pods of the workload: image, Pod Security, quota, the sidecar's logs"},
		{ReasonTemplateInWorkloadRef, Info, "`status.workloads`", "the workload is an Argo Rollout with `workloadRef`: its pods have the template of the workload that the message names", "list the kind of that workload in spec.workloads"},
		{ReasonTemplateImmutable, Error, "`Ready` False, `Stalled`", "the pod template of the workload cannot be changed: it is a Job", "select what creates it instead, such as its CronJob, or take Job out of spec.workloads"},
		{ReasonDrifted, Warning, "`Ready` False, `Stalled`", "someone changed the sidecar in a workload, and `spec.driftPolicy` is `Report`", "undo the change, or set spec.driftPolicy to Enforce"},
		{ReasonCorrectionLoop, Error, "`Ready` False, `Stalled`", "someone removes the sidecar after each write; repairs are suspended for a while", "find the last writer that the message names and make it leave the sidecar alone, or opt the workload out"},
		{ReasonOptedOut, Info, "`status.workloads`", "the workload's annotation `inject` is not `\"true\"`", "remove the annotation if the sidecar is wanted"},
		{ReasonOwnedBy, Info, "`status.workloads`; event on a workload", "another operator owns the workload, by the object that the message names (a controller owner reference): it is about to get its first sidecar, is left out (`spec.ownedWorkloads` is `Skip`), or gets the sidecar from the API server when its owner writes it (`AtAdmission`); the message says which, and what the API server cannot put in", "nothing; if that operator writes its workloads whole, choose AtAdmission or Skip before it takes the sidecar out"},
		{ReasonRemovedByOwner, Error, "`Ready` False, `Stalled`; `status.workloads`; event on a workload", "another operator owns the workload, and it, or one with an owner of the same kind, has taken the sidecar out or changed it (`status.removedByOwners`): it is not put in again", "set spec.ownedWorkloads to AtAdmission or Skip, or have that operator add the sidecar to its own template; to have it tried again: kubectl vectorsidecar rollout retry vectorsidecar/NAME"},
		{ReasonSuperseded, Info, "`status.workloads` of a ClusterVectorSidecar", "a VectorSidecar of the namespace injects a container of the same name, and comes first", "nothing; to have both, give one of them another name in spec.sidecar.name"},
		{ReasonHostNetwork, Info, "`status.workloads`", "the workload's pods have `hostNetwork`, so that the sidecar's ports would be the node's, and `spec.hostNetwork` is not `Inject`", "choose ports that are free on each node (sidecar.metrics.port, sidecar.health.port), and set spec.hostNetwork to Inject"},
		{ReasonWindows, Info, "`status.workloads`", "the workload's pods run on Windows nodes only (the message names the field), and the sidecar is for Linux", "nothing; Vector on Windows nodes is for the nodes' own agents"},
		{ReasonWorkloadPaused, Info, "`status.workloads`", "the workload is paused; it gets the sidecar when it is resumed", "resume the workload: kubectl rollout resume"},
		{ReasonWorkloadDeleting, Info, "`status.workloads`", "the workload is being deleted", "nothing"},
	}
}

// ofEvents returns the reasons that appear only in events.
func ofEvents() []Reason {
	return []Reason{
		{ReasonInjected, Info, "event", "a workload got the sidecar", "nothing"},
		{ReasonUpdated, Info, "event", "a workload got another version of the sidecar", "nothing"},
		{ReasonRevertEnded, Info, "event", "a VectorSidecar whose own spec was reverted gets it as it is again: it has changed, or a person has it tried again", "nothing"},
		{ReasonRemoved, Info, "event", "the sidecar was removed from a workload", "nothing"},
		{ReasonLeftoverFound, Warning, "event on a workload", "the workload has something of a VectorSidecar that does not exist, which the operator does not remove by itself", "read why in the message; to have it removed, create a VectorSidecar of that name that selects nothing, and delete it"},
		{ReasonLeftoverRemoved, Info, "event on a workload", "a late write had left a sidecar after its VectorSidecar was deleted; it was removed", "nothing"},
		{ReasonTemplateSetLoaded, Info, "event on a ConfigMap", "a new version of a template set is in use", "nothing"},
		{ReasonPolicyLoaded, Info, "event on a ConfigMap", "a new policy is in force", "nothing"},
		{ReasonRolloutLoaded, Info, "event on a ConfigMap", "another `rollout` of the installation's values is in force", "nothing"},
	}
}
