package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;

/**
 * A function imported by a module from another module.
 *
 * @param fullName {@code module.function}; the module's name ends before the first dot
 * @param callingConvention the required convention, see {@link CallingConvention}; empty means any
 * @param required whether linking fails without the function; a call of an absent optional function fails with
 *     NOT_FOUND
 */
@NotForApplications
public record VmImport(String fullName, String callingConvention, boolean required) {
    /**
     * Returns the part before the first dot.
     *
     * @return the module's name; empty when there is no dot
     */
    public String module() {
        return fullName.substring(0, Math.max(0, fullName.indexOf('.')));
    }

    /**
     * Returns the part after the first dot.
     *
     * @return the function's name, which may contain dots
     */
    public String function() {
        return fullName.substring(fullName.indexOf('.') + 1);
    }
}
