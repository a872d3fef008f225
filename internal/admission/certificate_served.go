// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// ServedCertificate is the certificate that this process serves: the last valid certificate of a Secret. The
// process reads the Secret from the API server, because the kubelet may update a mounted file up to a minute
// later. The zero value does not have a certificate.
type ServedCertificate struct {
	log     logr.Logger
	observe func(notBefore, notAfter time.Time)
	current atomic.Pointer[tls.Certificate]
}

// WatchSecret watches the only Secret of a cache and serves its certificate. It calls observe with the validity
// of each new certificate.
func (s *ServedCertificate) WatchSecret(ctx context.Context, informers cache.Cache, log logr.Logger, observe func(notBefore, notAfter time.Time)) error {
	s.log, s.observe = log, observe
	informer, err := informers.GetInformer(ctx, &corev1.Secret{}, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: s.storeCertificate, UpdateFunc: func(_, object any) { s.storeCertificate(object) },
		// If the Secret is deleted, the certificate stays valid.
	})
	return err
}

// storeCertificate serves the certificate of a Secret. It ignores a certificate that is missing or invalid.
func (s *ServedCertificate) storeCertificate(object any) {
	secret, ok := object.(*corev1.Secret)
	if !ok || len(secret.Data[corev1.TLSCertKey]) == 0 {
		return
	}
	pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		s.log.Error(err, "ignoring an invalid certificate of the admission webhook", "secret", secret.Namespace+"/"+secret.Name)
		return
	}
	s.current.Store(&pair)
	s.observe(pair.Leaf.NotBefore, pair.Leaf.NotAfter)
}

// Get returns the certificate for a TLS connection, or an error before the first certificate was stored. It
// implements the function tls.Config.GetCertificate.
func (s *ServedCertificate) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if pair := s.current.Load(); pair != nil {
		return pair, nil
	}
	return nil, errors.New("the admission webhook has no certificate yet")
}

// isServing reports whether the process serves the given certificate, which is in PEM format.
func (s *ServedCertificate) isServing(certificate []byte) bool {
	pair := s.current.Load()
	block, _ := pem.Decode(certificate)
	return pair != nil && block != nil && bytes.Equal(pair.Certificate[0], block.Bytes)
}
