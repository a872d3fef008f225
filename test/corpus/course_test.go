// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// course is the test of one workload with one sidecar.
type course struct {
	sample   *sample
	workload *Workload
	name     string
	// next is the first owner's write for the next version.
	next Write
	// before is the workload as its owners created it.
	before workload.Object
	// twin is the name of an equal workload, which gets the same writes, but never a sidecar.
	twin string
	// isSelected reports that the workload is selected for the sidecar.
	isSelected bool
}

func newCourse(s *sample, w *Workload) *course {
	name := fmt.Sprintf("w%d", names.Add(1))
	return &course{sample: s, workload: w, next: w.Redeployed(), name: name, twin: name + "-twin"}
}

func (c *course) pair() string {
	return fmt.Sprintf("VectorSidecar %q and %s", c.sample.sidecar.Name, c.workload.About)
}

// make sends the owners' writes, and checks the result.
func (c *course) make(ctx context.Context) error {
	for i := range c.workload.Writes {
		for _, name := range []string{c.name, c.twin} {
			err := c.write(ctx, name, &c.workload.Writes[i], i == 0)
			if c.workload.Kind.custom && isUndefined(err) {
				return errUndefined
			}
			if err != nil {
				return fmt.Errorf("the generator's mistake: %w%s", err, c.manifests())
			}
		}
	}
	var err error
	c.before, err = c.read(ctx, c.name)
	return err
}

// kind returns the product's adapter for the workload's kind.
func (c *course) kind() *workload.Kind { return workload.KindByName(c.workload.Kind.Name) }

func (c *course) read(ctx context.Context, name string) (workload.Object, error) {
	object := c.kind().New()
	if err := world.Client.Get(ctx, client.ObjectKey{Namespace: c.sample.sidecar.Namespace, Name: name}, object); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return object, nil
}

func copyOf(object workload.Object) workload.Object { return object.DeepCopyObject().(workload.Object) }

// takes reports whether the workload gets the sidecar when it is selected. A CronJob does not get one that would
// keep its Jobs running; then the reason must say so.
func (c *course) takes(ctx context.Context) (bool, error) {
	selected, err := c.turn(ctx, true, client.DryRunAll)
	if err != nil {
		return false, nil //nolint:nilerr // The API server refuses the label, too.
	}
	p, err := c.sample.plan(ctx, selected)
	if err != nil || p == nil || p.HasChange(plan.Inject) {
		return err == nil && p != nil, nil
	}
	if c.workload.Kind.job && !p.IsSkipped() && !strings.Contains(p.Message(), "use a native sidecar (sidecar.native)") {
		return false, fmt.Errorf("it is not taken for another reason: %s: %s%s", p.Reason(), p.Message(), c.manifests())
	}
	return false, nil
}

// turn selects or deselects the workload, and returns it.
func (c *course) turn(ctx context.Context, on bool, options ...client.PatchOption) (workload.Object, error) {
	live, _ := c.sample.watch.now(c.name)
	if live == nil {
		live = c.before
	}
	wanted := copyOf(live)
	c.sample.turn(wanted, on)
	if len(options) == 0 {
		c.isSelected = on
	}
	err := world.Client.Patch(ctx, wanted, client.MergeFrom(live), append(options, client.FieldOwner("kubectl-label"))...)
	return wanted, err
}

// inject selects the workload, and compares the operator's result with that of the offline merge: for the live
// workload, and for a manifest of it without fields of the cluster.
func (c *course) inject(ctx context.Context) error {
	selected, err := c.turn(ctx, true, client.DryRunAll)
	if err != nil {
		return fmt.Errorf("selecting it: %w", err)
	}
	wanted := map[string]string{}
	for from, deployment := range map[string]workload.Object{"the workload": selected, "its manifest": manifestOf(selected)} {
		template, err := c.merge(ctx, deployment)
		if err != nil {
			return fmt.Errorf("merging %s offline: %w%s", from, err, c.manifests())
		}
		wanted[from] = template
	}
	if _, err := c.turn(ctx, true); err != nil {
		return fmt.Errorf("selecting it: %w", err)
	}
	said := c.sample.watch.until(ctx, c.name, func(live workload.Object) string {
		for from, template := range wanted {
			if got := templateOf(live); got != template {
				return fmt.Sprintf("the offline merge of %s (-) is not what the operator makes (+):\n%s", from, diff(template, got))
			}
		}
		if p, err := c.sample.plan(ctx, live); err != nil || p == nil || !p.HasChange(plan.None) {
			return unfinished(p, err)
		}
		return ""
	})
	if said != "" {
		return fmt.Errorf("injected: %s%s", said, c.manifests())
	}
	return nil
}

// manifestOf returns a workload as its owner would store it in a file.
func manifestOf(object workload.Object) workload.Object {
	manifest := copyOf(object)
	manifest.SetUID("")
	manifest.SetResourceVersion("")
	manifest.SetGeneration(0)
	manifest.SetCreationTimestamp(metav1.Time{})
	manifest.SetManagedFields(nil)
	return manifest
}

// merge returns the pod template of the offline merge, with the API server's defaults.
func (c *course) merge(ctx context.Context, object workload.Object) (string, error) {
	p, err := c.sample.plan(ctx, object)
	if err != nil || !p.HasChange(plan.Inject) {
		return "", fmt.Errorf("planning %+v: %w", p, err)
	}
	result, err := c.sample.merger.Workload(object, p)
	if err != nil {
		return "", err
	}
	merged := c.kind().New()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(result.Object, merged); err != nil {
		return "", err
	}
	merged = manifestOf(merged)
	merged.SetName(merged.GetName() + "-offline")
	if err := world.Client.Create(ctx, merged, client.DryRunAll); err != nil {
		return "", err
	}
	return templateOf(merged), nil
}

// takesAgain reports whether the workload still gets the sidecar after its owner's next deployment, by its twin
// without a sidecar. The deployment may have paused it, or moved its pods to the host network.
func (c *course) takesAgain(ctx context.Context) (bool, error) {
	twin, err := c.read(ctx, c.twin)
	if err != nil {
		return false, err
	}
	c.sample.turn(twin, true)
	p, err := c.sample.plan(ctx, twin)
	return p != nil && p.HasChange(plan.Inject), err
}

// redeployed sends the first owner's next version while the sidecar is injected.
func (c *course) redeployed(ctx context.Context) error {
	if _, err := c.turn(ctx, true); err != nil {
		return fmt.Errorf("selecting it: %w", err)
	}
	if said := c.settled(ctx); said != "" {
		return fmt.Errorf("injected again: %s%s", said, c.manifests())
	}
	got, want := c.deploy(ctx, &c.next)
	if isRefused(got) != isRefused(want) {
		return fmt.Errorf("deployed over the sidecar (+), and without it (-):\n%s%s", diff(want, got), c.manifests())
	}
	if said := c.settled(ctx); said != "" {
		return fmt.Errorf("deployed over the sidecar: %s%s", said, c.manifests())
	}
	return nil
}

// settled waits until the operator has no more changes for the workload.
func (c *course) settled(ctx context.Context) string {
	return c.sample.watch.until(ctx, c.name, func(live workload.Object) string {
		if p, err := c.sample.plan(ctx, live); err != nil || p == nil || !p.HasChange(plan.None) || !p.Existing.IsOwned {
			return unfinished(p, err)
		}
		return ""
	})
}

// unfinished returns the changes that a plan would still make to a workload, or why it makes none.
func unfinished(p *plan.Plan, err error) string {
	if err != nil || p == nil {
		return fmt.Sprintf("the operator has no plan: %v", err)
	}
	return fmt.Sprintf("the operator has not come to an end: %s %s: %s", p.Action(), p.Reason(), p.Message())
}

// giveBack deselects the workload, requires that nothing of the sidecar is left, and sends the owner's deployments
// without and with the changes of the next version.
func (c *course) giveBack(ctx context.Context) error {
	if _, err := c.turn(ctx, false); err != nil {
		return fmt.Errorf("deselecting it: %w", err)
	}
	twin, err := c.read(ctx, c.twin)
	if err != nil {
		return err
	}
	template := templateOf(twin)
	said := c.sample.watch.until(ctx, c.name, func(live workload.Object) string { return traces(live, template) })
	if said != "" {
		return fmt.Errorf("taken out: %s%s", said, c.manifests())
	}
	for _, write := range []*Write{&c.workload.Writes[0], &c.next, &c.workload.Writes[0]} {
		if got, want := c.deploy(ctx, write); got != want && c.withoutUnowned(got) != c.withoutUnowned(want) {
			return fmt.Errorf("taken out: the owner's next deploy (+) does not do what it does without (-):\n%s%s", diff(want, got), c.manifests())
		}
	}
	return nil
}

// isUnowned reports whether an owner was refused without the sidecar, and is not any more, because nobody owns now what
// another owned until somebody wrote to it, whoever that was: annotations, of the workload or of its pods, that are null,
// and the volumes of a kind in which they are one value (docs/how-to/workloads/workloads.md).
func (c *course) isUnowned(got, want string) bool {
	_, conflict, _ := strings.Cut(want, "with 1 conflict: conflict with ")
	isOfNull := strings.HasPrefix(conflict, `"platform-team": .`) && strings.HasSuffix(conflict, "metadata.annotations")
	isOfVolumes := c.workload.Kind.custom && strings.HasSuffix(conflict, ": .spec.template.spec.volumes")
	return !isRefused(got) && isRefused(want) && (isOfNull || isOfVolumes)
}

// traces returns what is left of a sidecar in a workload that had the given pod template.
func traces(live workload.Object, template string) string {
	if got := templateOf(live); got != template {
		return "before (-) and after (+) differ:\n" + diff(template, got)
	}
	for key := range live.GetAnnotations() {
		if strings.HasPrefix(key, meta.Group+"/") && key != meta.AnnotationInject {
			return "it keeps the annotation " + key
		}
	}
	for _, entry := range live.GetManagedFields() {
		if meta.IsManager(entry.Manager) {
			return fmt.Sprintf("managedFields hold %s %s %s", entry.Manager, entry.Operation, entry.FieldsV1.GetRawString())
		}
	}
	return ""
}

func (c *course) delete(ctx context.Context) error {
	for _, name := range []string{c.name, c.twin} {
		object := c.kind().New()
		object.SetNamespace(c.sample.sidecar.Namespace)
		object.SetName(name)
		if err := client.IgnoreNotFound(world.Client.Delete(ctx, object)); err != nil {
			return err
		}
	}
	return nil
}

// deploy has an owner write, and returns the pod template or what is said against it;
// of the workload, and of its twin. Where only the twin's owner was refused because of
// what nobody owns in the workload, the twin is written by force, so that both go on alike.
func (c *course) deploy(ctx context.Context, write *Write) (got, want string) {
	got, want = c.deployTo(ctx, c.name, write), c.deployTo(ctx, c.twin, write)
	if c.isUnowned(got, want) {
		forced := *write
		forced.Way = Forced
		want = c.deployTo(ctx, c.twin, &forced)
	}
	return got, want
}

func (c *course) deployTo(ctx context.Context, name string, write *Write) string {
	object, err := c.send(ctx, name, write, false)
	if err != nil {
		return refusal + strings.ReplaceAll(err.Error(), c.twin, c.name)
	}
	deployed := c.kind().New()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployed); err != nil {
		return refusal + err.Error()
	}
	return templateOf(deployed)
}

const refusal = "refused: "

func isRefused(said string) bool { return strings.HasPrefix(said, refusal) }

// manifests returns the owners' writes, to reproduce a failure.
func (c *course) manifests() string {
	var b strings.Builder
	for i := range c.workload.Writes {
		write := &c.workload.Writes[i]
		content, err := yaml.Marshal(c.workload.Kind.Placed(write.Object))
		if err != nil {
			return err.Error()
		}
		fmt.Fprintf(&b, "\n# %s as %s\n%s", write.Way, write.Manager, content)
	}
	return b.String()
}

func text(value any) string {
	content, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(content)
}

// diff returns the difference of two JSON texts.
func diff(one, other string) string {
	var a, b any
	if json.Unmarshal([]byte(one), &a) != nil || json.Unmarshal([]byte(other), &b) != nil {
		return cmp.Diff(one, other)
	}
	if difference := cmp.Diff(a, b); difference != "" {
		return difference
	}
	return "- " + one + "\n+ " + other
}
