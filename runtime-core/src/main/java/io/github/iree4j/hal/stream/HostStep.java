package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The host's part of an operation. The stream stands still meanwhile, its hardware does not: it runs what other streams give it. */
interface HostStep {

    /**
     * Runs the step, on a virtual thread of its own. A throw ends it too.
     *
     * @param done told once when the step is over, from any thread, now or later; with why it failed, or null
     */
    void run(Consumer<@Nullable IreeException> done);
}
