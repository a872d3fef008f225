// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// authorizeMetrics returns the filter of the metrics server. It serves only callers that the API server authenticates
// (TokenReview) and authorizes (SubjectAccessReview). It replaces the filter of controller-runtime, which responds to
// an unknown token with status 500, and allows any caller to write errors into the log.
func authorizeMetrics(config *rest.Config, client *http.Client) (metricsserver.Filter, error) {
	authenticate, err := newAuthenticator(config, client)
	if err != nil {
		return nil, fmt.Errorf("creating the authenticator for metrics: %w", err)
	}
	authorize, err := newAuthorizer(config, client)
	if err != nil {
		return nil, fmt.Errorf("creating the authorizer for metrics: %w", err)
	}
	return func(log logr.Logger, next http.Handler) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			caller, ok, err := authenticate.AuthenticateRequest(request)
			if err != nil || !ok {
				log.V(1).Info("rejected unauthenticated request for metrics", "cause", fmt.Sprint(err))
				http.Error(w, http.StatusText(http.StatusUnauthorized), http.StatusUnauthorized)
				return
			}
			decision, _, err := authorize.Authorize(request.Context(), authorizer.AttributesRecord{
				User: caller.User, Verb: strings.ToLower(request.Method), Path: request.URL.Path,
			})
			switch {
			case err != nil:
				log.Error(err, "authorizing a request for metrics", "caller", caller.User.GetName())
				http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
			case decision != authorizer.DecisionAllow:
				http.Error(w, http.StatusText(http.StatusForbidden), http.StatusForbidden)
			default:
				next.ServeHTTP(w, request)
			}
		}), nil
	}, nil
}

// requestBackoff returns the backoff for reviews that failed, with the defaults of Kubernetes' own servers.
func requestBackoff() *wait.Backoff {
	return &wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 5}
}

// newAuthenticator returns an authenticator that asks the API server (TokenReview), and caches answers for a minute.
func newAuthenticator(config *rest.Config, client *http.Client) (authenticator.Request, error) {
	reviews, err := authenticationclient.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	delegate, _, err := authenticatorfactory.DelegatingAuthenticatorConfig{
		Anonymous:                &apiserver.AnonymousAuthConfig{Enabled: false},
		CacheTTL:                 time.Minute,
		TokenAccessReviewClient:  reviews,
		TokenAccessReviewTimeout: 10 * time.Second,
		WebhookRetryBackoff:      requestBackoff(),
	}.New()
	return delegate, err
}

// newAuthorizer returns an authorizer that asks the API server (SubjectAccessReview), and caches answers: permissions
// for 5 minutes, and denials for 30 seconds.
func newAuthorizer(config *rest.Config, client *http.Client) (authorizer.Authorizer, error) {
	reviews, err := authorizationclient.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	return authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: reviews,
		AllowCacheTTL:             5 * time.Minute,
		DenyCacheTTL:              30 * time.Second,
		WebhookRetryBackoff:       requestBackoff(),
	}.New()
}
