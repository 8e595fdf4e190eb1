package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;

/**
 * A function of a module written in Java.
 *
 * @param <S> the module's state per context
 */
@FunctionalInterface
@NotForApplications
public interface NativeFunction<S> {
    /**
     * Runs the function. An implementation:
     *
     * <ul>
     *   <li>MUST read arguments in order, and MUST set the results or defer before returning;
     *   <li>MUST retain kept references: arguments are borrowed for the call;
     *   <li>MUST NOT keep the call;
     *   <li>MAY throw {@link io.github.iree4j.status.IreeException} to fail; any other exception is reported as
     *       INTERNAL.
     * </ul>
     *
     * @param state the module's state in the calling context
     * @param call arguments and results
     */
    void call(S state, VmCall call);
}
