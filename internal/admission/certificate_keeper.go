// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

const (
	// retryDelay is the delay before the next attempt after an error.
	retryDelay = 5 * time.Second
	// longestWait is the maximum time between two checks.
	longestWait = 10 * time.Minute
	// settlingTime is the time after which a change has reached all processes: a new CA all API servers, and the deletion
	// of the Secret this process.
	settlingTime = 3 * time.Second
	// stepDelay is the delay until the check for the next step, after a step that may not cause an event.
	stepDelay = time.Second
)

// CertificateKeeper creates and renews the certificate, registers the webhook, and makes the API server trust
// the certificate. All fields are required.
//
// It runs in every replica and not only in the leader. A new replica needs a certificate to become ready, and
// the current leader may be a version without the webhook. If several replicas try the same write, only one
// succeeds, because each write names the resource version that it replaces.
//
// The package cert-controller issues the certificates. Its own controller is not used for three reasons. It
// reads every Secret of the namespace. It ends the process if the Secret or a mounted file is missing. It
// replaces a CA before API servers trust the next one.
type CertificateKeeper struct {
	// Secret is the name of the Secret with the certificate. Configuration is the name of the
	// ValidatingWebhookConfiguration in which the webhook is registered.
	Secret        types.NamespacedName
	Configuration string
	// Service is the name of the Service that the API server calls.
	Service string
	// Duration is the validity of a certificate.
	Duration time.Duration
	// Served is the certificate that this process serves. IsReached reports whether requests to the Service
	// reach this process.
	Served    *ServedCertificate
	IsReached func() bool
	// Cache notifies about changes, and Live reads the current state. Client writes, also in a process that is
	// not the leader.
	Cache  cache.Cache
	Live   client.Reader
	Client client.Client
	Log    logr.Logger

	issuer *authority
	// observation is a state that must last for some time before the keeper acts on it, and the time when it
	// was first observed.
	observation struct {
		subject string
		since   time.Time
	}
	// lastWrite is the webhook that this process last wrote, and the resource version of the configuration after that
	// write.
	lastWrite struct {
		webhook string
		version string
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (k *CertificateKeeper) NeedLeaderElection() bool { return false }

// Start maintains the certificate until the context is canceled.
func (k *CertificateKeeper) Start(ctx context.Context) error {
	changed := make(chan struct{}, 1)
	for _, object := range []client.Object{&corev1.Secret{}, &admissionv1.ValidatingWebhookConfiguration{}} {
		if err := watchChanges(ctx, k.Cache, object, changed); err != nil {
			return fmt.Errorf("watching objects of type %T: %w", object, err)
		}
	}
	k.issuer = newAuthority(k.Service, k.Secret.Namespace, k.Duration)
	for ctx.Err() == nil {
		wait, err := k.reconcile(ctx)
		if err != nil && ctx.Err() == nil {
			k.Log.Error(err, "reconciling the certificate of the admission webhook")
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

// watchChanges sends a signal to a channel for every change of an object of a kind.
func watchChanges(ctx context.Context, informers cache.Cache, object client.Object, changed chan<- struct{}) error {
	informer, err := informers.GetInformer(ctx, object)
	if err != nil {
		return err
	}
	signal := func() {
		select {
		case changed <- struct{}{}:
		default: // A signal is already pending.
		}
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { signal() }, UpdateFunc: func(any, any) { signal() }, DeleteFunc: func(any) { signal() },
	})
	return err
}

// reconcile reads the state of the cluster and executes the next step. It returns the time until the next check. A
// change of one of the objects causes an earlier check.
func (k *CertificateKeeper) reconcile(ctx context.Context) (time.Duration, error) {
	current, err := k.readClusterState(ctx)
	if err != nil {
		return retryDelay, err
	}
	wait, err := k.executeStep(ctx, current)
	switch {
	case errors.Is(err, apply.ErrStale): // Another process has written before.
		return stepDelay, nil
	case err != nil:
		return retryDelay, err
	}
	return wait, nil
}

// readClusterState reads the state of the cluster: the Secret and the webhook configuration.
func (k *CertificateKeeper) readClusterState(ctx context.Context) (*clusterState, error) {
	current := &clusterState{secret: &corev1.Secret{}}
	if err := client.IgnoreNotFound(k.Live.Get(ctx, k.Secret, current.secret)); err != nil {
		return nil, fmt.Errorf("reading Secret %s: %w", k.Secret, err)
	}
	configuration := &admissionv1.ValidatingWebhookConfiguration{}
	if err := client.IgnoreNotFound(k.Live.Get(ctx, types.NamespacedName{Name: k.Configuration}, configuration)); err != nil {
		return nil, fmt.Errorf("reading ValidatingWebhookConfiguration %s: %w", k.Configuration, err)
	}
	if configuration.ResourceVersion == "" {
		return current, nil // The webhook is being disabled, or not yet enabled.
	}
	current.configuration = configuration
	var err error
	current.webhook, err = desiredWebhook(configuration)
	return current, err
}

// executeStep executes the next step and returns the time until the next check. If the webhook is registered, all API
// servers must trust a new CA before this process serves a certificate of that CA. The webhook is registered only after
// this process can answer calls.
func (k *CertificateKeeper) executeStep(ctx context.Context, current *clusterState) (time.Duration, error) {
	state, data := current.certificateState(k.issuer), current.secret.Data
	remaining, isRegistered := k.remainingSettlingTime(state, string(data[keyAuthority])), current.registeredWebhook() != nil
	interval := min(k.Duration/10, longestWait)
	switch state {
	case absent:
		if current.configuration == nil { // Disabling the webhook deletes both.
			return interval, nil
		}
		if remaining > 0 {
			return remaining, nil
		}
		return stepDelay, apply.New(k.Client).CreateSecret(ctx, k.Secret)
	case unauthorized:
		updated, err := k.issuer.withNewCA(data)
		if err == nil && !isRegistered {
			updated, err = k.issuer.withNewCertificate(updated)
		}
		return stepDelay, k.writeSecret(ctx, current.secret, updated, err)
	case unsigned:
		if isRegistered && remaining > 0 {
			return remaining, nil
		}
		updated, err := k.issuer.withNewCertificate(data)
		return stepDelay, k.writeSecret(ctx, current.secret, updated, err)
	case unregistered:
		if current.configuration == nil {
			return interval, nil
		}
		if !k.Served.isServing(data[corev1.TLSCertKey]) || !k.IsReached() {
			return stepDelay, nil
		}
		return stepDelay, k.registerWebhook(ctx, current)
	case untrusted:
		return stepDelay, k.registerWebhook(ctx, current)
	}
	return interval, k.registerWebhook(ctx, current)
}

// remainingSettlingTime returns the rest of the settling time, 0 or less if it is over. The settling time starts when
// the Secret is first found missing, or when the CA is first found trusted.
func (k *CertificateKeeper) remainingSettlingTime(state certificateState, authority string) time.Duration {
	subject := string(state)
	if state == unsigned || state == upToDate {
		subject = authority
	}
	if k.observation.subject != subject {
		k.observation.subject, k.observation.since = subject, k.issuer.now()
	}
	return settlingTime - k.issuer.now().Sub(k.observation.since)
}

// writeSecret writes the data to the Secret. The last argument is the error from creating the data; if it is not nil,
// writeSecret writes nothing and returns it.
func (k *CertificateKeeper) writeSecret(ctx context.Context, secret *corev1.Secret, data map[string][]byte, err error) error {
	if err != nil {
		return err
	}
	if err := apply.New(k.Client).WriteCertificate(ctx, secret, data); err != nil {
		return err
	}
	message := "renewed the certificate"
	if bytes.Equal(secret.Data[corev1.TLSCertKey], data[corev1.TLSCertKey]) {
		message = "renewed the certificate authority"
	}
	k.Log.Info(message, "secret", k.Secret, "for", k.Duration.String())
	return nil
}

// registerWebhook writes the webhook with its CA bundle to the configuration. If both have not changed since the last
// write of this process, it sends no request.
func (k *CertificateKeeper) registerWebhook(ctx context.Context, current *clusterState) error {
	var trusted []byte
	if registered := current.registeredWebhook(); registered != nil {
		trusted = registered.ClientConfig.CABundle
	}
	bundle := newCABundle(current.secret.Data, trusted, k.issuer.now())
	current.webhook.ClientConfig.WithCABundle(bundle...)
	webhook := current.configuration.Annotations[meta.AnnotationWebhook] + string(bundle)
	if k.lastWrite.version == current.configuration.ResourceVersion && k.lastWrite.webhook == webhook {
		return nil
	}
	version, err := apply.New(k.Client).ApplyWebhook(ctx, current.configuration, current.webhook)
	if err != nil {
		return err
	}
	k.lastWrite.webhook, k.lastWrite.version = webhook, version
	if version != current.configuration.ResourceVersion {
		k.Log.Info("registered the admission webhook with its CA bundle", "configuration", k.Configuration)
	}
	return nil
}
