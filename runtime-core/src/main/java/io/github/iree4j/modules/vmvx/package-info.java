/**
 * Portable executables: VM modules inside a module ({@code vmvx-bytecode-fb}), and the {@code vmvx} module that they import.
 *
 * <p>Start at {@link io.github.iree4j.modules.vmvx.VmvxExecutableLoader}, which the local device finds as a service. The module is
 * stateless and may be shared; an executable runs workgroups in one context per worker.
 */
@NullMarked
package io.github.iree4j.modules.vmvx;

import org.jspecify.annotations.NullMarked;
