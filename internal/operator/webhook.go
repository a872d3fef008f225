// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"strconv"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"kontroloop.ai/vector-sidecar-operator/internal/admission"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecar"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// WebhookOptions configures the admission webhook. The zero value disables it.
type WebhookOptions struct {
	// BindAddress is the address that the webhook listens on; "0" or "" to disable.
	BindAddress string
	// Secret is the name of a Secret in the operator namespace with tls.crt and tls.key.
	Secret string
	// Configuration is the ValidatingWebhookConfiguration in which the operator registers the
	// webhook with a certificate that it creates. If it is empty, both must be created by another
	// program.
	Configuration string
	// Service is the name of the Service that the API server calls. Duration is the validity of
	// certificates. Both are only for certificates that the operator creates.
	Service  string
	Duration time.Duration
	// ClientCA is the path of a file with the CAs of the API server's client certificate, reloaded
	// when it changes. ClientNames are the common names that the certificate may have; empty for
	// any. Without ClientCA, no client is verified to be the API server.
	ClientCA    string
	ClientNames []string
	// ShutdownDelay is the time that the operator keeps working and answering after the signal to
	// stop.
	ShutdownDelay time.Duration
}

const (
	// defaultCertificateDuration and leastCertificateDuration are the default and the minimum validity of
	// certificates that the operator creates.
	defaultCertificateDuration = 90 * 24 * time.Hour
	leastCertificateDuration   = 10 * time.Second
	// defaultShutdownDelay and longestShutdownDelay are the default and the maximum of WebhookOptions.ShutdownDelay.
	// A pod has 30 seconds to stop, and needs some of them after the delay.
	defaultShutdownDelay = 5 * time.Second
	longestShutdownDelay = 20 * time.Second
)

// declareFlags adds the flags of the webhook to a flag set.
func (w *WebhookOptions) declareFlags(flags *flag.FlagSet) {
	flags.StringVar(&w.BindAddress, "webhook-bind-address", "0", "address of the admission webhook (HTTPS); 0 to disable")
	flags.StringVar(&w.Secret, "webhook-certificate-secret", "", "name of the Secret, in the operator's namespace, with tls.crt and tls.key of the admission webhook, reloaded when it changes")
	flags.StringVar(&w.Configuration, "webhook-configuration", "", "name of the ValidatingWebhookConfiguration in which the operator registers the webhook of its annotation, with a certificate that the operator creates and renews; empty if neither is managed by the operator")
	flags.StringVar(&w.Service, "webhook-service", "", "name of the Service of the admission webhook; for --webhook-configuration")
	flags.DurationVar(&w.Duration, "webhook-certificate-duration", defaultCertificateDuration, "validity of certificates that the operator creates for the admission webhook; they are renewed when a third of the validity remains")
	flags.StringVar(&w.ClientCA, "webhook-client-ca", "", "file with the CA certificates for the API server's client certificate, reloaded when it changes; responses to other clients contain nothing from ConfigMaps; if empty, no client is verified")
	flags.Var((*list)(&w.ClientNames), "webhook-client-names", "common names that the API server's client certificate may have, separated by commas; empty for any")
	flags.DurationVar(&w.ShutdownDelay, "webhook-shutdown-delay", defaultShutdownDelay, "time for which the operator continues to work and respond after the signal to stop, until the API server calls other replicas; for --webhook-bind-address")
}

// isEnabled reports whether the webhook is enabled.
func (w *WebhookOptions) isEnabled() bool { return w.BindAddress != "" && w.BindAddress != "0" }

// address splits BindAddress into host and port. The error is for an address that cannot be parsed.
func (w *WebhookOptions) address() (host string, port int, err error) {
	host, text, err := net.SplitHostPort(w.BindAddress)
	if err != nil {
		return "", 0, err
	}
	port, err = strconv.Atoi(text)
	if err != nil || port < 1 || port > 65535 {
		return "", 0, fmt.Errorf("%q is not a port number from 1 to 65535", text)
	}
	return host, port, nil
}

// validate reports invalid values that the flag package does not detect.
func (w *WebhookOptions) validate(namespace string) []error {
	if !w.isEnabled() {
		return nil
	}
	var findings []error
	if _, _, err := w.address(); err != nil {
		findings = append(findings, fmt.Errorf("--webhook-bind-address is %q: it must be HOST:PORT or :PORT: %w", w.BindAddress, err))
	}
	if w.Secret == "" || namespace == "" {
		findings = append(findings, errors.New("--webhook-bind-address needs --webhook-certificate-secret and --namespace: the Secret with its certificate"))
	}
	if w.Configuration != "" && w.Service == "" {
		findings = append(findings, errors.New("--webhook-configuration needs --webhook-service: the name that the certificate is for"))
	}
	if len(w.ClientNames) > 0 && w.ClientCA == "" {
		findings = append(findings, errors.New("--webhook-client-names needs --webhook-client-ca: the CA certificates to verify the names with"))
	}
	if w.Duration < leastCertificateDuration || w.Duration > admission.LongestCertificateDuration {
		findings = append(findings, fmt.Errorf("--webhook-certificate-duration is %s: it must be between %s and %s", w.Duration, leastCertificateDuration, admission.LongestCertificateDuration))
	}
	if w.ShutdownDelay < 0 || w.ShutdownDelay > longestShutdownDelay {
		findings = append(findings, fmt.Errorf("--webhook-shutdown-delay is %s: it must be between 0s and %s", w.ShutdownDelay, longestShutdownDelay))
	}
	return findings
}

// addToCache adds the Secret and the ValidatingWebhookConfiguration by name, so that the operator
// needs no permission to read other objects of these kinds.
func (w *WebhookOptions) addToCache(settings *cache.Options, namespace string) {
	if !w.isEnabled() {
		return
	}
	named := func(name string) fields.Selector { return fields.OneTermEqualSelector("metadata.name", name) }
	settings.ByObject[&corev1.Secret{}] = cache.ByObject{Namespaces: map[string]cache.Config{namespace: {FieldSelector: named(w.Secret)}}}
	settings.ByObject[&admissionv1.ValidatingWebhookConfiguration{}] = cache.ByObject{Field: named(w.Configuration)}
}

// webhookDeps are the dependencies of the admission webhook.
type webhookDeps struct {
	loop   *sidecar.VectorSidecarReconciler
	cache  *desired.Cache
	served *admission.ServedCertificate
	// bare is the platform of an operator without ConfigMaps of the platform team.
	bare    *desired.Platform
	counted *telemetry.Metrics
	// config is the configuration of the process's clients, without the leader's fence.
	config *rest.Config
}

// addWebhook adds the admission webhook and the keeper of its certificate, if they are enabled.
// They run in every replica. The signal to stop cancels one context, and the end of the shutdown
// delay the other.
func addWebhook(ctx, ending context.Context, mgr ctrl.Manager, options Options, deps webhookDeps) error {
	w := &options.Webhook
	if !w.isEnabled() {
		return nil
	}
	log := mgr.GetLogger().WithName("admission")
	if err := deps.served.WatchSecret(ctx, mgr.GetCache(), log, deps.counted.SetCertificateValidity); err != nil {
		return fmt.Errorf("watching Secret %s/%s: %w", options.Namespace, w.Secret, err)
	}
	callers, err := newCallers(w.ClientCA, w.ClientNames)
	if err != nil {
		return fmt.Errorf("--webhook-client-ca: %w", err)
	}
	if err := mgr.Add(callers); err != nil {
		return fmt.Errorf("watching %s: %w", w.ClientCA, err)
	}
	handler := admission.New(admission.Options{World: deps.loop, Cache: deps.cache, Bare: deps.bare})
	served := &webhook.Admission{Handler: countingHandler{handler, deps.counted}, WithContextFunc: callers.markProven}
	server := newWebhookServer(w, deps.served)
	server.Register(meta.WebhookPath, closeConnectionsAfter(ending, admission.LimitRequests(served, callers.isProvenCaller, deps.counted.RecordRejectedRequest)))
	if err := mgr.Add(server); err != nil {
		return fmt.Errorf("adding the server of the webhook: %w", err)
	}
	readiness := &servingCheck{hasRead: deps.loop.HasRead, served: deps.served, address: w.BindAddress, isProbed: options.HealthProbeBindAddress != "0"}
	if err := mgr.AddReadyzCheck("webhook", readiness.checkServing); err != nil {
		return fmt.Errorf("adding the readiness check of the webhook: %w", err)
	}
	if w.Configuration == "" {
		return nil
	}
	// The fence is for writes that only the leader may make. Any replica may write these two
	// objects, because its writes name the version that they replace.
	writer, err := client.New(deps.config, client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return fmt.Errorf("creating the client that writes the Secret of the webhook certificate: %w", err)
	}
	return mgr.Add(&admission.CertificateKeeper{
		Secret:        types.NamespacedName{Namespace: options.Namespace, Name: w.Secret},
		Configuration: w.Configuration, Service: w.Service, Duration: w.Duration, Served: deps.served, IsReached: readiness.hasAnswered,
		Cache: mgr.GetCache(), Live: mgr.GetAPIReader(), Client: writer, Log: log,
	})
}
