/**
 * The virtual machine that runs a program's host code: modules, linking, contexts, invocations, and the objects used by
 * programs.
 *
 * <p>Start at {@link io.github.iree4j.vm.Context}, linking modules, and at {@link io.github.iree4j.vm.Invocation},
 * calling a function. A module is bytecode ({@code vm.bytecode}) or written in Java ({@link
 * io.github.iree4j.vm.NativeModule}); both kinds are {@link io.github.iree4j.vm.VmModule}s. Modules are immutable and
 * may be shared by contexts and threads; contexts, invocations, buffers and lists belong to one thread at a time.
 * References to {@link io.github.iree4j.lifetime.RefCounted} objects are counted: every register, list element and
 * global holding such an object owns a reference.
 */
@NullMarked
package io.github.iree4j.vm;

import org.jspecify.annotations.NullMarked;
