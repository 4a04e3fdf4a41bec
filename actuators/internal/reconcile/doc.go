// Package reconcile has the steps that every product of the actuator takes: read, decide, store the intent, write, read back,
// report, back off. It knows no product.
package reconcile
