// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package certificate gives the admission webhook its certificate: every process
// serves what a Secret holds, and any of them may make and replace it, and has the API
// server call. The certificates themselves are cert-controller's work. Its controller is
// not used: it reads every Secret of the namespace, ends the process when the Secret or
// a mounted file is missing, and replaces an authority before anybody trusts the next one.
package certificate

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
	// retry is when to try again what failed.
	retry = 5 * time.Second
	// longestWait is how often to look at least.
	longestWait = 10 * time.Minute
	// settling is how long others have to hear of a change: API servers of a new
	// authority, and this process of whatever takes a Secret away for good.
	settling = 3 * time.Second
	// soon is when to look again for what no change in the cluster tells of.
	soon = time.Second
)

// Keeper makes the certificate and has the API server call and trust it. It runs in
// every process, whichever leads: one that starts needs a certificate to become ready,
// while another one leads that may know nothing of a webhook. What several of them do
// at once one of them does, because each write names the version that it is for. All
// fields are required.
type Keeper struct {
	// Secret holds the certificate, Configuration is the name of the
	// ValidatingWebhookConfiguration by which the API server calls.
	Secret        types.NamespacedName
	Configuration string
	// Service is the one by which the API server calls.
	Service string
	// Duration is how long a certificate is valid.
	Duration time.Duration
	// Served is what this process serves, and IsReached tells whether calls reach it.
	Served    *Served
	IsReached func() bool
	// Cache tells of changes, Live reads what there is now, and Client writes: also in a
	// process that does not lead.
	Cache  cache.Cache
	Live   client.Reader
	Client client.Client
	Log    logr.Logger

	from *authority
	// found is what was found last that has to last for a time before anything is done
	// about it, and since when.
	found struct {
		what  string
		since time.Time
	}
	// put is what was put into the configuration last, and its version then.
	put struct {
		webhook string
		version string
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (k *Keeper) NeedLeaderElection() bool { return false }

// Start keeps the certificate until the context ends.
func (k *Keeper) Start(ctx context.Context) error {
	changed := make(chan struct{}, 1)
	for _, object := range []client.Object{&corev1.Secret{}, &admissionv1.ValidatingWebhookConfiguration{}} {
		if err := notify(ctx, k.Cache, object, changed); err != nil {
			return fmt.Errorf("following %T: %w", object, err)
		}
	}
	k.from = newAuthority(k.Service, k.Secret.Namespace, k.Duration)
	for ctx.Err() == nil {
		wait, err := k.keep(ctx)
		if err != nil && ctx.Err() == nil {
			k.Log.Error(err, "keeping the certificate of the admission webhook")
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

// keep looks at what there is, and takes the next step. It returns when to look again,
// if nothing changes before.
func (k *Keeper) keep(ctx context.Context) (time.Duration, error) {
	found, err := k.look(ctx)
	if err != nil {
		return retry, err
	}
	wait, err := k.step(ctx, found)
	switch {
	case errors.Is(err, apply.ErrStale): // Another process was faster.
		return soon, nil
	case err != nil:
		return retry, err
	}
	return wait, nil
}

// look reads what there is.
func (k *Keeper) look(ctx context.Context) (*scene, error) {
	found := &scene{secret: &corev1.Secret{}}
	if err := client.IgnoreNotFound(k.Live.Get(ctx, k.Secret, found.secret)); err != nil {
		return nil, fmt.Errorf("reading Secret %s: %w", k.Secret, err)
	}
	configuration := &admissionv1.ValidatingWebhookConfiguration{}
	if err := client.IgnoreNotFound(k.Live.Get(ctx, types.NamespacedName{Name: k.Configuration}, configuration)); err != nil {
		return nil, fmt.Errorf("reading ValidatingWebhookConfiguration %s: %w", k.Configuration, err)
	}
	if configuration.ResourceVersion == "" {
		return found, nil // The webhook is being switched off, or not yet on.
	}
	found.configuration = configuration
	var err error
	found.webhook, err = wanted(configuration)
	return found, err
}

// step does what is next, and returns for how long there is nothing to do. An authority
// is trusted before the first certificate of its making is served, unless nobody calls
// yet; and nobody calls before there is an answer.
func (k *Keeper) step(ctx context.Context, found *scene) (time.Duration, error) {
	now, data := found.state(k.from), found.secret.Data
	left, isCalled := k.left(now, string(data[keyAuthority])), found.called() != nil
	rest := min(k.Duration/10, longestWait)
	switch now {
	case absent:
		if found.configuration == nil { // Whoever switches the webhook off takes both away.
			return rest, nil
		}
		if left > 0 {
			return left, nil
		}
		return soon, apply.New(k.Client).Secret(ctx, k.Secret)
	case unauthorized:
		next, err := k.from.authorized(data)
		if err == nil && !isCalled {
			next, err = k.from.signed(next)
		}
		return soon, k.write(ctx, found.secret, next, err)
	case unsigned:
		if isCalled && left > 0 {
			return left, nil
		}
		next, err := k.from.signed(data)
		return soon, k.write(ctx, found.secret, next, err)
	case uncalled:
		if found.configuration == nil {
			return rest, nil
		}
		if !k.Served.serves(data[corev1.TLSCertKey]) || !k.IsReached() {
			return soon, nil
		}
		return soon, k.call(ctx, found)
	case untrusted:
		return soon, k.call(ctx, found)
	}
	return rest, k.call(ctx, found)
}

// left is what is left of the time that has to pass since the Secret was found to be
// absent, or an authority to be trusted.
func (k *Keeper) left(now state, authority string) time.Duration {
	what := string(now)
	if now == unsigned || now == kept {
		what = authority
	}
	if k.found.what != what {
		k.found.what, k.found.since = what, k.from.now()
	}
	return settling - k.from.now().Sub(k.found.since)
}

// write writes the data of the Secret, unless making it failed.
func (k *Keeper) write(ctx context.Context, secret *corev1.Secret, data map[string][]byte, err error) error {
	if err != nil {
		return err
	}
	if err := apply.New(k.Client).Certificate(ctx, secret, data); err != nil {
		return err
	}
	what := "certificate renewed"
	if bytes.Equal(secret.Data[corev1.TLSCertKey], data[corev1.TLSCertKey]) {
		what = "authority renewed"
	}
	k.Log.Info(what, "secret", k.Secret, "for", k.Duration.String())
	return nil
}

// call has the API server call, and trust whom it should. What is so already costs one
// request in the life of the process.
func (k *Keeper) call(ctx context.Context, found *scene) error {
	var trusted []byte
	if called := found.called(); called != nil {
		trusted = called.ClientConfig.CABundle
	}
	bundle := bundleOf(found.secret.Data, trusted, k.from.now())
	found.webhook.ClientConfig.WithCABundle(bundle...)
	put := found.configuration.Annotations[meta.AnnotationWebhook] + string(bundle)
	if k.put.version == found.configuration.ResourceVersion && k.put.webhook == put {
		return nil
	}
	version, err := apply.New(k.Client).Webhook(ctx, found.configuration, found.webhook)
	if err != nil {
		return err
	}
	k.put.webhook, k.put.version = put, version
	if version != found.configuration.ResourceVersion {
		k.Log.Info("the API server is told to call, and whom to trust", "configuration", k.Configuration)
	}
	return nil
}
