// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package certificate gives the admission webhook its certificate: every process
// serves what a Secret holds, and the one that leads may make and replace it. The
// certificates themselves are cert-controller's work. Its controller is not used: it
// reads every Secret of the namespace, ends the process when the Secret or a mounted
// file is missing, and replaces an authority before anybody trusts the next one.
package certificate

import (
	"bytes"
	"context"
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
)

const (
	// retry is when to try again what failed.
	retry = 5 * time.Second
	// longestWait is how often to look at least.
	longestWait = 10 * time.Minute
	// settling is how long API servers have to hear of a new authority.
	settling = 3 * time.Second
)

// Keeper makes the certificate and has the API server trust it. It runs in the
// process that leads. All fields are required.
type Keeper struct {
	// Secret holds the certificate, Configuration is the name of the
	// ValidatingWebhookConfiguration that trusts it.
	Secret        types.NamespacedName
	Configuration string
	// Service is the one by which the API server calls.
	Service string
	// Duration is how long a certificate is valid.
	Duration time.Duration
	// Cache tells of changes, Live reads what there is now, and Client writes.
	Cache  cache.Cache
	Live   client.Reader
	Client client.Client
	Log    logr.Logger
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (k *Keeper) NeedLeaderElection() bool { return true }

// Start keeps the certificate until the context ends.
func (k *Keeper) Start(ctx context.Context) error {
	changed := make(chan struct{}, 1)
	for _, object := range []client.Object{&corev1.Secret{}, &admissionv1.ValidatingWebhookConfiguration{}} {
		if err := notify(ctx, k.Cache, object, changed); err != nil {
			return fmt.Errorf("following %T: %w", object, err)
		}
	}
	from := newAuthority(k.Service, k.Secret.Namespace, k.Duration)
	for ctx.Err() == nil {
		wait := min(k.Duration/10, longestWait)
		if err := k.keep(ctx, from); err != nil && ctx.Err() == nil {
			k.Log.Error(err, "keeping the certificate of the admission webhook")
			wait = retry
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

// notify has a channel hear of every change of the objects of a kind in the cache.
func notify(ctx context.Context, from cache.Cache, object client.Object, changed chan<- struct{}) error {
	informer, err := from.GetInformer(ctx, object)
	if err != nil {
		return err
	}
	tell := func() {
		select {
		case changed <- struct{}{}:
		default: // It has yet to hear of another.
		}
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { tell() }, UpdateFunc: func(any, any) { tell() }, DeleteFunc: func(any) { tell() },
	})
	return err
}

// keep renews the certificate if that is due. An authority is trusted before the
// first certificate of its making is served.
func (k *Keeper) keep(ctx context.Context, from *authority) error {
	secret, configuration := &corev1.Secret{}, &admissionv1.ValidatingWebhookConfiguration{}
	if err := client.IgnoreNotFound(k.Live.Get(ctx, k.Secret, secret)); err != nil {
		return fmt.Errorf("reading Secret %s: %w", k.Secret, err)
	}
	if err := k.Live.Get(ctx, types.NamespacedName{Name: k.Configuration}, configuration); err != nil {
		return fmt.Errorf("reading ValidatingWebhookConfiguration %s: %w", k.Configuration, err)
	}
	data, isNew, err := from.renew(secret.Data)
	if err != nil {
		return err
	}
	trusts, err := k.trust(ctx, configuration, data[keyAuthority], from.now())
	if err != nil || !isNew {
		return err
	}
	if !trusts {
		select {
		case <-time.After(settling):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	secret.Namespace, secret.Name, secret.Data = k.Secret.Namespace, k.Secret.Name, data
	if err := apply.New(k.Client).Certificate(ctx, secret); err != nil {
		return err
	}
	k.Log.Info("certificate renewed", "secret", k.Secret, "for", k.Duration.String())
	return nil
}

// trust has the API server trust an authority. It returns whether it does already, or
// trusts nobody yet, so that there is nobody to wait for.
func (k *Keeper) trust(ctx context.Context, configuration *admissionv1.ValidatingWebhookConfiguration, authority []byte, now time.Time) (already bool, err error) {
	var trusted []byte
	for i := range configuration.Webhooks {
		trusted = configuration.Webhooks[i].ClientConfig.CABundle
	}
	bundle := bundleOf(authority, trusted, now)
	if bytes.Equal(bundle, trusted) {
		return true, nil
	}
	if err := apply.New(k.Client).Bundle(ctx, configuration, bundle); err != nil {
		return false, err
	}
	k.Log.Info("the API server is told whom to trust", "configuration", k.Configuration)
	return len(trusted) == 0 || bytes.Contains(trusted, authority), nil
}
