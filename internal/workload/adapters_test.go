// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

func TestStatefulSetProgress_DerivesStateFromStatus(t *testing.T) {
	// Numbers of pods: that there are, that are updated, that are available.
	status := func(pods, updated, available int32, current string) appsv1.StatefulSetStatus {
		return appsv1.StatefulSetStatus{
			ObservedGeneration: 2, Replicas: pods, UpdatedReplicas: updated, AvailableReplicas: available, CurrentRevision: current, UpdateRevision: "new",
		}
	}
	partition := func(ordinal int32) appsv1.StatefulSetUpdateStrategy {
		return appsv1.StatefulSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: &ordinal}}
	}
	onDelete := appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
	for name, test := range map[string]struct {
		status   appsv1.StatefulSetStatus
		strategy appsv1.StatefulSetUpdateStrategy
		rollout  Rollout
		old      int32
	}{
		"not seen yet":                         {appsv1.StatefulSetStatus{ObservedGeneration: 1, Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 3}, partition(0), RolloutProgressing, 0},
		"pods are replaced":                    {status(3, 1, 3, "old"), partition(0), RolloutProgressing, 2},
		"it is new, or scaled":                 {status(2, 2, 2, "new"), partition(0), RolloutUnavailable, 0},
		"the last one is not available yet":    {status(3, 3, 2, "old"), partition(0), RolloutProgressing, 0},
		"done":                                 {status(3, 3, 3, "new"), partition(0), RolloutComplete, 0},
		"one was lost later":                   {status(3, 3, 2, "new"), partition(0), RolloutUnavailable, 0},
		"above the partition":                  {status(3, 0, 3, "old"), partition(2), RolloutProgressing, 3},
		"up to the partition":                  {status(3, 1, 3, "old"), partition(2), PodsNotReplaced, 2},
		"up to the partition, one unavailable": {status(3, 1, 2, "old"), partition(2), RolloutProgressing, 2},
		"a partition above all pods":           {status(3, 0, 3, "old"), partition(7), PodsNotReplaced, 3},
		"deleted by nobody":                    {status(3, 0, 3, "old"), onDelete, PodsNotReplaced, 3},
		"all deleted, as the controller leaves the revision": {status(3, 3, 3, "old"), onDelete, RolloutComplete, 0},
	} {
		t.Run(name, func(t *testing.T) {
			set := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](3), UpdateStrategy: test.strategy}, Status: test.status}
			set.Generation = 2

			content, isOne := Read(set)

			require.True(t, isOne)
			require.Equal(t, test.rollout, content.Rollout)
			require.Equal(t, test.old, content.Old)
			require.Equal(t, test.rollout == PodsNotReplaced, content.HeldReason != "")
		})
	}
}

func TestDaemonSetProgress_DerivesStateFromStatus(t *testing.T) {
	status := func(wanted, there, updated, available int32) appsv1.DaemonSetStatus {
		return appsv1.DaemonSetStatus{
			ObservedGeneration: 2, DesiredNumberScheduled: wanted, CurrentNumberScheduled: there, UpdatedNumberScheduled: updated, NumberAvailable: available,
		}
	}
	onDelete := appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	for name, test := range map[string]struct {
		status   appsv1.DaemonSetStatus
		strategy appsv1.DaemonSetUpdateStrategy
		rollout  Rollout
	}{
		"not seen yet":        {appsv1.DaemonSetStatus{ObservedGeneration: 1}, appsv1.DaemonSetUpdateStrategy{}, RolloutProgressing},
		"pods are replaced":   {status(3, 3, 1, 3), appsv1.DaemonSetUpdateStrategy{}, RolloutProgressing},
		"one is between":      {status(3, 2, 1, 2), appsv1.DaemonSetUpdateStrategy{}, RolloutProgressing},
		"a node is new":       {status(3, 2, 2, 2), appsv1.DaemonSetUpdateStrategy{}, RolloutUnavailable},
		"one is not running":  {status(3, 3, 3, 2), appsv1.DaemonSetUpdateStrategy{}, RolloutUnavailable},
		"done":                {status(3, 3, 3, 3), appsv1.DaemonSetUpdateStrategy{}, RolloutComplete},
		"no node wants it":    {status(0, 0, 0, 0), appsv1.DaemonSetUpdateStrategy{}, RolloutComplete},
		"deleted by nobody":   {status(3, 3, 0, 3), onDelete, PodsNotReplaced},
		"all of them deleted": {status(3, 3, 3, 3), onDelete, RolloutComplete},
	} {
		t.Run(name, func(t *testing.T) {
			set := &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{UpdateStrategy: test.strategy}, Status: test.status}
			set.Generation = 2

			content, isOne := Read(set)

			require.True(t, isOne)
			require.Equal(t, test.rollout, content.Rollout)
			require.Equal(t, test.rollout == PodsNotReplaced, content.HeldReason != "")
		})
	}
}

// A write restarts no pods of a CronJob. The status reports that the next run uses the written template.
func TestReadCronJob_ReportsPodsPendingUntilNextRun(t *testing.T) {
	job := &batchv1.CronJob{}
	content, _ := Read(job)
	require.Equal(t, RolloutComplete, content.Rollout, "nothing of ours is in it")

	wrote := metav1.NewTime(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	job.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: "vectorsidecar/logs", Operation: metav1.ManagedFieldsOperationApply, Time: &wrote, FieldsV1: metav1.NewFieldsV1(`{}`),
	}}
	job.Status.Active = []corev1.ObjectReference{{Name: "report-1"}}
	content, _ = Read(job)
	require.Equal(t, PodsNotReplaced, content.Rollout)
	require.EqualValues(t, 1, content.Old)
	require.Equal(t, "the next run uses the new template", content.HeldReason)

	job.Spec.Suspend = ptr.To(true)
	content, _ = Read(job)
	require.Contains(t, content.HeldReason, "suspended")

	job.Status.LastScheduleTime = ptr.To(metav1.NewTime(wrote.Add(time.Minute)))
	content, _ = Read(job)
	require.Equal(t, RolloutComplete, content.Rollout)
}

// The Jobs of a CronJob, and the validation Jobs of the operator, are not workloads.
func TestRead_SkipsCronJobRunsAndValidationJobs(t *testing.T) {
	own, run, validation := &batchv1.Job{}, &batchv1.Job{}, &batchv1.Job{}
	run.OwnerReferences = []metav1.OwnerReference{{Kind: "CronJob", Controller: ptr.To(true)}}
	validation.Labels = map[string]string{"vectorsidecar.observability.kontroloop.ai/validation": "k"}
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("Job"))
	for object, want := range map[any]bool{own: true, run: false, validation: false, metadata: true, &metav1.PartialObjectMetadata{}: false} {
		_, isOne := Read(object)
		require.Equal(t, want, isOne)
	}
}

// The pod template of an applied body is moved to the path that the kind has for it, and field paths are adapted.
func TestMoveTemplate_MovesTemplateToPathOfKind(t *testing.T) {
	body := map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{"a": "b"}},
		"spec":     map[string]any{"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"c": "d"}}}},
	}
	before := runtime.DeepCopyJSON(body)

	placed := cronJobs.MoveTemplate(body)

	require.Equal(t, before, body, "it is a copy")
	require.Equal(t, "d", tree.Text(placed, "spec", "jobTemplate", "spec", "template", "metadata", "labels", "c"))
	require.Equal(t, "b", tree.Text(placed, "metadata", "annotations", "a"))
	require.Nil(t, tree.MapAt(placed, "spec")["template"])
	require.Equal(t, body, deployments.MoveTemplate(body))
	require.Equal(t, ".spec.template.spec.volumes", cronJobs.NormalizeFieldPath(".spec.jobTemplate.spec.template.spec.volumes"))
	require.Equal(t, ".spec.schedule", cronJobs.NormalizeFieldPath(".spec.schedule"))
	require.Equal(t, ".spec.template.spec", deployments.NormalizeFieldPath(".spec.template.spec"))

	fields := map[string]any{"f:spec": map[string]any{"f:jobTemplate": map[string]any{"f:spec": map[string]any{"f:template": map[string]any{"f:spec": map[string]any{"f:x": map[string]any{}}}}}}}
	found, path := liftTemplate(fields)
	require.NotNil(t, podFields(found))
	require.Equal(t, fields, lowerTemplate(found, path))
	again, none := liftTemplate(found)
	require.Nil(t, none)
	require.Equal(t, found, lowerTemplate(again, none))
}

// Some kinds have no progress deadline in their status. The deadline of the operator applies to them.
func TestIsOverdue_AppliesDeadlineOfOperator(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	before := State{Rollout: RolloutProgressing, Progress: Progress{ProgressCount: 2, Newest: 1}, MaxProgress: 2, Availability: Availability{StateSince: now.Add(-9 * time.Minute)}}

	stuck := State{Rollout: RolloutProgressing, Progress: Progress{ProgressCount: 2, Newest: 1}, MaxProgress: 2}
	stuck.CarryOver(&before, true, now)
	isOverdue, remaining := stuck.IsOverdue(&statefulSets, now)
	require.False(t, isOverdue)
	require.Equal(t, time.Minute, remaining)
	isOverdue, _ = stuck.IsOverdue(&statefulSets, now.Add(time.Minute))
	require.True(t, isOverdue)
	isOverdue, remaining = stuck.IsOverdue(&deployments, now.Add(time.Hour))
	require.False(t, isOverdue, "its status says so itself")
	require.Zero(t, remaining)

	moved := State{Rollout: RolloutProgressing, Progress: Progress{ProgressCount: 3, Newest: 1}, MaxProgress: 3}
	moved.CarryOver(&before, true, now)
	_, remaining = moved.IsOverdue(&statefulSets, now)
	require.Equal(t, Deadline, remaining)
}

// The names of volumeClaimTemplates are volumes of the pod.
func TestNewView_IncludesClaimTemplatesInVolumes(t *testing.T) {
	set := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}}}

	view := NewView(set)

	require.True(t, view.HasVolume("data"))
	require.False(t, view.HasVolume("other"))
	require.Empty(t, view.Volumes, "they are not listed in a patch")
}

// The pods of the newest template are found by the name of its revision.
func TestRevisions_FindNewestRevision(t *testing.T) {
	owned := func(of Object, name string, number int64) *appsv1.ControllerRevision {
		revision := &appsv1.ControllerRevision{Revision: number}
		revision.Name, revision.Labels = name, map[string]string{appsv1.ControllerRevisionHashLabelKey: "hash-" + name}
		revision.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(of, appsv1.SchemeGroupVersion.WithKind("x"))}
		return revision
	}
	pod := func(of Object, hash string) *corev1.Pod {
		one := &corev1.Pod{}
		one.Labels = map[string]string{appsv1.ControllerRevisionHashLabelKey: hash}
		one.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(of, appsv1.SchemeGroupVersion.WithKind("x"))}
		return one
	}
	set := &appsv1.StatefulSet{Status: appsv1.StatefulSetStatus{UpdateRevision: "db-2"}}
	set.UID = "set"
	daemon := &appsv1.DaemonSet{}
	daemon.UID = "daemon"

	newest := statefulSets.Revisions.Newest(set, []metav1.Object{owned(daemon, "db-2", 1), owned(set, "db-1", 1), owned(set, "db-2", 2)})
	require.Equal(t, "db-2", newest.GetName())
	require.True(t, statefulSets.Revisions.HasPod(set, newest, pod(set, "db-2")))
	require.False(t, statefulSets.Revisions.HasPod(set, newest, pod(set, "db-1")))
	require.False(t, statefulSets.Revisions.HasPod(set, newest, pod(daemon, "db-2")))
	require.Nil(t, statefulSets.Revisions.Newest(set, nil))

	newest = daemonSets.Revisions.Newest(daemon, []metav1.Object{owned(daemon, "a", 3), owned(daemon, "b", 2), owned(set, "c", 9)})
	require.Equal(t, "a", newest.GetName())
	require.True(t, daemonSets.Revisions.HasPod(daemon, newest, pod(daemon, "hash-a")))
	require.False(t, daemonSets.Revisions.HasPod(daemon, newest, pod(daemon, "hash-b")))
	require.Nil(t, daemonSets.Revisions.Newest(daemon, nil))
}

// A workload returns to the pod template of one of its revisions. This revision is found, whatever defaults the API
// server and labels the controllers have added.
func TestSharesTemplate_FindsRevisionWithEqualTemplate(t *testing.T) {
	template := func(image string, change func(*corev1.PodTemplateSpec)) corev1.PodTemplateSpec {
		made := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: image}}}}
		if change != nil {
			change(&made)
		}
		return made
	}
	of := func(kind, name, uid string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "shop", Name: "web-1", OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: name, UID: types.UID(uid), Controller: ptr.To(true)}}}
	}
	defaulted := func(made *corev1.PodTemplateSpec) {
		made.Labels["pod-template-hash"] = "abc"
		made.Spec.Containers[0].TerminationMessagePath, made.Spec.Containers[0].ImagePullPolicy = "/dev/termination-log", corev1.PullIfNotPresent
	}
	patch := runtime.RawExtension{Raw: []byte(`{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"app","image":"a","resources":{}}]}}}}`)}
	own := metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1"}
	deployment := &appsv1.Deployment{ObjectMeta: own, Spec: appsv1.DeploymentSpec{Template: template("a", nil)}}
	set := &appsv1.StatefulSet{ObjectMeta: own, Spec: appsv1.StatefulSetSpec{Template: template("a", nil)}}
	for name, test := range map[string]struct {
		revision, of Object
		want         bool
	}{
		"the same template":           {&appsv1.ReplicaSet{ObjectMeta: of("Deployment", "web", "1"), Spec: appsv1.ReplicaSetSpec{Template: template("a", nil)}}, deployment, true},
		"with defaults and labels":    {&appsv1.ReplicaSet{ObjectMeta: of("Deployment", "web", "1"), Spec: appsv1.ReplicaSetSpec{Template: template("a", defaulted)}}, deployment, true},
		"another image":               {&appsv1.ReplicaSet{ObjectMeta: of("Deployment", "web", "1"), Spec: appsv1.ReplicaSetSpec{Template: template("b", nil)}}, deployment, false},
		"of another workload":         {&appsv1.ReplicaSet{ObjectMeta: of("Deployment", "db", "1"), Spec: appsv1.ReplicaSetSpec{Template: template("a", nil)}}, deployment, false},
		"of an earlier one":           {&appsv1.ReplicaSet{ObjectMeta: of("Deployment", "web", "0"), Spec: appsv1.ReplicaSetSpec{Template: template("a", nil)}}, deployment, false},
		"of no workload":              {&appsv1.ReplicaSet{ObjectMeta: own, Spec: appsv1.ReplicaSetSpec{Template: template("a", nil)}}, deployment, false},
		"a patch of a StatefulSet":    {&appsv1.ControllerRevision{ObjectMeta: of("StatefulSet", "web", "1"), Data: patch}, set, true},
		"a damaged patch":             {&appsv1.ControllerRevision{ObjectMeta: of("StatefulSet", "web", "1"), Data: runtime.RawExtension{Raw: []byte(`{`)}}, set, false},
		"a patch, for another kind":   {&appsv1.ControllerRevision{ObjectMeta: of("StatefulSet", "web", "1"), Data: patch}, deployment, false},
		"not a revision of any kinds": {&corev1.Pod{ObjectMeta: of("StatefulSet", "web", "1")}, set, false},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, SharesTemplate(test.revision, test.of)) })
	}
}

// A ControllerRevision of a StatefulSet or a DaemonSet contains the pod template in a patch.
func TestPodSpecFor_ReadsControllerRevisions(t *testing.T) {
	revision := &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: []byte(`{"spec":{"template":{"$patch":"replace","spec":{"containers":[{"name":"app"}]}}}}`)}}
	pod, hasOne := PodSpecFor(revision)
	require.True(t, hasOne)
	require.Equal(t, "app", pod.Containers[0].Name)
	for name, other := range map[string]runtime.Object{
		"of something else": &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: []byte(`{"spec":{}}`)}},
		"damaged":           &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: []byte(`{`)}},
		"no holder":         &corev1.Pod{},
	} {
		_, hasOne := PodSpecFor(other)
		require.False(t, hasOne, name)
	}
	require.Len(t, HoldersFor([]*Kind{&deployments}), 1)
	require.Len(t, HoldersFor([]*Kind{&statefulSets, &daemonSets}), 1)
	require.Len(t, HoldersFor(Kinds()), 3)
}

// daemonSet has some pods with the newest template, of which all are available.
func daemonSet(generation int64, wanted, updated int32) *appsv1.DaemonSet {
	set := &appsv1.DaemonSet{}
	set.Generation = generation
	set.Status = appsv1.DaemonSetStatus{
		ObservedGeneration: generation, DesiredNumberScheduled: wanted, CurrentNumberScheduled: wanted, UpdatedNumberScheduled: updated, NumberAvailable: updated,
	}
	return set
}

// Each case is a sequence of watch events, one minute apart, and the expected rollout state after the last one.
func TestState_MeasuresDeadlineFromNewestTemplate(t *testing.T) {
	done, lost := daemonSet(1, 3, 3), daemonSet(1, 3, 3)
	lost.Status.NumberAvailable = 2
	unseen := daemonSet(1, 3, 3)
	unseen.Generation = 2
	first, last := daemonSet(2, 3, 1), daemonSet(2, 3, 3)
	last.Status.NumberAvailable = 2
	back := daemonSet(2, 3, 2)
	newer := daemonSet(3, 3, 0)
	for name, test := range map[string]struct {
		course []*appsv1.DaemonSet
		want   Rollout
		since  int // In minutes.
	}{
		"a pod is lost long after":             {[]*appsv1.DaemonSet{done, lost, lost}, RolloutUnavailable, 1},
		"nobody has seen the template yet":     {[]*appsv1.DaemonSet{done, unseen, unseen}, RolloutProgressing, 1},
		"a pod more has it":                    {[]*appsv1.DaemonSet{done, unseen, first}, RolloutProgressing, 2},
		"none more has it":                     {[]*appsv1.DaemonSet{done, unseen, first, first}, RolloutProgressing, 2},
		"the last pod is missing since":        {[]*appsv1.DaemonSet{done, unseen, first, last, last}, RolloutProgressing, 3},
		"a pod that comes and goes is no more": {[]*appsv1.DaemonSet{done, unseen, back, first, back, first}, RolloutProgressing, 2},
		"another template begins again":        {[]*appsv1.DaemonSet{done, unseen, back, back, newer, newer}, RolloutProgressing, 4},
		"done, and a pod is lost":              {[]*appsv1.DaemonSet{unseen, last, daemonSet(2, 3, 3), last}, RolloutUnavailable, 3},
	} {
		t.Run(name, func(t *testing.T) {
			state := ReadState(test.course[0])
			for i, set := range test.course[1:] {
				next := ReadState(set)
				next.CarryOver(&state, next.Generation == state.Generation, at(60*(i+1)))
				state = next
			}
			require.Equal(t, test.want, state.Rollout)
			require.Equal(t, at(60*test.since), state.StateSince)
		})
	}
}

// The operator restarts right after a write. The status of the workload is older than the write, so the deadline starts
// with the write.
func TestState_MeasuresDeadlineFromLastWrite(t *testing.T) {
	set := daemonSet(2, 3, 3)
	set.Status.ObservedGeneration = 1
	set.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "kube-controller-manager", Subresource: "status", Time: ptr.To(metav1.NewTime(at(0)))},
		{Manager: "vectorsidecar/logs", Operation: metav1.ManagedFieldsOperationApply, Time: ptr.To(metav1.NewTime(at(3600)))},
	}
	state := ReadState(set)
	isOverdue, remaining := state.IsOverdue(&daemonSets, at(3660))
	require.False(t, isOverdue)
	require.Equal(t, Deadline-time.Minute, remaining)

	state = ReadState(daemonSet(2, 3, 3))
	state.Rollout, state.MayContinue = RolloutUnavailable, true
	state.Resume()
	require.Equal(t, RolloutProgressing, state.Rollout, "it is known from elsewhere that it goes on")
}

// A changed label or annotation of the workload starts no rollout, so the soak continues.
func TestState_KeepsSoakWithoutTemplateChange(t *testing.T) {
	before, after := ReadState(daemonSet(2, 3, 3)), ReadState(daemonSet(2, 3, 3))
	before.StateSince, before.Steady = at(0), time.Minute

	after.CarryOver(&before, false, at(100))

	require.Equal(t, RolloutComplete, after.Rollout)
	require.Equal(t, at(0), after.StateSince)
	require.Equal(t, 100*time.Second, after.LongestAvailability(at(100)))
}
