package io.github.iree4j;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.UnresolvedImport;
import java.util.List;
import java.util.Set;

/** Adds a remedy to a link failure, also when an absent optional import is called. */
final class LinkFailures {
    /** Modules provided by a runtime, of this or another IREE release. */
    private static final Set<String> OF_THE_RUNTIME = Set.of("hal", "hal_inline", "hal_loader", "io_parameters");

    private LinkFailures() {}

    /** The failure itself, or a failure with a remedy. */
    static IreeException explain(IreeException failure) {
        UnresolvedImport unresolved = failure.detail(UnresolvedImport.class).orElse(null);
        if (unresolved == null) {
            return failure;
        }
        if (OF_THE_RUNTIME.contains(unresolved.module())) {
            return IreeException.of(
                    StatusCode.INCOMPATIBLE,
                    failure.getMessage()
                            + "; the module was compiled by an IREE release with another HAL than this runtime knows: compile it with"
                            + " iree-compile 3.11 or later",
                    failure);
        }
        if (!unresolved.moduleIsThere()) {
            String part = MissingPart.atEnd(List.of(unresolved.module()));
            return IreeException.of(
                    failure.code(),
                    failure.getMessage()
                            + (part.isEmpty() ? "; add the exporting module before the importing module" : part),
                    failure);
        }
        return failure;
    }

    /** The failure of a call, or a failure with a remedy if the call has reached an optional import from a missing part. */
    static IreeException explainCall(IreeException failure) {
        UnresolvedImport unresolved = failure.detail(UnresolvedImport.class).orElse(null);
        String part = unresolved == null ? "" : MissingPart.atEnd(List.of(unresolved.module()));
        return failure.getMessage().contains(part)
                ? failure
                : IreeException.of(failure.code(), failure.getMessage() + part, failure);
    }
}
