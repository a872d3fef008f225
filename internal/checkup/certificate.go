// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package checkup

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// lateFraction is the fraction of the validity, 1/lateFraction, below which a certificate is overdue for renewal. The
// operator and cert-manager renew it when a third of the validity remains.
const lateFraction = 10

// certificateHelp contains the help texts for two errors: trust for an invalid CA bundle, and certificate for an
// invalid certificate.
type certificateHelp struct{ trust, certificate string }

// newCertificateHelp returns the help texts for a certificate that the operator, cert-manager or a user maintains.
func newCertificateHelp(installation *source.Installation, caller *caller) certificateHelp {
	secret := installation.Webhook.Secret
	switch {
	case installation.Webhook.Configuration != "":
		help := "the operator manages the certificate: " + logCommand(installation)
		return certificateHelp{trust: help, certificate: help}
	case caller.issued:
		return certificateHelp{
			trust:       "cert-manager manages the certificate: check the log of its cainjector",
			certificate: "cert-manager manages the certificate: kubectl describe certificate " + secret + " -n " + installation.Namespace,
		}
	}
	return certificateHelp{
		trust:       "set admissionWebhook.certificate.caBundle to the CA that signed the certificate, and upgrade the installation",
		certificate: "store a valid certificate in Secret " + secret + " in " + installation.Namespace,
	}
}

// logCommand returns a command that shows the operator's log.
func logCommand(installation *source.Installation) string {
	return "kubectl logs -l app.kubernetes.io/component=operator -n " + installation.Namespace
}

// checkTrust checks the CA bundle of the webhook.
func (d *Diagnosis) checkTrust(caller *caller, origin certificateHelp) Result {
	const check = "caBundle of the admission webhook"
	failed := func(cause string) Result {
		return Result{check, Failed, fmt.Sprintf("ValidatingWebhookConfiguration %s: %s: %s", caller.name, cause, refusing), origin.trust}
	}
	if len(caller.bundle) == 0 {
		return failed("caBundle is empty")
	}
	authorities, err := certutil.ParseCertsPEM(caller.bundle)
	if err != nil {
		return failed(err.Error())
	}
	var latest *x509.Certificate
	for _, authority := range authorities {
		if checkValidity(authority, d.Now()) == nil && (latest == nil || authority.NotAfter.After(latest.NotAfter)) {
			latest = authority
		}
	}
	if latest == nil {
		return failed(checkValidity(authorities[0], d.Now()).Error())
	}
	return Result{check, OK, fmt.Sprintf("the caBundle in ValidatingWebhookConfiguration %s is valid until %s", caller.name, formatDay(latest.NotAfter)), ""}
}

// checkCertificate checks whether the API server accepts the operator's certificate, and how long the certificate is
// valid.
func (d *Diagnosis) checkCertificate(ctx context.Context, installation *source.Installation, caller *caller, origin certificateHelp) Result {
	const check = "certificate of the admission webhook"
	key := client.ObjectKey{Namespace: installation.Namespace, Name: installation.Webhook.Secret}
	var secret corev1.Secret
	failed := func(cause string) Result {
		return Result{check, Failed, fmt.Sprintf("Secret %s: %s: %s", key, cause, refusing), origin.certificate}
	}
	switch err := d.Cluster.Get(ctx, key, &secret); {
	case apierrors.IsNotFound(err):
		return failed("not found")
	case err != nil:
		return Result{check, Unknown, err.Error(), "ask someone with permission to get that Secret"}
	}
	if len(secret.Data[corev1.TLSCertKey]) == 0 {
		return failed("no certificate in tls.crt")
	}
	pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return failed(err.Error())
	}
	if err := d.checkCertificateAccepted(caller, &pair); err != nil {
		return failed(err.Error())
	}
	message := fmt.Sprintf("the certificate in Secret %s is valid until %s", key, formatDay(pair.Leaf.NotAfter))
	if pair.Leaf.NotAfter.Sub(d.Now()) < pair.Leaf.NotAfter.Sub(pair.Leaf.NotBefore)/lateFraction {
		return Result{check, Warning, message + ", but should have been renewed already", origin.certificate}
	}
	return Result{check, OK, message, ""}
}

// checkCertificateAccepted verifies a certificate as the API server does.
func (d *Diagnosis) checkCertificateAccepted(caller *caller, served *tls.Certificate) error {
	if err := checkValidity(served.Leaf, d.Now()); err != nil {
		return err
	}
	if len(caller.bundle) == 0 {
		return nil // The trust check already reports it.
	}
	options := x509.VerifyOptions{
		DNSName: caller.service.Name + "." + caller.service.Namespace + ".svc", CurrentTime: d.Now(),
		Roots: x509.NewCertPool(), Intermediates: x509.NewCertPool(),
	}
	options.Roots.AppendCertsFromPEM(caller.bundle)
	for _, encoded := range served.Certificate[1:] {
		if intermediate, err := x509.ParseCertificate(encoded); err == nil {
			options.Intermediates.AddCert(intermediate)
		}
	}
	_, err := served.Leaf.Verify(options)
	var unknownAuthority x509.UnknownAuthorityError
	if errors.As(err, &unknownAuthority) {
		return errors.New("certificate is not signed by a CA in the caBundle")
	}
	return err
}

// checkValidity returns an error if a certificate is not valid at a time.
func checkValidity(certificate *x509.Certificate, now time.Time) error {
	if now.Before(certificate.NotBefore) {
		return fmt.Errorf("certificate is not valid before %s", formatDay(certificate.NotBefore))
	}
	if now.After(certificate.NotAfter) {
		return fmt.Errorf("certificate expired on %s", formatDay(certificate.NotAfter))
	}
	return nil
}

// formatDay formats a time as its day in UTC, such as 2026-01-31.
func formatDay(timestamp time.Time) string { return timestamp.UTC().Format(time.DateOnly) }
