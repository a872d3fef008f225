// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bombs

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

const certificateSecret = "bombs-webhook"

// certified returns the Secret with the certificate of the webhook.
func certified() (*corev1.Secret, error) {
	certificate, key, err := harness.Certify(&x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(24 * time.Hour),
	})
	if err != nil {
		return nil, err
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: certificateSecret}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key},
	}, nil
}

// review returns a request to create the VectorSidecar of a bomb.
func (b *bomb) review(t *testing.T, namespace string) []byte {
	t.Helper()
	object, err := json.Marshal(b.carrier(namespace, b.text)[0])
	require.NoError(t, err)
	text, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "bomb", Operation: admissionv1.Create, Namespace: namespace, Name: "bomb", Object: runtime.RawExtension{Raw: object},
		},
	})
	require.NoError(t, err)
	return text
}

// flood is a number of clients without credentials that post bombs to the webhook.
type flood struct {
	cancel  context.CancelFunc
	posters sync.WaitGroup
	// answered counts the responses, and lost the requests without a response.
	answered, lost atomic.Int64
}

// beginFlood posts texts repeatedly from some clients until end is called.
func (o *running) beginFlood(t *testing.T, clients int, texts ...[]byte) *flood {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	f := &flood{cancel: cancel}
	for n := range clients {
		f.posters.Go(func() {
			for i := n; ctx.Err() == nil; i++ {
				if o.ask(ctx, texts[i%len(texts)]) {
					f.answered.Add(1)
				} else if ctx.Err() == nil {
					f.lost.Add(1)
				}
			}
		})
	}
	t.Cleanup(f.end)
	return f
}

func (f *flood) end() {
	f.cancel()
	f.posters.Wait()
}

// strangers is a client without a certificate that accepts any server certificate.
var strangers = &http.Client{Timeout: time.Minute, Transport: &http.Transport{
	TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
}}

// ask reports whether the webhook responded.
func (o *running) ask(ctx context.Context, text []byte) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+o.webhook+meta.WebhookPath, bytes.NewReader(text))
	if err != nil {
		return false
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := strangers.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err == nil
}
