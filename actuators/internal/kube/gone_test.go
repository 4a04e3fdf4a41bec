package kube

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// gonePast is a client whose server is away once ctx has ended: updates and reads fail with its error.
type gonePast struct {
	dynamic.Interface
	ctx context.Context
}

func (g gonePast) Resource(r schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return goneResource{g.Interface.Resource(r), g.ctx}
}

type goneResource struct {
	dynamic.NamespaceableResourceInterface
	ctx context.Context
}

func (g goneResource) Namespace(string) dynamic.ResourceInterface { return g }

func (g goneResource) Get(context.Context, string, metav1.GetOptions, ...string) (*unstructured.Unstructured, error) {
	return nil, g.ctx.Err()
}

func (g goneResource) Update(context.Context, *unstructured.Unstructured, metav1.UpdateOptions, ...string) (*unstructured.Unstructured, error) {
	return nil, g.ctx.Err()
}
