// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Action is a write of a declared object.
type Action string

const (
	// Nothing means that nothing is written.
	Nothing Action = ""
	// Create creates an object with the declared spec.
	Create Action = "Create"
	// Update applies the declared spec to an object that exists.
	Update Action = "Update"
	// Delete deletes an object that is not declared any more.
	Delete Action = "Delete"
)

// State is the state of a declared object. Except Pending, each is also the reason of an event.
type State string

const (
	// Applied means that the object has the declared spec.
	Applied State = meta.ReasonApplied
	// Pending means that the operator has not written the object yet.
	Pending State = "Pending"
	// WaitingForNamespace means that the object cannot be created, because its namespace does not exist or is being
	// deleted.
	WaitingForNamespace State = meta.ReasonWaitingForNamespace
	// WaitingForRemoval means that the object is being deleted, and is created again afterwards.
	WaitingForRemoval State = meta.ReasonWaitingForRemoval
	// Conflict means that the object belongs to another client, and stays untouched.
	Conflict State = meta.ReasonConflict
	// Invalid means that the declared spec is rejected.
	Invalid State = meta.ReasonInvalid
	// NotDeleted means that the object is not declared, and stays because no object of its kind is declared.
	NotDeleted State = meta.ReasonNotDeleted
	// WritesStopped means that all writes except deletions are stopped.
	WritesStopped State = meta.ReasonWritesStopped
	// Uninstalling means that the installation is being removed, and declared objects are not written any more.
	Uninstalling State = meta.ReasonUninstalling
	// Retrying means that a request failed.
	Retrying State = meta.ReasonRetrying
)

// States returns all states of declared objects.
func States() []State {
	return []State{
		Applied, Pending, WaitingForNamespace, WaitingForRemoval, Conflict, Invalid, NotDeleted, WritesStopped, Uninstalling, Retrying,
	}
}

// EndsByItself reports whether a state ends without an action of a user.
func (s State) EndsByItself() bool {
	return slices.Contains([]State{Applied, Pending, WaitingForNamespace, WaitingForRemoval, Retrying}, s)
}

// Situation is everything that the decision about one object depends on.
type Situation struct {
	// Declared are the declared objects.
	Declared *Sidecars
	// Key is the namespace and the name of the object. The key of a ClusterVectorSidecar has no namespace.
	Key types.NamespacedName
	// Live is the existing object with its managedFields, nil if it does not exist.
	Live Object
	// Owner is the value of meta.LabelDeclaredBy on the objects of the installation.
	Owner string
	// Obstacle explains why the object cannot exist, such as a missing namespace, or a kind that is not enabled. It is ""
	// if the object can exist.
	Obstacle string
	// IsUninstalling stops all writes. IsStopped stops all writes except deletions.
	IsUninstalling, IsStopped bool
}

// Decision is what to do about an object. The State is "" if the object does not concern the installation.
type Decision struct {
	Action  Action
	State   State
	Message string
}

// Decide returns the action for the object, and its state.
func (s *Situation) Decide() Decision {
	isDeclared := s.Declared.Has(s.Key)
	isOwned := s.Live != nil && s.Owner != "" && s.Live.GetLabels()[meta.LabelDeclaredBy] == s.Owner
	switch {
	case !s.Declared.IsEnabled(), !isDeclared && !isOwned:
		return Decision{}
	case s.IsUninstalling:
		return Decision{State: Uninstalling, Message: "the annotation " + meta.AnnotationUninstalling + " of the ConfigMap of values stops all writes of declared objects"}
	case isDeclared:
		return s.decideDeclared(isOwned)
	}
	return s.decideUndeclared()
}

// decideDeclared decides about an object that is declared.
func (s *Situation) decideDeclared(isOwned bool) Decision {
	desired, err := decode(s.Key, s.Declared.Spec(s.Key))
	action, message := Update, "the spec differs from the values"
	switch {
	case err != nil:
		return Decision{State: Invalid, Message: err.Error()}
	case s.Live == nil && s.Obstacle != "" && s.Key.Namespace == "":
		return Decision{State: Invalid, Message: s.Obstacle}
	case s.Live == nil && s.Obstacle != "":
		return Decision{State: WaitingForNamespace, Message: s.Obstacle}
	case s.Live == nil:
		action, message = Create, "the object does not exist"
	case !isOwned:
		return Decision{State: Conflict, Message: fmt.Sprintf("the existing object does not have the label %s with the value %s; delete the object, or remove the item from the values", meta.LabelDeclaredBy, s.Owner)}
	case s.Live.GetDeletionTimestamp() != nil:
		return Decision{State: WaitingForRemoval, Message: "the existing object is being deleted, and is created again afterwards"}
	case s.foreignManagers() != "":
		return Decision{State: Conflict, Message: fmt.Sprintf("fields of the spec are also owned by %s; delete the object in its source, or remove the item from the values", s.foreignManagers())}
	case haveSameSpec(desired, s.Live):
		return Decision{State: Applied, Message: "matches the values"}
	}
	if s.IsStopped {
		return Decision{State: WritesStopped, Message: message + ", and writes are stopped"}
	}
	return Decision{Action: action, State: Pending, Message: message}
}

// decideUndeclared decides about an object of the installation that is not declared any more.
func (s *Situation) decideUndeclared() Decision {
	switch {
	case s.Live.GetDeletionTimestamp() != nil:
		return Decision{}
	case s.foreignManagers() != "":
		return Decision{State: Conflict, Message: fmt.Sprintf("the values no longer declare the object, and it stays because fields of its spec are also owned by %s; delete the object, or remove its label %s", s.foreignManagers(), meta.LabelDeclaredBy)}
	case s.Declared.isEmptied(s.Key):
		items := "items"
		if s.Key.Namespace == "" {
			items = "clusterItems"
		}
		return Decision{State: NotDeleted, Message: fmt.Sprintf("the value %s.%s is empty; to delete the last objects, set %s.allowEmpty: true", Key, items, Key)}
	}
	return Decision{Action: Delete, State: Pending, Message: "the values no longer declare the object"}
}

// foreignManagers returns a text with the names of the other field managers that own fields of the spec, or "" for
// none.
func (s *Situation) foreignManagers() string {
	managers := meta.SpecManagers(s.Live, meta.DeclaredManager)
	for i := range managers {
		managers[i] = "field manager " + managers[i]
	}
	return strings.Join(managers, ", ")
}

// ScopeObstacle explains why an installation cannot have an object, "" if it can. namespaces are the watched namespaces,
// empty for all. hasClusters is true if ClusterVectorSidecars are enabled.
func ScopeObstacle(key types.NamespacedName, namespaces []string, hasClusters bool) string {
	switch {
	case key.Namespace == "" && !hasClusters:
		return "ClusterVectorSidecars are not enabled in this installation (clusterVectorSidecars.enabled)"
	case key.Namespace != "" && len(namespaces) > 0 && !slices.Contains(namespaces, key.Namespace):
		return fmt.Sprintf("the operator does not watch namespace %s (watchNamespaces)", key.Namespace)
	}
	return ""
}

// MissingNamespace returns the obstacle of a namespace that does not exist. See Situation.Obstacle.
func MissingNamespace(name string) string { return fmt.Sprintf("namespace %s does not exist", name) }

// TerminatingNamespace returns the obstacle of a namespace that is being deleted. See Situation.Obstacle.
func TerminatingNamespace(name string) string {
	return fmt.Sprintf("namespace %s is being deleted", name)
}
