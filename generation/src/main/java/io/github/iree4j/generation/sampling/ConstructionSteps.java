package io.github.iree4j.generation.sampling;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/** Counts the steps of a construction, which so takes bounded time whatever the constraint. Not thread-safe. */
final class ConstructionSteps {
    private static final int MOST = 1 << 22;

    private final String what;
    private long count;

    /**
     * Creates a counter.
     *
     * @param what names the constraint in messages
     */
    ConstructionSteps(String what) {
        this.what = what;
    }

    /**
     * Counts steps.
     *
     * @throws IreeException INVALID_ARGUMENT for more steps than a constraint may need
     */
    void add(long more) {
        count += more;
        if (count > MOST) {
            throw tooLarge("construction steps", MOST);
        }
    }

    long count() {
        return count;
    }

    IreeException tooLarge(String unit, int most) {
        return IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "the %s needs more than %d %s; use fewer or smaller repetitions and alternatives"
                        .formatted(what, most, unit));
    }
}
