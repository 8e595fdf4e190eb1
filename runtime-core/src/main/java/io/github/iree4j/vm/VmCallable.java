package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;

/** A function bound to the state of the exporting module in a context. */
@FunctionalInterface
@NotForApplications
public interface VmCallable {
    /**
     * Runs the function: reads the arguments, sets the results, or defers.
     *
     * @param call the arguments and results
     * @throws io.github.iree4j.status.IreeException when the function fails
     */
    void call(VmCall call);
}
