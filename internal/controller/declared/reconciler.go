// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package declared writes the VectorSidecars and ClusterVectorSidecars that the values of the installation declare
// (package declared). The input is the ConfigMap of values and the existing objects; the output is applies, deletions,
// events and metrics.
package declared

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/declared"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/election"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// interval is the approximate interval of reconciles of an applied object without an event, because the cache does not
// show other field managers.
const interval = 30 * time.Minute

// Options are the dependencies of a Reconciler. All fields except WatchNamespaces are required.
type Options struct {
	Cached   client.Reader
	Live     *livelist.Client
	Writer   *apply.Writer
	Recorder *events.Recorder
	Metrics  *telemetry.Metrics
	Backoff  *state.Backoff
	// Installation names the ConfigMap of values. WrittenBy is NAMESPACE/NAME of the installation.
	Installation types.NamespacedName
	WrittenBy    string
	// WatchNamespaces are the namespaces of the cache, empty for all.
	WatchNamespaces []string
	// ClusterSidecars is true if ClusterVectorSidecars are enabled.
	ClusterSidecars bool
}

// Reconciler writes declared objects. It runs on the leader only.
type Reconciler struct {
	Options

	// reported has the last decision about each object. Only Reconcile uses it.
	reported map[types.NamespacedName]declared.Decision
	// watched are the declared objects in the last event of the ConfigMap of values.
	watched atomic.Pointer[declared.Sidecars]
}

// New returns a Reconciler.
func New(options Options) *Reconciler {
	r := &Reconciler{Options: options, reported: map[types.NamespacedName]declared.Decision{}}
	r.watched.Store(&declared.Sidecars{})
	return r
}

// Reconcile makes one VectorSidecar or ClusterVectorSidecar match the values. It is woken by a change of the ConfigMap of
// values, of the object, or of the object's namespace, and by a backoff while the object is not applied. It reads the
// ConfigMap and the object from the API server, and the namespace from the cache. It applies or deletes the object, and
// writes events on the ConfigMap and metrics.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	key := request.NamespacedName
	work, cancel := shutdown.Detach(ctx)
	defer cancel()
	// After WriteTimeout, the uninstall Job expects that no write follows which has not seen its annotation.
	work, cancelWrite := context.WithTimeout(work, declared.WriteTimeout)
	defer cancelWrite()
	situation := &declared.Situation{Key: key, Owner: meta.InstallationLabel(r.WrittenBy)}
	if key != valuesKey {
		// The values are read after the object: if the object is missing because an uninstallation has deleted it, they
		// have the annotation that stops all writes.
		if err := r.readObject(work, situation); err != nil {
			return reconcile.Result{}, err
		}
	}
	values, err := r.readValues(work)
	if err != nil {
		return reconcile.Result{}, err
	}
	sidecars, err := declared.Parse(values.Data)
	if err != nil {
		r.reportState(ctx, values, valuesKey, declared.Decision{State: declared.Invalid, Message: err.Error()})
		return reconcile.Result{}, nil
	}
	if key == valuesKey || !sidecars.IsEnabled() {
		r.reportState(ctx, values, key, declared.Decision{})
		return reconcile.Result{}, nil
	}
	situation.Declared, situation.IsUninstalling = sidecars, declared.IsUninstalling(values.Annotations)
	situation.IsStopped = desired.FindStop(values).IsActive()
	decision := situation.Decide()
	if decision.Action != declared.Nothing {
		err := r.writeObject(work, situation, decision.Action)
		if errors.Is(err, election.ErrNotLeading) || errors.Is(err, apply.ErrStale) || shutdown.IsStopping(ctx) {
			return reconcile.Result{RequeueAfter: state.FirstConflict}, nil
		}
		decision = newDecision(decision.Action, key, err)
	}
	r.reportState(ctx, values, key, decision)
	switch decision.State {
	case "":
		r.Backoff.Reset(state.RetryDeclared, key.String())
		return reconcile.Result{}, nil
	case declared.Applied:
		r.Backoff.Reset(state.RetryDeclared, key.String())
		return reconcile.Result{RequeueAfter: wait.Jitter(interval, 0.2)}, nil
	}
	return reconcile.Result{RequeueAfter: r.Backoff.Next(state.RetryDeclared, key.String())}, nil
}

// readValues reads the ConfigMap of values from the API server, because the cache may not show the annotation that
// stops all writes yet. The result is empty if the ConfigMap does not exist.
func (r *Reconciler) readValues(ctx context.Context) (*corev1.ConfigMap, error) {
	values := &corev1.ConfigMap{}
	// The operator may list the ConfigMaps of its namespace, but need not be allowed to get them.
	if _, err := r.Live.Find(ctx, &corev1.ConfigMapList{}, r.Installation, values); err != nil {
		return nil, fmt.Errorf("reading ConfigMap %s: %w", r.Installation, err)
	}
	return values, nil
}

// readObject reads the object and its namespace into the situation.
func (r *Reconciler) readObject(ctx context.Context, situation *declared.Situation) error {
	key := situation.Key
	if situation.Obstacle = declared.ScopeObstacle(key, r.WatchNamespaces, r.ClusterSidecars); situation.Obstacle != "" {
		return nil
	}
	var list client.ObjectList = &v1alpha1.VectorSidecarList{}
	if key.Namespace == "" {
		list = &v1alpha1.ClusterVectorSidecarList{}
	}
	live := declared.New(key)
	switch exists, err := r.Live.Find(ctx, list, key, live); {
	case err != nil:
		return fmt.Errorf("reading %s: %w", declared.Title(key), err)
	case exists:
		situation.Live = live
	}
	if key.Namespace == "" || len(r.WatchNamespaces) > 0 {
		return nil
	}
	namespace := clusterwide.NewNamespaceMetadata("")
	switch err := r.Cached.Get(ctx, client.ObjectKey{Name: key.Namespace}, namespace); {
	case apierrors.IsNotFound(err):
		situation.Obstacle = declared.MissingNamespace(key.Namespace)
	case err != nil:
		return fmt.Errorf("reading namespace %s: %w", key.Namespace, err)
	case namespace.DeletionTimestamp != nil:
		situation.Obstacle = declared.TerminatingNamespace(key.Namespace)
	}
	return nil
}

// writeObject applies or deletes an object, as an action says.
func (r *Reconciler) writeObject(ctx context.Context, situation *declared.Situation, action declared.Action) error {
	if action == declared.Delete {
		return r.Writer.DeleteDeclared(ctx, situation.Live)
	}
	object := declared.New(situation.Key)
	object.SetLabels(map[string]string{meta.LabelDeclaredBy: situation.Owner})
	if situation.Live != nil {
		object.SetUID(situation.Live.GetUID()) // A deleted object is not created again without reading the values.
	}
	return r.Writer.ApplyDeclared(ctx, object, situation.Declared.Spec(situation.Key))
}

// newDecision returns the decision that describes an object after a write with an action. err is the error of the
// write.
func newDecision(action declared.Action, key types.NamespacedName, err error) declared.Decision {
	var conflict *apply.ConflictError
	var refused *apply.RejectedError
	var denied *apply.DeniedError
	state := declared.Retrying
	switch {
	case err == nil && action == declared.Delete:
		return declared.Decision{Action: action, Message: fmt.Sprintf("deleted %s, which the values no longer declare", declared.Title(key))}
	case err == nil:
		return declared.Decision{Action: action, State: declared.Applied, Message: map[declared.Action]string{declared.Create: "created ", declared.Update: "updated "}[action] + declared.Title(key)}
	case errors.Is(err, apply.ErrTerminating), errors.Is(err, apply.ErrGone) && action == declared.Create:
		state = declared.WaitingForNamespace
	case errors.As(err, &conflict):
		state = declared.Conflict
	case errors.As(err, &refused), errors.As(err, &denied) && !denied.IsGeneral:
		state = declared.Invalid
	}
	return declared.Decision{State: state, Message: err.Error()}
}

// reportState stores the decision about an object and counts the states of all objects. It emits an event if the
// state of the object has changed.
func (r *Reconciler) reportState(ctx context.Context, values *corev1.ConfigMap, key types.NamespacedName, decision declared.Decision) {
	previous, isKnown := r.reported[key]
	r.reported[key] = decision
	if decision.State == "" {
		delete(r.reported, key)
	}
	counts := map[declared.State]int{}
	for _, reported := range r.reported {
		counts[reported.State]++
	}
	for _, state := range declared.States() {
		r.Metrics.SetDeclaredObjects(string(state), counts[state])
	}
	eventType, reason, message := corev1.EventTypeNormal, string(decision.State), decision.Message
	switch {
	case decision.Action == declared.Delete:
		reason = meta.ReasonDeleted
	case decision.Action != declared.Nothing:
	case decision.State == previous.State && decision.Message == previous.Message, decision.State == declared.Applied && !isKnown:
		return
	default:
		if key != valuesKey {
			message = declared.Title(key) + ": " + message
		}
		if !decision.State.EndsByItself() {
			eventType = corev1.EventTypeWarning
		}
	}
	if reason == "" || values.Name == "" {
		return
	}
	log.FromContext(ctx).Info("updated state of declared object", "object", declared.Title(key), "state", reason, "cause", decision.Message)
	var related runtime.Object // Events of one reason about one object are aggregated, and show only the first message.
	if key != valuesKey {
		related = declared.New(key)
	}
	r.Recorder.Eventf(values, related, eventType, reason, "Apply", "%s", humanize.ShortenMessage(message, events.NoteLimit))
}
