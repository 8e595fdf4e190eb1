package io.github.iree4j;

import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.StressOptions;

/** Options of Lincheck for machines with other work. */
public final class LincheckOptions {
    /** Milliseconds until an invocation counts as hanging. Lincheck's ten seconds pass on a busy machine. */
    private static final long PATIENCE = 60_000;

    private LincheckOptions() {}

    /**
     * Returns options of model checking. A failed scenario is small already: reducing takes longer than a build may.
     */
    public static ModelCheckingOptions modelChecking() {
        return new ModelCheckingOptions().minimizeFailedScenario(false).invocationTimeout$lincheck(PATIENCE);
    }

    /** Returns options of stress, as {@link #modelChecking}. */
    public static StressOptions stress() {
        return new StressOptions().minimizeFailedScenario(false).invocationTimeout$lincheck(PATIENCE);
    }
}
