// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

// Level is how much a reason wants of a person.
type Level string

const (
	// Info wants nothing, or patience.
	Info Level = "info"
	// Warning says that something is not as it was meant.
	Warning Level = "warning"
	// Error says that something does not work until a person mends it.
	Error Level = "error"
)

// Reason is a line of the catalogue of reasons.
type Reason struct {
	// Name is the word in conditions, events and status.unsettled.
	Name  string
	Level Level
	// On says where the word stands, Meaning what it says, Help what to do.
	On, Meaning, Help string
}

// Reasons returns the catalogue, in the order of its page.
func Reasons() []Reason {
	return []Reason{
		{ReasonUpToDate, Info, "`Ready` True", "every matched workload runs the current sidecar and has finished rolling out", "nothing"},
		{ReasonNoMatch, Info, "`Ready` True", "the selector matches no workload of the namespace", "if one should match, compare its labels with the selector: kubectl vectorsidecar explain WORKLOAD"},
		{ReasonDisabled, Info, "`Ready` True", "`spec.enabled` is false and nothing carries the sidecar", "set spec.enabled to true to inject again"},
		{ReasonAsExpected, Info, "`ConfigValid` True, `Error` False", "nothing to tell", "nothing"},
		{ReasonRollingOut, Info, "`Ready` False, `Reconciling`", "workloads are replacing their pods, or were written to in this pass", "wait; if it takes long, look at the pods of the workload"},
		{ReasonSoaking, Info, "`Ready` False, `Reconciling`; `status.unsettled`", "workloads have rolled out, and their pods have not been available for `spec.rollout.soak` yet", "wait, or shorten spec.rollout.soak"},
		{ReasonUnavailable, Warning, "`Ready` False, `Reconciling`; `status.unsettled`", "a workload that had rolled out has lost pods; within `spec.rollout.soak` it keeps its place among `maxConcurrent`, and counts as failed after 2 minutes", "look at the pods of the workload, or allow the operator to (rbac.optional.pods)"},
		{ReasonPodsRefused, Error, "`Ready` False, `Error`, `Reconciling`; `status.unsettled`", "the API server refuses to make pods of a workload; its words are in the message: a quota, a LimitRange, Pod Security, a webhook", "raise the quota, or have the sidecar ask for less: sidecar.resources; for Pod Security, take out of it what the message names"},
		{ReasonUnschedulable, Error, "`Ready` False, `Error`, `Reconciling`; `status.unsettled`", "no node takes a pod of a workload. Seen with `rbac.optional.pods`", "add nodes, or have the sidecar ask for less: sidecar.resources"},
		{ReasonImagePullBackOff, Error, "`status.unsettled`", "the image of the sidecar, or of an init container beside it, cannot be pulled. Seen with `rbac.optional.pods`", "correct sidecar.image, or give the pods the right to pull it"},
		{ReasonCrashLoopBackOff, Error, "`status.unsettled`", "the sidecar ends after it was started. Seen with `rbac.optional.pods`", "read what it says: kubectl logs POD -c CONTAINER --previous"},
		{ReasonOOMKilled, Error, "`status.unsettled`", "the sidecar took more memory than its limit. Seen with `rbac.optional.pods`", "raise sidecar.resources.limits.memory"},
		{ReasonCreateContainerConfigError, Error, "`status.unsettled`", "a Secret, ConfigMap or key is not there that the sidecar's variables refer to, or it cannot be made as it is. Seen with `rbac.optional.pods`", "make what the message names, or correct sidecar.env and sidecar.envFrom"},
		{ReasonRemoving, Info, "`Ready` False, `Reconciling`", "workloads are losing the sidecar", "wait"},
		{ReasonWaitingForBudget, Info, "`Ready` False, `Reconciling`", "`spec.rollout.maxConcurrent` workloads are rolling out or soak; the rest waits", "wait, raise spec.rollout.maxConcurrent, or shorten spec.rollout.soak"},
		{ReasonValidating, Info, "`Ready` False, `Reconciling`", "a Job has Vector judge the configuration before anything is written", "wait"},
		{ReasonNotValidated, Warning, "`Ready` False, `Reconciling`", "Vector could not be asked, and `whenUnable` is `wait`", "see why Vector could not be asked in the message, or set sidecar.config.validateJob.whenUnable to proceed"},
		{ReasonRolloutPaused, Info, "`Ready` False, `Reconciling`", "`spec.rollout.paused` is true and something waits", "set spec.rollout.paused to false"},
		{ReasonRetrying, Error, "`Ready` False, `Error`, `Reconciling`", "a write failed in a way that may pass; it is tried again after 1 second, and less often up to every 5 minutes", "read the API server's words in the message; if it is about rights, grant them to the operator: kubectl vectorsidecar check"},
		{ReasonInvalidSelector, Error, "`ConfigValid` False, `Stalled`", "the selector cannot be read, or is empty without `matchAll`", "name a label in spec.selector, or set spec.matchAll to true"},
		{ReasonTooLarge, Error, "`ConfigValid` False, `Stalled`", "the VectorSidecar has more than 768 KiB, or more than 30,000 values, of which nothing is read but its status; what is injected stays as it is", "put a large configuration into a ConfigMap (sidecar.config.configMapRef), and leave out of spec.values what no template reads"},
		{ReasonUnknownEnvironment, Error, "`ConfigValid` False, `Stalled`", "no values for that environment; the message lists those that exist", "correct the name, or give the installation values for that environment"},
		{ReasonInvalidValues, Error, "`ConfigValid` False, `Stalled`", "a layer of values does not fit the schema; the message names layer, line and path", "correct the value at the path and line in the message; kubectl vectorsidecar schema says what may be there"},
		{ReasonUnknownTemplateSet, Error, "`ConfigValid` False, `Stalled`", "no template set of that name; the message lists those that exist", "correct spec.templateSet, or the templateSet of the environment"},
		{ReasonInvalidTemplateSet, Error, "`ConfigValid` False, `Stalled`", "a template set cannot be loaded; the message names file and line. The last good version stays in use, if there was one. Event on its ConfigMap", "correct the file at the line in the message, in the ConfigMap of the template set"},
		{ReasonInvalidPolicy, Error, "`ConfigValid` False, `Stalled`", "the installation's policy cannot be read; the last good one holds, if there was one. Event on its ConfigMap", "correct policy in the values of the installation"},
		{ReasonPolicyViolation, Error, "`ConfigValid` False, `Stalled`; `status.unsettled`", "what was rendered is not what the policy allows; the message names template, path and rule", "render what the policy allows, or have the platform team allow it"},
		{ReasonPodSecurity, Error, "`Ready` False, `Stalled`", "the namespace's Pod Security level would refuse a workload's pods because of the sidecar", "take what the message names out of the sidecar, or give the namespace another Pod Security level"},
		{ReasonInvalidTemplate, Error, "`ConfigValid` False, `Stalled`", "a template stopped with an error, or called `fail` because of the values or the workload", "read the message; most often no container mounts a volume at sidecar.logs.path"},
		{ReasonInvalidSidecar, Error, "`ConfigValid` False, `Stalled`", "the templates gave something that must not be injected: an unknown field, a field of the workload's owner, a request above its limit", "correct the values or the template that the message names"},
		{ReasonInvalidConfig, Error, "`ConfigValid` False, `Stalled`", "the Vector configuration would not start", "correct the Vector configuration at the place in the message; kubectl vectorsidecar lint finds the same"},
		{ReasonConfigMapNotFound, Error, "`ConfigValid` False, `Stalled`", "the referenced ConfigMap or its key does not exist; it is used as soon as it does", "create the ConfigMap in the VectorSidecar's namespace, with the key that the message names"},
		{ReasonConflict, Error, "`Ready` False, `Stalled`", "a name is taken, or another field manager owns what would be written", "choose another name for the container or volume, or have the deployer that the message names leave the sidecar alone"},
		{ReasonBlocked, Error, "`Ready` False, `Stalled`", "a workload cannot take the sidecar as it is", "choose another port or volume for the sidecar, as the message says"},
		{ReasonApplyRefused, Error, "`Ready` False, `Stalled`", "the API server refused, and would refuse the same again", "read the API server's words in the message; what refuses is often a policy or a quota"},
		{ReasonRolloutFailed, Error, "`Ready` False, `Stalled`", "a workload passed its progress deadline, or its pods broke before the end of `spec.rollout.soak`: by the sidecar's fault, or for 2 minutes where the cause is not seen; others wait because of it", "look at the pods of the workload: image, Pod Security, quota, the sidecar's own words"},
		{ReasonDrifted, Warning, "`Ready` False, `Stalled`", "somebody changed the sidecar in a workload, and `spec.driftPolicy` is `Report`", "undo the change, or set spec.driftPolicy to Enforce"},
		{ReasonRepairLoop, Error, "`Ready` False, `Stalled`", "somebody takes the sidecar out after each write; broken off for a while", "find the last writer that the message names and have it leave the sidecar alone, or opt the workload out"},
		{ReasonOptedOut, Info, "`status.unsettled`", "the workload's annotation `inject` is not `\"true\"`", "remove the annotation if the sidecar is wanted"},
		{ReasonWorkloadPaused, Info, "`status.unsettled`", "the workload is paused; it gets the sidecar when it is resumed", "resume the workload: kubectl rollout resume"},
		{ReasonWorkloadDeleting, Info, "`status.unsettled`", "the workload is being deleted", "nothing"},
		{ReasonInjected, Info, "event", "a workload got the sidecar", "nothing"},
		{ReasonUpdated, Info, "event", "a workload got another version of it", "nothing"},
		{ReasonRemoved, Info, "event", "a workload is without it again", "nothing"},
		{ReasonLeftoverFound, Warning, "event on a workload", "it carries something of a VectorSidecar that does not exist, which the operator does not take out by itself", "read why in the message; to have it taken out, create a VectorSidecar of that name that selects nothing, and delete it"},
		{ReasonLeftoverRemoved, Info, "event on a workload", "a write that arrived after its VectorSidecar was gone had left a sidecar; it is out again", "nothing"},
		{ReasonCacheDiffered, Warning, "event on a workload", "a live list showed another state of it than the operator's cache, of which no watch had told; the cache is listed anew", "nothing; if it comes again, look at what stands between the operator and the API server, and at the API server's own cache"},
		{ReasonTemplateSetLoaded, Info, "event on a ConfigMap", "a new version of a template set is in use", "nothing"},
		{ReasonPolicyLoaded, Info, "event on a ConfigMap", "a new policy holds", "nothing"},
	}
}
