/**
 * Portable executables: VM modules inside a module ({@code vmvx-bytecode-fb}), and the {@code vmvx} module imported by
 * executables.
 *
 * <p>Start at {@link io.github.iree4j.modules.vmvx.VmvxExecutableLoader}, found as a service by the local device. The
 * module is stateless and may be shared; an executable runs workgroups in a separate context per worker.
 */
@NullMarked
package io.github.iree4j.modules.vmvx;

import org.jspecify.annotations.NullMarked;
