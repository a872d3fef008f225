// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"kontroloop.ai/vector-sidecar-operator/internal/admission"
	"kontroloop.ai/vector-sidecar-operator/internal/certificate"
	"kontroloop.ai/vector-sidecar-operator/internal/controller"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// WebhookOptions are those of the admission webhook. Its zero value serves none.
type WebhookOptions struct {
	// BindAddress is where the API server calls; "0" or "" for nowhere.
	BindAddress string
	// Secret, in the operator's namespace, holds tls.crt and tls.key.
	Secret string
	// Configuration is the ValidatingWebhookConfiguration to which the operator
	// gives the certificates that it makes. Empty: it makes none.
	Configuration string
	// Service is the name by which the API server calls, Duration how long
	// certificates are valid; for those that the operator makes.
	Service  string
	Duration time.Duration
}

const (
	defaultCertificateDuration = 90 * 24 * time.Hour
	leastCertificateDuration   = 10 * time.Second
)

func (w *WebhookOptions) declare(flags *flag.FlagSet) {
	flags.StringVar(&w.BindAddress, "webhook-bind-address", "0", "address of the admission webhook over HTTPS, 0 for none")
	flags.StringVar(&w.Secret, "webhook-certificate-secret", "", "name of the Secret, in the operator's namespace, with tls.crt and tls.key of the admission webhook, followed when it changes")
	flags.StringVar(&w.Configuration, "webhook-configuration", "", "name of the ValidatingWebhookConfiguration for which the operator makes and replaces the certificate itself; empty: it comes from elsewhere")
	flags.StringVar(&w.Service, "webhook-service", "", "name of the Service by which the API server calls the admission webhook; for --webhook-configuration")
	flags.DurationVar(&w.Duration, "webhook-certificate-duration", defaultCertificateDuration, "how long a certificate is valid that the operator makes for the admission webhook; it is replaced when a third of that is left")
}

// serves tells whether there is a webhook.
func (w *WebhookOptions) serves() bool { return w.BindAddress != "" && w.BindAddress != "0" }

// address reads the address.
func (w *WebhookOptions) address() (host string, port int, err error) {
	host, text, err := net.SplitHostPort(w.BindAddress)
	if err != nil {
		return "", 0, err
	}
	port, err = strconv.Atoi(text)
	if err != nil || port < 1 || port > 65535 {
		return "", 0, fmt.Errorf("%q is no port", text)
	}
	return host, port, nil
}

// check finds what the flags package cannot.
func (w *WebhookOptions) check(namespace string) []error {
	if !w.serves() {
		return nil
	}
	var findings []error
	if _, _, err := w.address(); err != nil {
		findings = append(findings, fmt.Errorf("--webhook-bind-address is %q: it must be HOST:PORT or :PORT: %w", w.BindAddress, err))
	}
	if w.Secret == "" || namespace == "" {
		findings = append(findings, errors.New("--webhook-bind-address needs --webhook-certificate-secret and --namespace: where its certificate is"))
	}
	if w.Configuration != "" && w.Service == "" {
		findings = append(findings, errors.New("--webhook-configuration needs --webhook-service: the name that the certificate is for"))
	}
	if w.Duration < leastCertificateDuration {
		findings = append(findings, fmt.Errorf("--webhook-certificate-duration is %s: it must be at least %s", w.Duration, leastCertificateDuration))
	}
	return findings
}

// server is that of the webhook. Where there is none, it is never started.
func (w *WebhookOptions) server(served *certificate.Served) webhook.Server {
	host, port, err := w.address()
	if err != nil {
		return nil
	}
	return webhook.NewServer(webhook.Options{Host: host, Port: port, TLSOpts: []func(*tls.Config){func(c *tls.Config) {
		c.GetCertificate = served.Get
		// As for the metrics.
		c.NextProtos = []string{"http/1.1"}
	}}})
}

// addToCache adds the two objects by name, so that the operator need not be allowed
// to read others of their kinds.
func (w *WebhookOptions) addToCache(settings *cache.Options, namespace string) {
	if !w.serves() {
		return
	}
	named := func(name string) fields.Selector { return fields.OneTermEqualSelector("metadata.name", name) }
	settings.ByObject[&corev1.Secret{}] = cache.ByObject{Namespaces: map[string]cache.Config{namespace: {FieldSelector: named(w.Secret)}}}
	settings.ByObject[&admissionv1.ValidatingWebhookConfiguration{}] = cache.ByObject{Field: named(w.Configuration)}
}

// addWebhook adds the admission webhook and what keeps its certificate, if the
// options ask for them.
func addWebhook(ctx context.Context, mgr ctrl.Manager, options Options, served *certificate.Served, loop *controller.Reconciler, memo *decision.Memo) error {
	w := &options.Webhook
	if !w.serves() {
		return nil
	}
	log := mgr.GetLogger().WithName("admission")
	if err := served.Follow(ctx, mgr.GetCache(), log); err != nil {
		return fmt.Errorf("following Secret %s/%s: %w", options.Namespace, w.Secret, err)
	}
	server := mgr.GetWebhookServer()
	server.Register(admission.Path, admission.Bounded(&webhook.Admission{Handler: admission.New(loop, memo)}))
	// It connects as the API server does, so that it also tells of the certificate.
	connects := server.StartedChecker()
	err := mgr.AddReadyzCheck("webhook", func(request *http.Request) error { return cmp.Or(loop.HasRead(), connects(request)) })
	if err != nil {
		return fmt.Errorf("adding the readiness check of the webhook: %w", err)
	}
	if w.Configuration == "" {
		return nil
	}
	return mgr.Add(&certificate.Keeper{
		Secret:        types.NamespacedName{Namespace: options.Namespace, Name: w.Secret},
		Configuration: w.Configuration, Service: w.Service, Duration: w.Duration,
		Cache: mgr.GetCache(), Live: mgr.GetAPIReader(), Client: mgr.GetClient(), Log: log,
	})
}
