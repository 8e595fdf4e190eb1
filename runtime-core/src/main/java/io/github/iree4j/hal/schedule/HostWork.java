package io.github.iree4j.hal.schedule;

import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/** What an operation does when the host executes it. Those of a device that works on host memory have it. */
public interface HostWork {

    /**
     * Does the work. Called once, when the operation's turn has come, on a thread that may be kept busy.
     *
     * @return why it failed, or null
     */
    @Nullable
    IreeException execute();
}
