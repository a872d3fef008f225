// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// AdmissionOverlay is a rendering that the API server may inject into new workloads. Condition describes the workloads
// that get it.
type AdmissionOverlay struct {
	Rendered  *Rendered
	Condition OverlayCondition
	// ConfigMap is the ConfigMap that the values refer to, or nil for none.
	ConfigMap *corev1.ConfigMap
}

// OverlayCondition describes the workloads that get an AdmissionOverlay. The templates read the same values from all of
// these workloads, so one rendering fits all of them.
type OverlayCondition struct {
	// Logs is the mount that contains the application's log files, or nil if the mount is irrelevant.
	Logs *LogMount
	// QoS is the QoS class of the pods without the sidecar, or "" if the class is irrelevant.
	QoS QoS
}

// LogMount is the mount in an application container that contains the application's log files. Of nested mounts that
// contain Path, it is the deepest one.
type LogMount struct{ Path, Volume, MountPath string }

// QoS is a class of pods that templates distinguish by their QoS class.
type QoS string

const (
	// Guaranteed is the class of pods with the QoS class Guaranteed.
	Guaranteed QoS = "Guaranteed"
	// OtherQoS is the class of all other pods, except pods with pod-level resources.
	OtherQoS QoS = "Other"
)

// RenderedWorkload is the rendering for an existing workload.
type RenderedWorkload struct {
	Rendered *Rendered
	// QoSClass is the QoS class of the workload's pods without sidecars.
	QoSClass corev1.PodQOSClass
}

const (
	// keyQoS and keyContainers are keys in the values of a workload.
	keyQoS        = "qosClass"
	keyContainers = "containers"
)

// AdmissionOverlays returns the admission overlays for new workloads of a namespace without annotations that override values.
// There is one overlay for all workloads, or one for each case that the templates distinguish. The possible mounts of
// log files are those of the existing workloads. Without an overlay, blocker explains why only the operator can
// inject. blocker is also "" if the templates timed out, because the reason is then unknown.
func (d *Desired) AdmissionOverlays(ctx context.Context, namespace string, workloads []RenderedWorkload) (overlays []AdmissionOverlay, blocker string) {
	common := d.CommonVariant()
	defer func() {
		for i := range overlays {
			overlays[i].ConfigMap = common.Source.ConfigMap
		}
	}()
	if common == nil || common.Invalid != nil || common.renderer == nil {
		return nil, "the sidecar cannot be rendered"
	}
	renderBlank := func(class corev1.PodQOSClass) *Rendered {
		view := &workload.View{Ref: workload.Ref{Kind: workload.Default().Kind, Namespace: namespace}, PodView: workload.PodView{QoSClass: class}}
		return common.renderer.renderCached(ctx, view)
	}
	bestEffort := renderBlank(corev1.PodQOSBestEffort)
	read := workload.ValueKeysFor(bestEffort.readTarget)
	switch {
	case bestEffort.TimedOut:
		return nil, ""
	case d.set.ProvidedDigest == "" && d.hasPullSecrets():
		return nil, "the sidecar has a pull secret (sidecar.imagePullSecrets), and the pull secrets that pods would lose from their ServiceAccount are unknown to the API server"
	case bestEffort.Invalid == nil && len(read) == 0:
		return []AdmissionOverlay{{Rendered: bestEffort}}, ""
	case bestEffort.Invalid == nil && slices.Equal(read, []string{keyQoS}):
		return overlaysByQoS(bestEffort, renderBlank)
	case d.set.ProvidedDigest == "" && slices.Contains(read, keyContainers) && d.logsPath() != "":
		return d.overlaysByLogs(workloads)
	case bestEffort.Invalid != nil && len(read) == 0:
		return nil, bestEffort.Invalid.Message
	}
	return nil, "templates read .Values.target." + strings.Join(read, ", .Values.target.") + " of each workload"
}

// overlaysByQoS returns one overlay for Guaranteed pods and one for all other pods. It is called if the templates read
// only the QoS class of a workload. renderBlank renders the sidecar for a workload of a class.
func overlaysByQoS(bestEffort *Rendered, renderBlank func(corev1.PodQOSClass) *Rendered) ([]AdmissionOverlay, string) {
	overlays := []AdmissionOverlay{}
	if burstable := renderBlank(corev1.PodQOSBurstable); burstable.Invalid == nil && burstable.Overlay.Hash == bestEffort.Overlay.Hash {
		overlays = append(overlays, AdmissionOverlay{Rendered: bestEffort, Condition: OverlayCondition{QoS: OtherQoS}})
	}
	if guaranteed := renderBlank(corev1.PodQOSGuaranteed); guaranteed.Invalid == nil {
		overlays = append(overlays, AdmissionOverlay{Rendered: guaranteed, Condition: OverlayCondition{QoS: Guaranteed}})
	}
	if len(overlays) == 0 {
		return nil, "templates distinguish the QoS classes BestEffort and Burstable, which the API server cannot distinguish"
	}
	return overlays, ""
}

// readsOnlyLogMounts reports whether the templates have read the containers of the workload, and no other key except
// the QoS class. The built-in templates read the containers to find the mount of the log files.
func readsOnlyLogMounts(read []string) bool {
	isOther := func(key string) bool { return key != keyContainers && key != keyQoS }
	return slices.Contains(read, keyContainers) && !slices.ContainsFunc(read, isOther)
}

// logsPath returns the value sidecar.logs.path without a slash at the end.
func (d *Desired) logsPath() string {
	return strings.TrimSuffix(tree.Text(d.CommonVariant().renderer.request.Values.Tree, "sidecar", "logs", "path"), "/")
}

// hasPullSecrets reports whether the values list pull secrets (sidecar.imagePullSecrets).
func (d *Desired) hasPullSecrets() bool {
	return len(tree.List(tree.MapAt(d.CommonVariant().renderer.request.Values.Tree, "sidecar")["imagePullSecrets"])) > 0
}

// overlaysByLogs returns one overlay for each different mount of log files in the existing workloads.
func (d *Desired) overlaysByLogs(workloads []RenderedWorkload) (overlays []AdmissionOverlay, blocker string) {
	for _, candidate := range workloads {
		r := candidate.Rendered
		if r.Invalid != nil || r.shortened != "" || !readsOnlyLogMounts(workload.ValueKeysFor(r.readTarget)) {
			continue
		}
		condition := OverlayCondition{Logs: d.logMount(r)}
		if condition.Logs == nil || candidate.QoSClass == workload.QoSOfPod {
			continue
		}
		if slices.Contains(workload.ValueKeysFor(r.readTarget), keyQoS) {
			condition.QoS = OtherQoS
			if candidate.QoSClass == corev1.PodQOSGuaranteed {
				condition.QoS = Guaranteed
			}
		}
		isListed := func(o AdmissionOverlay) bool {
			return o.Condition.QoS == condition.QoS && *o.Condition.Logs == *condition.Logs
		}
		if !slices.ContainsFunc(overlays, isListed) {
			overlays = append(overlays, AdmissionOverlay{Rendered: r, Condition: condition})
		}
	}
	if len(overlays) == 0 {
		return nil, "no workload with the sidecar mounts a volume at sidecar.logs.path yet, so the log volume is unknown"
	}
	return overlays, ""
}

// logMount returns the mount of the application's volume from which a sidecar reads log files. It returns nil if the
// log files are in a volume of the sidecar, or if only a part of the volume is mounted.
func (d *Desired) logMount(rendered *Rendered) *LogMount {
	container := rendered.Overlay.Container(rendered.container)
	if container == nil {
		return nil
	}
	path := d.logsPath()
	var logMount *LogMount
	for i := range container.VolumeMounts {
		mount := &container.VolumeMounts[i]
		isOurs := slices.ContainsFunc(rendered.Overlay.Template.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
		if isOurs || !strings.HasPrefix(path+"/", strings.TrimSuffix(mount.MountPath, "/")+"/") {
			continue
		}
		if logMount != nil || mount.SubPath != "" || mount.SubPathExpr != "" || strings.HasSuffix(mount.MountPath, "/") {
			return nil
		}
		logMount = &LogMount{Path: path, Volume: mount.Name, MountPath: mount.MountPath}
	}
	return logMount
}
